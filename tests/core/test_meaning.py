"""From a question to its answers by meaning, with the real models, in two scripts and without a network."""

import socket

import numpy as np
import pytest

from whence.core.life import Whence
from whence.core.memories import Draft
from whence.core.ports import Scope
from whence.core.recall import Query
from whence.models import LocalModels
from whence.models.manifests import ENGLISH, MULTILINGUAL
from whence.storage import open_store

NEIGHBOURS = (
    "The deploy pipeline runs every night at two",
    "Postgres was chosen because it supports JSON",
    "Ana prefers short commit messages",
    "Invoices are sent on the first of the month",
)


@pytest.fixture
def ask(whence, scope):
    def recall(text, *, limit=5, max_tokens=None):
        return whence.recall(Query(text=text, scope=scope, limit=limit, max_tokens=max_tokens))

    return recall


def contents(answer):
    return [hit.memory.content for hit in answer.hits]


@pytest.mark.promise("001-021", "000-018", "003-020")
def test_a_question_finds_what_shares_no_word_with_it(remember, ask):
    for text in NEIGHBOURS:
        remember(text)
    memory = remember("User moved to Austin")
    answer = ask("Where does the person have a home?")
    assert answer.hits[0].memory.id == memory.id
    assert answer.notices == ()


@pytest.mark.promise("001-023", "001-025")
def test_the_documents_example_answers_austin_then_remote_and_never_seattle(whence, remember, ask):
    old = remember("User lives in Seattle")
    for text in NEIGHBOURS:
        remember(text)
    new = remember("User moved to Austin")
    remote = remember("User works remotely from home in Austin")
    whence.supersede(old.id, by=new.id)
    hits = ask("Where does the user live?", limit=3).hits
    assert [hit.memory.id for hit in hits[:2]] == [new.id, remote.id]
    assert old.id not in [hit.memory.id for hit in hits]
    word_for_word = ask("User lives in Seattle").hits
    assert word_for_word[0].memory.id == new.id
    assert [hit.memory.id for hit in word_for_word].count(new.id) == 1


@pytest.mark.promise("000-103")
def test_a_korean_question_finds_its_english_memory_and_an_english_one_its_korean_memory(remember, ask):
    for text in NEIGHBOURS:
        remember(text)
    for text in ("점심은 구내식당에서 먹는다", "새 로고는 파란색이다", "서버 비용이 두 배로 늘었다"):
        remember(text)
    english = remember("The weekly team meeting takes place on Thursday afternoon")
    korean = remember("고객 데이터는 매일 밤 백업한다")
    assert ask("팀 회의는 언제 열리나요?").hits[0].memory.id == english.id
    assert korean.id in [hit.memory.id for hit in ask("How often do we back up customer data?").hits[:2]]
    assert ask("backup of customer data").hits[0].memory.id == korean.id
    assert contents(ask("What colour is the new logo?"))[0] == "새 로고는 파란색이다"
    assert ask("고객 정보를 얼마나 자주 저장해 두나요?").hits[0].memory.id == korean.id
    assert ask("백업은 언제?").hits[0].memory.id == korean.id


@pytest.mark.promise("000-103")
def test_a_korean_question_first_reads_what_its_model_lacks_or_says_how_many_it_does(
    whence, remember, ask, clock, scope
):
    for number in range(40):
        remember(f"thought number {number} about nothing in particular")
    assert whence.store.models_in(scope) == {ENGLISH.id}
    first = ask("회의는 언제?")
    assert (first.unread, [n for n in first.notices if "not read" in n]) == (0, [])
    assert whence.store.models_in(scope) == {ENGLISH.id, MULTILINGUAL.id}
    remember("one more in English")

    class Hasty:
        """A clock by which all patience is over at once."""

        def now(self):
            clock.advance(10**6)
            return clock.now()

    hasty = Whence(whence.store, whence.models, Hasty())
    answer = hasty.recall(Query(text="회의는 언제?", scope=scope))
    assert answer.unread == 1
    assert any("1 memories are not read" in notice for notice in answer.notices)


@pytest.mark.promise("000-015", "003-020", "003-015")
def test_a_vector_carries_the_model_of_its_script_and_its_dimensions(models, clock, tmp_path):
    import apsw

    path = tmp_path / "whence.db"
    whence = Whence(open_store(f"sqlite:///{path}", tenant="local", clock=clock), models, clock)
    from whence.features.workspaces import Place, found_workspace

    room = found_workspace(whence, Place(name="room")).id
    whence.remember(Draft(content="an English sentence"), workspace=room)
    whence.remember(Draft(content="한국어 문장"), workspace=room)
    whence.remember(Draft(content="long " * 1500), workspace=room)
    whence.close()
    with apsw.Connection(str(path)) as connection:
        rows = list(
            connection.execute("SELECT model, seq, passage, length(own) FROM vectors ORDER BY seq, passage")
        )
    assert rows[0] == (ENGLISH.id, 1, 0, ENGLISH.dimensions + 4)
    assert rows[1] == (MULTILINGUAL.id, 2, 0, MULTILINGUAL.dimensions + 4)
    assert [row[2] for row in rows[2:]] == list(range(len(rows) - 2))
    assert len(rows) - 2 >= 3
    assert (ENGLISH.dimensions, MULTILINGUAL.dimensions) == (384, 512)


def test_a_long_text_is_found_by_its_last_passage(remember, ask):
    filler = "The committee met and discussed procedural matters at some length. " * 150
    long = remember(filler + "Finally, the cat of the neighbour was named Schrodinger.")
    for text in NEIGHBOURS:
        remember(text)
    assert ask("What is the pet next door called?").hits[0].memory.id == long.id


def test_a_short_reply_is_found_by_the_meaning_of_what_was_said_before_it(remember, ask):
    for text in NEIGHBOURS:
        remember(text)
    reply = remember("Yes, since last Tuesday.", context="Did you adopt a dog from the animal shelter?")
    assert ask("When did she get her puppy?").hits[0].memory.id == reply.id


def test_an_unrelated_question_gets_no_answer_and_the_reason(remember, ask):
    remember("Invoices are sent on the first of the month")
    answer = ask("zxqv wplk brrr")
    assert answer.hits == ()
    assert "too far from its meaning" in answer.nothing_because


def test_the_budget_is_counted_with_the_models_own_tokenizer(remember, ask, models):
    texts = [f"kiwi number {number} is stored in the pantry" for number in range(3)]
    for text in texts:
        remember(text)
    tokens = models.latin.count_tokens(texts[0])
    assert len(ask("kiwi in the pantry", max_tokens=2 * tokens).hits) == 2
    assert len(ask("kiwi in the pantry", max_tokens=2 * tokens - 1).hits) == 1


def test_the_order_and_scores_of_meaning_do_not_depend_on_other_readers(remember, ask, whence):
    for text in NEIGHBOURS:
        remember(text)
    before = [(hit.memory.id, hit.relevance) for hit in ask("database").hits]
    whence.store.release()
    assert [(hit.memory.id, hit.relevance) for hit in ask("database").hits] == before


@pytest.mark.promise("003-116", "003-115")
def test_saving_and_searching_open_no_socket(model_home, clock, tmp_path, monkeypatch):
    def no_network(*_args: object, **_named: object) -> None:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, no_network)
    models = LocalModels(model_home)  # may fetch, and has no need to
    whence = Whence(open_store(f"sqlite:///{tmp_path / 'w.db'}", tenant="local", clock=clock), models, clock)
    from whence.features.workspaces import Place, found_workspace

    room = found_workspace(whence, Place(name="room")).id
    memory = whence.remember(Draft(content="Ana moved to Austin"), workspace=room).memory
    whence.remember(Draft(content="서버는 서울에 있다"), workspace=room)
    assert whence.recall(Query(text="Ana's home town", scope=Scope())).hits[0].memory.id == memory.id
    assert whence.recall(Query(text="서버의 위치는?", scope=Scope())).hits
    assert set(models.loaded) == {ENGLISH.id, MULTILINGUAL.id}
    whence.close()


def test_an_english_question_is_answered_although_the_other_model_cannot_be_had(
    whence, remember, scope, models
):
    """A workspace that holds Korean must not make English questions fail."""
    from whence.core.errors import EmbeddingUnavailable

    memory = remember("Ana moved to Austin")
    remember("서버는 서울에 있다")

    class EnglishAlone:
        latin = models.latin
        multilingual_id = MULTILINGUAL.id

        @property
        def multilingual(self):
            raise EmbeddingUnavailable("The multilingual model cannot be loaded, so search answers by words")

    half = Whence(whence.store, EnglishAlone(), whence.clock)
    answer = half.recall(Query(text="Where is her home?", scope=scope))
    assert answer.hits[0].memory.id == memory.id
    assert any("EMBEDDING_ERROR" in notice for notice in answer.notices)


def test_a_korean_question_to_a_file_that_cannot_be_written_is_answered(models, clock, tmp_path):
    """Reading what a model lacks is a courtesy; a read-only store still answers."""
    from whence.features.workspaces import Place, found_workspace

    store = open_store(f"sqlite:///{tmp_path / 'w.db'}", tenant="local", clock=clock)
    whence = Whence(store, models, clock)
    room = found_workspace(whence, Place(name="room")).id
    whence.remember(Draft(content="The server 서버 stands in Seoul"), workspace=room)
    whence.remember(Draft(content="plain English"), workspace=room)
    list(store._file._idle[-1].execute("PRAGMA query_only = ON"))
    answer = whence.recall(Query(text="서버는 어디?", scope=Scope()))
    assert [hit.memory.content for hit in answer.hits][:1] == ["The server 서버 stands in Seoul"]
    store.close()


def test_what_is_read_twice_is_read_the_same(models):
    for text in ("Ana moved to Austin", "an " * 300):
        first, again = models.latin.embed_passage(text), models.latin.embed_passage(text)
        assert np.array_equal(first, again)
