"""Do the measures of links and of metadata print what they promise?"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from bench import metadata
from evals import links, store
from tests.test_evals import ROOT, SHARED, put, put_chat, put_conversation, put_records


@pytest.fixture(autouse=True)
def _models(models, monkeypatch):
    monkeypatch.setattr(links, "models", lambda: models)
    monkeypatch.setattr(store, "models", lambda: models)


@pytest.mark.promise("000-080")
def test_the_eval_of_links_tells_signal_and_number_overall_and_by_set(tmp_path):
    put_conversation(tmp_path)
    put_chat(tmp_path)
    put_records(tmp_path)
    pair = {"repo": "r", "old": "1", "new": "2", "chain": "c"}
    put(tmp_path / "adr_supersede" / "pairs_dev.jsonl", pair, lines=True)
    found = links.run(tmp_path, "dev")
    assert found.keys() >= {"n", "links", "signal_ratio", "average", "largest", "by_set", "by_word"}
    assert found["n"] == 3 + 4 + 3
    assert set(found["by_set"]) == {"locomo", "beam", "adr"}
    conversation = found["by_set"]["locomo"]
    assert (conversation["links"], conversation["signal_ratio"], conversation["largest"]) == (3, 1.0, 2)
    assert conversation["average"] == 2.0
    # Three records, each in a session of its own: nothing joins them, so there is no share of signal.
    assert found["by_set"]["adr"] == {
        "n": 3,
        "links": 0,
        "signal_ratio": None,
        "average": 0.0,
        "largest": 0,
    }


def test_a_link_between_what_neither_belongs_together_nor_was_written_together_is_no_signal(tmp_path):
    put_conversation(tmp_path)
    (told,) = links._conversations(tmp_path, "dev")
    done = links._linked(told)
    first, *_, last = done.said
    (link,) = [each for each in done.links if {each.from_id, each.to_id} == {first, last}]
    assert done.is_signal(link)
    far = {**done.said, first: replace(told[0], at=told[0].at - 2 * links.HOUR)}
    assert not links.Linked(far, done.links).is_signal(link)
    other = {**done.said, first: replace(told[0], session="D0")}
    assert not links.Linked(other, done.links).is_signal(link)
    belonging = frozenset({"question 7"})
    both = {key: replace(each, session=key, belongs_to=belonging) for key, each in done.said.items()}
    assert links.Linked(both, done.links).is_signal(link)


@pytest.mark.slow
@pytest.mark.promise("000-080")
@pytest.mark.skipif(not SHARED.is_dir(), reason="the public sets lie beside the repository, not in it")
def test_on_a_real_conversation_links_are_right_and_few():
    figures = links._figures([links._linked(links._conversations(SHARED, "dev")[0])])
    assert figures["signal_ratio"] >= 0.6
    assert 0 < figures["average"] <= 8
    assert figures["largest"] <= 10


@pytest.mark.promise("000-101")
def test_the_bench_of_metadata_sets_filters_on_json_beside_the_same_on_columns():
    found = metadata.run([300])
    for field in ("decision_type", "outcome"):
        figures = found["by_n"]["300"][field]
        assert figures["runs"] == 300
        assert figures["ratio_of_medians"] < 10  # the indexes are used: without them it is a hundred
    assert found["ratio"] == found["decision_type"]["ratio"]


@pytest.mark.slow
def test_the_bench_of_the_graph_prints_its_figures(model_home):
    asked = [sys.executable, "-m", "bench", "graph", "--json", "--n", "200"]
    environment = {"WHENCE_HOME": str(model_home), "PATH": ""}
    told = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    figures = json.loads(told.stdout)
    assert figures.keys() >= {"p50_ms", "p95_ms", "floor_ms", "out", "in", "both", "cache", "save", "by_n"}
    assert figures["cache"]["hit_rate"] > 0.6
    assert figures["save"]["links_made"] > 0
