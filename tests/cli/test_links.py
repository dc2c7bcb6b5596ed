"""Can a user see, make and take away links, and let the work on them be done?"""

from __future__ import annotations

import json
import os

import pytest

from whence.bootstrap import open_memory
from whence.config import load_settings
from whence.core.links import SIMILAR
from whence.core.memories import Tie
from whence.core.ports import Walk


@pytest.fixture
def pair(shell):
    return shell.store("The cache is Redis."), shell.store("Pages are cached for an hour.")


@pytest.fixture
def by_agent(shell, pair):
    """A link that an agent stated through a tool: between the second memory and the first."""
    whence = open_memory(load_settings(os.environ))
    made = whence.link(pair[1], Tie(to_id=pair[0], relationship="refines"))
    whence.close()
    return made


def links(shell, memory):
    done = shell("link", "ls", memory, "--json")
    assert done.code == 0, done.err
    return done.json["links"]


@pytest.mark.promise("000-108")
def test_a_user_makes_a_link_sees_who_made_it_and_takes_it_away(shell, pair):
    old, new = pair
    made = shell(
        "link", "add", new, old, "Depends on", "--reason", "same cache", "--confidence", "0.7", "--json"
    ).json
    assert made["relationship"] == "Depends on"
    assert (made["type"], made["confidence"], made["created_by"]) == ("association", 0.7, "user")
    assert (made["from"], made["to"], made["reason"]) == (new, old, "same cache")
    (outward,), (inward,) = links(shell, new), links(shell, old)
    assert (outward["direction"], inward["direction"]) == ("out", "in")
    assert outward["id"] == inward["id"] == made["id"]
    gone = shell("link", "rm", made["id"])
    assert (gone.code, made["id"] in gone.out) == (0, True)
    assert links(shell, new) == links(shell, old) == []
    assert "not found" in shell.refused("link", "rm", made["id"])


@pytest.mark.promise("000-108")
def test_every_link_is_listed_with_its_creator_the_surest_first(shell, pair, by_agent):
    _, new = pair
    third = shell.store("Pages are cached for a day.")
    shell("link", "add", third, new, "mentions", "--confidence", "0.9")
    fourth = shell.store("Sessions are kept for a week.")
    assert shell("sweep").code == 0  # the third creator: the system
    told = links(shell, new)
    assert [each["created_by"] for each in told] == ["user", "llm", "system"]
    assert [each["direction"] for each in told] == ["in", "out", "in"]
    assert told[2]["from"] == fourth
    plain = shell("link", "ls", new).out
    for each in told:
        assert f"by {each['created_by']}" in plain
        assert each["id"] in plain
    assert "just made" in plain
    assert "No link touches" in shell("link", "ls", shell.store("Alone.")).out


def test_a_link_whose_word_supersedes_supersedes(shell, pair):
    old, new = pair
    assert shell("link", "add", new, old, "supersedes").code == 0
    assert "superseded" in shell.show(old)["labels"]
    (link,) = links(shell, new)
    assert (link["created_by"], link["confidence"]) == ("user", 1.0)
    assert "history" in shell.refused("link", "rm", link["id"])


def test_what_cannot_be_linked_is_refused_in_one_sentence(shell, pair):
    old, new = pair
    assert "not found" in shell.refused("link", "add", new, "fact_unknown", "mentions")
    assert "not found" in shell.refused("link", "ls", "fact_unknown")
    assert "itself" in shell.refused("link", "add", new, new, "mentions")
    assert "from 0 to 1" in shell.refused("link", "add", new, old, "mentions", "--confidence", "7")
    assert shell("link").code == shell("link", "add", new).code == 2


def test_the_store_may_be_named_on_either_side_of_the_action(shell, tmp_path):
    url = f"sqlite:///{tmp_path / 'other.db'}"
    done = shell("call", "store_memory", json.dumps({"content": "Elsewhere."}), "--store", url)
    memory = done.json["created"]["id"]
    assert shell("link", "--store", url, "ls", memory).code == 0
    assert shell("link", "ls", memory, "--store", url).code == 0
    assert "not found" in shell.refused("link", "ls", memory)


def test_a_sweep_links_what_earlier_commands_left_and_prunes_once_a_week(shell, pair):
    old, new = pair
    assert links(shell, new) == []
    first = shell("sweep", "--json").json
    assert first["waiting_for_links"] == 0
    assert first["pruned"] == {"removed": 0, "kept": 1}
    (link,) = links(shell, new)
    assert (link["to"], link["relationship"], link["type"]) == (old, "temporal_proximity", "temporal")
    assert (link["created_by"], link["direction"]) == ("system", "out")
    assert 0.3 <= link["confidence"] <= 0.5
    assert any("model" in each for each in first["notices"])  # none is installed here
    again = shell("sweep")
    assert "--now" in again.out
    assert shell("sweep", "--json").json["pruned"] is None
    assert shell("sweep", "--now", "--json").json["pruned"] == {"removed": 0, "kept": 1}


def test_with_the_model_a_sweep_reads_first_and_links_by_meaning_then(shell, model_home, monkeypatch):
    texts = (
        "The billing service stores invoices in PostgreSQL.",
        "Billing invoices are stored in PostgreSQL.",
    )
    old, new = (shell.store(text) for text in texts)
    assert shell("doctor", "--json").json["waiting for a model"] == "2"
    url = f"sqlite:///{shell.folder.parent / 'whence' / 'whence.db'}"
    monkeypatch.setenv("WHENCE_HOME", str(model_home))
    monkeypatch.setenv("WHENCE_STORE", url)
    assert shell("sweep", "--json").json["notices"] == []
    (link,) = links(shell, new)
    assert (link["to"], link["relationship"]) == (old, SIMILAR)
    assert shell("doctor", "--json").json["waiting for a model"] == "0"


def test_the_switch_is_honoured_by_a_sweep(shell, pair, monkeypatch):
    monkeypatch.setenv("WHENCE_AUTO_LINKS", "0")
    assert shell("sweep", "--json").json["waiting_for_links"] == 2
    assert links(shell, pair[1]) == []


def test_the_doctor_shows_who_made_the_links_and_what_waits(shell, pair, by_agent):
    before = shell("doctor", "--json").json
    assert before["links by creator"] == "0 user, 1 llm, 0 system"
    assert before["waiting for links"] == "2"
    shell("link", "add", shell.store("Pages are cached for a day."), pair[0], "mentions")
    shell("sweep")
    after = shell("doctor", "--json").json
    assert after["links by creator"] == "1 user, 1 llm, 1 system"
    assert after["waiting for links"] == "0"
    assert "links by creator" in shell("doctor").out


def test_the_doctor_tells_the_share_of_remembered_walks(shell, pair):
    assert shell("doctor", "--json").json["walks remembered"] == "none of 0"
    whence = open_memory(load_settings(os.environ))
    for _ in range(4):
        whence.walks.of(Walk(start=pair[0]))
    whence.close()  # what was counted is written with the access times
    assert shell("doctor", "--json").json["walks remembered"] == "75 % of 4"
