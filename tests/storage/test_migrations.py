"""How a file gets its tables: once, in order, by one program, and never by an older one."""

import subprocess
import sys

import apsw
import pytest

from whence.core.errors import StorageFailed
from whence.storage.migrations import migrations

OPEN_IT = """
import sys
from whence.bootstrap import SystemClock
from whence.storage import open_store
sys.stdin.readline()
store = open_store(f"sqlite:///{sys.argv[1]}", tenant="local", clock=SystemClock())
print(store.health()["integrity"], len(store.workspaces()))
store.close()
"""


def applied(path):
    with apsw.Connection(str(path)) as connection:
        return list(connection.execute("SELECT number, name, checksum, applied_at FROM migrations"))


@pytest.mark.promise("000-038")
def test_a_fresh_file_runs_every_numbered_migration_once_and_a_reopened_one_none(open_file, path):
    open_file().close()
    first = applied(path)
    known = migrations("sqlite")
    assert [row[:3] for row in first] == [(each.number, each.name, each.checksum) for each in known]
    assert [each.number for each in known] == list(range(1, len(known) + 1))
    open_file().close()
    assert applied(path) == first
    with apsw.Connection(str(path)) as connection:
        made = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    assert {"memories", "memory_links", "links_from", "links_to", "vectors", "words"} <= made


def test_a_fresh_file_is_private_to_its_owner(open_file, path):
    open_file(where=path.parent / "deep" / "er" / "whence.db")
    assert (path.parent / "deep" / "er" / "whence.db").stat().st_mode & 0o077 == 0


@pytest.mark.promise("000-038")
def test_programs_that_open_an_empty_file_at_once_make_one_migration(path):
    for number in range(3):
        where = path.with_name(f"{number}.db")
        opening = [
            subprocess.Popen(
                [sys.executable, "-c", OPEN_IT, str(where)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(4)
        ]
        for each in opening:
            each.stdin.write("\n")
            each.stdin.flush()
        told = [each.communicate(timeout=30) for each in opening]
        assert told == [("ok 0\n", "")] * 4
        assert [row[0] for row in applied(where)] == [each.number for each in migrations("sqlite")]


def test_a_file_of_a_newer_version_is_refused_and_left_as_it_is(open_file, path):
    open_file().close()
    with apsw.Connection(str(path)) as connection:
        connection.execute("INSERT INTO migrations VALUES (9001, '9001_later', 'x', 1)")
    before = applied(path)
    with pytest.raises(StorageFailed, match=r"written by a newer version \(migration 9001\)") as refused:
        open_file()
    assert refused.value.hint == "Update whence, then try again."
    assert applied(path) == before


def test_a_file_of_another_build_is_refused_with_a_way_out(open_file, path):
    open_file().close()
    with apsw.Connection(str(path)) as connection:
        connection.execute("UPDATE migrations SET checksum = 'another' WHERE number = 1")
    with pytest.raises(StorageFailed, match=r"another build \(migration 1\)") as refused:
        open_file()
    assert "export" in refused.value.hint
    assert applied(path)[0][2] == "another"


def test_a_database_of_another_program_keeps_its_tables(open_file, path):
    with apsw.Connection(str(path)) as connection:
        connection.execute("CREATE TABLE memories (mine TEXT); INSERT INTO memories VALUES ('precious')")
    with pytest.raises(StorageFailed):
        open_file()
    with apsw.Connection(str(path)) as connection:
        assert list(connection.execute("SELECT mine FROM memories")) == [("precious",)]
        assert [row[0] for row in connection.execute("SELECT name FROM sqlite_schema")] == ["memories"]
