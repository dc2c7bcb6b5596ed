"""What a vector of each model promises."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from whence.models.manifests import ENGLISH, MULTILINGUAL

LOGINS = "We moved the session cache to Redis because restarts lost every login."
REPORT = "\n\n".join(
    f"Part {number}. The build took {number} minutes. Nobody knew why; the cache was cold.\nWe kept it."
    for number in range(120)
)


@pytest.fixture(params=["latin", "multilingual"])
def embedder(request, models):
    return getattr(models, request.param)


def test_a_vector_is_unit_length_and_as_long_as_the_manifest_says(embedder):
    for vector in (embedder.embed_passage(LOGINS), embedder.embed_query(LOGINS)):
        assert vector.shape == (embedder.manifest.dimensions,)
        assert vector.dtype == np.float32
        assert abs(float(np.linalg.norm(vector)) - 1) < 1e-5


def test_the_manifests_name_models_that_differ(english, multilingual):
    assert english.manifest == ENGLISH
    assert multilingual.manifest == MULTILINGUAL
    assert (ENGLISH.dimensions, MULTILINGUAL.dimensions) == (384, 512)


def test_an_english_question_is_read_with_the_prefix_and_a_memory_without(english):
    assert not np.array_equal(english.embed_query(LOGINS), english.embed_passage(LOGINS))
    prefixed = english.embed_passage(ENGLISH.query_prefix + LOGINS)
    assert np.array_equal(english.embed_query(LOGINS), prefixed)


def test_a_text_has_the_same_vector_alone_and_after_others(embedder):
    alone = embedder.embed_passage(LOGINS)
    embedder.embed_passage(REPORT)
    embedder.embed_query("?")
    assert np.array_equal(embedder.embed_passage(LOGINS), alone)


def test_a_text_has_the_same_vector_in_many_threads(embedder):
    alone = embedder.embed_passage(LOGINS)
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(embedder.embed_passage, [LOGINS, REPORT[:500]] * 12))
    assert all(np.array_equal(vector, alone) for vector in vectors[::2])


def test_a_paraphrase_is_nearer_than_an_unrelated_memory(embedder):
    memory = embedder.embed_passage(LOGINS)
    same = embedder.embed_passage("Logins vanished at each restart, so sessions are now cached in Redis.")
    other = embedder.embed_passage("The marketing site uses a serif font for its headings.")
    assert float(memory @ same) > embedder.manifest.related > float(memory @ other)


def test_an_outdated_fact_is_related_to_the_one_that_replaces_it(embedder):
    old = embedder.embed_passage("User lives in Seattle")
    new = embedder.embed_passage("User moved to Austin")
    assert float(old @ new) >= embedder.manifest.related


def test_a_korean_question_finds_its_english_fact(multilingual):
    facts = [
        "The user lives in Seoul.",
        "We deploy on Fridays.",
        "The main database is PostgreSQL.",
        "The cat is called Momo.",
    ]
    vectors = np.stack([multilingual.embed_passage(fact) for fact in facts])
    questions = [
        "사용자는 어디에 사나요?",
        "언제 배포하나요?",
        "메인 데이터베이스는 무엇인가요?",
        "고양이 이름이 뭐예요?",
    ]
    nearest = [int(np.argmax(vectors @ multilingual.embed_query(question))) for question in questions]
    assert nearest == [0, 1, 2, 3]


@pytest.mark.parametrize("text", ["", " ", "one line", LOGINS, "한 줄"])
def test_a_short_text_is_one_passage(embedder, text):
    assert embedder.passages(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        REPORT,
        "word " * 5000,
        "漢字" * 3000,
        "가나다. " * 3000,
        "a-" * 5000,
        "\n" * 5000,
        "x" * 5000 + " end",
        "e\u0301" * 4000,
    ],
)
def test_the_passages_of_a_long_text_fit_the_model_and_put_together_are_the_text(embedder, text):
    pieces = embedder.passages(text)
    assert "".join(pieces) == text
    assert all(pieces)
    assert max(map(embedder.count_tokens, pieces)) <= embedder.manifest.max_tokens


def test_a_long_text_is_cut_where_a_paragraph_ends(embedder):
    pieces = embedder.passages(REPORT)
    assert len(pieces) > 1
    assert all(piece.endswith("\n\n") for piece in pieces[:-1])


def test_a_mark_of_the_model_written_in_a_text_is_text(english):
    assert english.count_tokens("[SEP]") > english.count_tokens("x")


def test_the_end_of_an_overlong_text_is_left_out_and_its_start_counts(english):
    assert np.array_equal(english.embed_passage("word " * 600), english.embed_passage("word " * 2000))


def test_neither_model_opens_a_socket(home):
    script = (
        "import sys; from pathlib import Path\n"
        "def refuse(event, arguments):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo'): raise SystemExit(event)\n"
        "sys.addaudithook(refuse)\n"
        "from whence.models import LocalModels\n"
        "models = LocalModels(Path(sys.argv[1]), offline=True)\n"
        "models.latin.embed_query('who?'); models.multilingual.embed_query('누구?')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(home)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
