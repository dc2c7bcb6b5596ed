"""Do the evals and benches run, and print what they promise?"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from evals import (
    beam,
    current,
    duplicates,
    korean,
    locomo,
    precision,
    store,
    supersedes,
)
from evals.__main__ import main
from evals.figures import Outcome
from evals.records import without_status

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
RECALL = {"n", "mrr", "interval"}


@pytest.fixture(autouse=True)
def _models(models, monkeypatch):
    for each in (store, duplicates):
        monkeypatch.setattr(each, "models", lambda: models)


def put(path, *objects, lines=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(json.dumps(each) for each in objects) if lines else json.dumps(objects[0])
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def put_table(path, *rows, delimiter="\t"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress("\n".join(delimiter.join(row) for row in rows).encode()))


def put_conversation(data):
    said = ["I planted tomatoes on the balcony", "My brother repairs violins", "We flew to Lisbon in spring"]
    turns = [{"speaker": "Ana", "dia_id": f"D1:{i}", "text": text} for i, text in enumerate(said, 1)]
    questions = [
        {"question": "What does the brother of Ana repair?", "evidence": ["D1:2"], "category": 4},
        {"question": "Where did they fly?", "evidence": ["D1:3; D9:9"], "category": 1},
        {"question": "Which car did Ana buy?", "evidence": ["D1:1"], "category": 5},
        {"question": "Why?", "evidence": [], "category": 1},
    ]
    conversation = {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": turns}
    sample = {"sample_id": "x", "conversation": conversation, "qa": questions}
    put(data / "locomo10" / "locomo_dev.json.gz", [sample])


def put_chat(data):
    contents = ["My flat costs 900 a month", "Noted: 900", "The rent of my flat is 950 now", "Noted: 950"]
    messages = [
        {
            "id": number,
            "role": ("user", "assistant")[number % 2],
            "time_anchor": "March-03-2024" if number == 0 else "June-10-2024" if number == 2 else None,
            "content": content,
        }
        for number, content in enumerate(contents)
    ]
    asked = {
        "qid": "1",
        "chat": "c",
        "type": "knowledge_update",
        "question": "What does my flat cost a month?",
        "evidence": [0, 2],
        "evidence_roles": {"original_info": [0], "updated_info": [2]},
    }
    put(data / "beam100k" / "chats_dev.jsonl.gz", {"chat": "c", "messages": messages}, lines=True)
    put(
        data / "beam100k" / "questions_dev.jsonl",
        asked,
        {**asked, "type": "abstention", "evidence": []},
        lines=True,
    )


def put_records(data):
    def record(name, title, day, text):
        return {
            "doc": f"r:{name}",
            "repo": "r",
            "title": title,
            "date_iso": day,
            "text": f"# {title}\n\n{text}",
        }

    records = [
        record(
            "1",
            "Cache in files",
            "2020-01-01",
            "## Status\n\nSuperseded by 2\n\n## Decision\n\nCache in files.",
        ),
        record("2", "Cache in Redis", "2021-01-01", "## Decision\n\nPages are cached in Redis."),
        record("3", "Log as JSON", "2021-02-01", "Logs are JSON lines."),
    ]
    pair = {
        "repo": "r",
        "old": "1",
        "new": "2",
        "current": ["r:2"],
        "formal": False,
        "query_old_title": "Cache in files",
        "query_new_title": "Cache in Redis",
        "old_date": "2020-01-01",
        "new_date": "2021-01-01",
        "dates_ordered": True,
    }
    put(data / "adr_supersede" / "docs.jsonl.gz", *records, lines=True)
    put(data / "adr_supersede" / "pairs_dev.jsonl", pair, lines=True)


def test_locomo_counts_the_evidence_of_answerable_questions(tmp_path):
    put_conversation(tmp_path)
    found = locomo.run(tmp_path, "dev")
    assert found.keys() >= RECALL | {"recall@1", "recall@5", "recall@10", "by_category"}
    assert found["n"] == 2
    assert found["recall@5"] == 1.0
    assert set(found["by_category"]) == {"1", "4", "5"}


def test_beam_counts_by_type(tmp_path):
    put_chat(tmp_path)
    found = beam.run(tmp_path, "dev")
    assert found.keys() >= RECALL | {"recall@5", "recall@10", "recall@20", "any@10", "by_type"}
    assert (found["n"], found["recall@5"]) == (1, 1.0)


def test_current_puts_what_holds_now_first_and_what_held_then_then(tmp_path):
    put_chat(tmp_path)
    put_records(tmp_path)
    found = current.run(tmp_path, "dev")
    assert found.keys() >= {"adr", "formal", "updates", "update_first"}
    assert (found["current@1"], found["current@5"]) == (1.0, 1.0)
    assert (found["stale_above_current"], found["stale_in_top_5"]) == (0.0, 0.0)
    assert (found["chain_exact"], found["as_of"], found["history@5"]) == (1.0, 1.0, 1.0)


def test_supersedes_finds_the_old_record_without_its_status(tmp_path):
    put_records(tmp_path)
    found = supersedes.run(tmp_path, "dev")
    assert found.keys() >= {"n", "old@1", "old@5", "old@10", "adr", "formal"}
    assert found["old@1"] == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "# T\n## Status\nAccepted\n### Since\n2020\n## Decision\nUse it",
        "T\n======\nStatus\n------\nAccepted\n\nDecision\n--------\nUse it",
    ],
)
def test_a_status_section_is_cut_out_whole_and_nothing_else(text):
    left = without_status(f"{text}\nThis replaces 7")
    assert "Use it" in left
    assert "Decision" in left
    assert not {"Accepted", "2020", "replaces"} & set(left.split())


def test_precision_passes_what_comes_exactly(tmp_path):
    def belief(name, user="test-user", **fields):
        return {
            "_id": name,
            "user_id": user,
            "type": "entity",
            "canonical_name": name,
            "aliases": [],
            "scope": ["domain:code"],
            "confidence": 0.9,
            "pinned": False,
            "resolved_at": None,
            "superseded_by": None,
            "created_at": "2026-01-01T00:00:00Z",
            **fields,
        }

    def case(query, *wanted):
        return {
            "scope": ["domain:code"],
            "query": query,
            "expect": {"relevantBeliefs": {"shouldOnlyInclude": wanted}},
        }

    beliefs = [
        belief("kubernetes"),
        belief("mongodb", user="other"),
        belief("tslint", superseded_by="kubernetes"),
        belief("pinned", pinned=True),
    ]
    put(tmp_path / "precisionmembench" / "beliefs.seed.json", beliefs)
    put(tmp_path / "precisionmembench" / "retrieval_dev.json", [case("kubernetes?", "kubernetes"), case("")])
    found = precision.run(tmp_path, "dev")
    assert found.keys() >= {"n", "precision", "recall"}
    rates = [found[f"{name}_pass_rate"] for name in ("active", "structural", "empty")]
    assert rates == [1.0, 1.0, 1.0]


def test_duplicates_chooses_on_train_and_reports_on_the_rest(tmp_path):
    same, other = (
        ("A dog runs over the grass", "A dog is running across the grass"),
        ("It rains", "Taxes rose"),
    )
    for name in ("msr-para-train.tsv.gz", "msr-para-val.tsv.gz"):
        rows = [["1", "1", "2", *same], ["0", "3", "4", *other]]
        put_table(
            tmp_path / "near_dup_en" / name, ["Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"], *rows
        )
    for name in ("SICK_train.txt.gz", "SICK_trial.txt.gz"):
        put_table(
            tmp_path / "near_dup_en" / name,
            ["sentence_A", "sentence_B", "entailment_judgment"],
            [*same, "ENTAILMENT"],
            [*other, "CONTRADICTION"],
        )
    for name in ("sts-train.tsv.gz", "sts-dev.tsv.gz"):
        rows = [["5.0", "개가 달린다", "개가 달리고 있다"], ["0.2", "비가 온다", "세금이 올랐다"]]
        put_table(tmp_path / "korsts" / name, ["score", "sentence1", "sentence2"], *rows)
    put_table(
        tmp_path / "korsts" / "xnli.dev.ko.tsv.gz",
        ["sentence1", "sentence2", "gold_label"],
        ["그는 서울에 산다", "그는 부산에 산다", "contradiction"],
    )
    rows = [["배가 고프다", "배고프다", "0"], ["배가 고프다", "시험이 끝났다", "1"]]
    put_table(
        tmp_path / "near_dup_ko" / "kor_pair_train.csv.gz",
        ["question1", "question2", "is_duplicate"],
        *[row for row in rows for _ in range(2)],
        delimiter=",",
    )
    found = duplicates.run(tmp_path, "dev")
    assert found.keys() >= {"n", "merged_contradictions"}
    assert (found["auc"], found["f1"]) == (1.0, 1.0)
    assert set(found["by_set"]) == {"msr", "sick", "korsts", "kor_pair", "xnli_ko"}


def test_korean_finds_the_paragraph(tmp_path):
    def article(title, text, question):
        return {"title": title, "paragraphs": [{"context": text, "qas": [{"question": question}]}]}

    articles = [
        article("가", "한라산은 제주도 한가운데에 솟아 있는 산이다", "제주도 한가운데에 있는 산은?"),
        article("나", "훈민정음은 세종이 만든 글자이다", "세종이 만든 글자는?"),
    ]
    put(tmp_path / "korquad_dev" / "KorQuAD_v1.0_dev.json.gz", {"data": articles})
    put(tmp_path / "korquad_dev" / "split.json", {"dev": ["가"], "held_out": ["나"]})
    found = korean.run(tmp_path, "dev")
    assert found.keys() >= RECALL | {"recall@5", "recall@10"}
    assert (found["n"], found["recall@1"]) == (1, 1.0)


def test_recall_is_the_share_of_the_gold_and_the_reciprocal_rank_that_of_the_first():
    outcome = Outcome(frozenset("ab"), ("x", "a", "y", "b"))
    assert [outcome.recall(cut) for cut in (1, 2, 4)] == [0, 0.5, 1]
    assert outcome.reciprocal_rank == 0.5
    assert not outcome.is_met(1)


def test_the_command_prints_one_object_or_a_table(tmp_path, capsys):
    put_conversation(tmp_path)
    assert main(["locomo", "--data", str(tmp_path), "--split", "dev", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["name"], told["split"], told["n"]) == ("locomo", "dev", 2)
    assert main(["locomo", "--data", str(tmp_path)]) == 0
    assert "recall@10" in capsys.readouterr().out
    assert main(["locomo", "--data", str(tmp_path), "--split", "other"]) == 1
    assert "check --data and --split" in capsys.readouterr().err


def test_without_the_model_one_line_says_how_to_get_it(tmp_path, clean_environment):
    asked = [sys.executable, "-m", "evals", "locomo", "--data", str(tmp_path)]
    told = subprocess.run(asked, cwd=ROOT, env=clean_environment, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    assert "whence model install" in told.stderr
    assert told.stderr.count("\n") == 1


@pytest.fixture
def clean_environment(tmp_path):
    return {"WHENCE_HOME": str(tmp_path), "PATH": ""}


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason="the public sets lie beside the repository, not in it")
def test_a_real_conversation_is_searched_as_well_as_promised():
    assert locomo.run(SHARED, "dev", limit=1)["recall@10"] > 0.7


@pytest.mark.slow
@pytest.mark.parametrize(("name", "size"), [("search", "200"), ("save", "200"), ("write", "30")])
def test_a_bench_prints_its_figures(name, size, model_home):
    asked = [sys.executable, "-m", "bench", name, "--json", "--n", size]
    environment = {"WHENCE_HOME": str(model_home), "PATH": ""}
    told = subprocess.run(asked, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    figures = json.loads(told.stdout)
    if name == "write":
        assert (figures["lost"], figures["errors"]) == (0, 0)
    else:
        assert figures.keys() >= {"p50_ms", "p95_ms", "floor_ms", "ratio", "by_n"}
        assert size in figures["by_n"]
    if name == "search":
        assert figures.keys() >= {"open_to_first_answer_ms", "rss_mb", "disk_bytes_per_memory"}
