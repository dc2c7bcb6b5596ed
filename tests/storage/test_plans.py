"""Does every query find its rows by an index?"""

import re

import apsw
import pytest

from whence.storage import open_store
from whence.storage.queries import named_queries

LARGE = ("memories", "memory_links", "events", "vectors")
# A count of everything looks at everything; the rest must not.
READS_ALL = {
    "census": "counts what every filter keeps out",
    "counts": "counts everything",
    "links_by_system": "the weekly prune looks at every link",
}


def scanned(connection, query):
    """Return the large tables that a query would read from end to end."""
    nothing = dict.fromkeys(re.findall(r"(?<!:):(\w+)", query))
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", nothing)]
    aliases = {
        "m": "memories",
        "n": "memories",
        "s": "memories",
        "l": "memory_links",
        "v": "vectors",
        "e": "events",
    }
    found = set()
    for line in plan:
        words = line.split()
        if words[0] == "SCAN" and "INDEX" not in words and aliases.get(words[1], words[1]) in LARGE:
            found.add(line)
    return found


@pytest.fixture
def connection(tmp_path, clock):
    path = tmp_path / "plans.db"
    open_store(f"sqlite:///{path}", tenant="local", clock=clock).close()
    opened = apsw.Connection(str(path))
    yield opened
    opened.close()


@pytest.mark.parametrize("name", sorted(set(named_queries("sqlite")) - set(READS_ALL)))
def test_a_query_reads_no_large_table_from_end_to_end(connection, name):
    assert scanned(connection, named_queries("sqlite")[name]) == set()


def test_the_check_sees_a_query_that_reads_a_whole_table(connection):
    assert scanned(connection, "SELECT m.id FROM memories AS m WHERE m.content = 'x'")


@pytest.mark.parametrize("name", ["of_topic", "by_topic"])
def test_a_topic_is_found_by_its_own_index(connection, name):
    query = named_queries("sqlite")[name]
    nothing = dict.fromkeys(re.findall(r"(?<!:):(\w+)", query))
    plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {query}", nothing)]
    assert any("memories_by_topic" in line for line in plan), plan
