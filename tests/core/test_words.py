"""How texts are cut into words: never an error, and what was stored is found by its own words."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.conftest import StillClock

from whence.core.life import Whence
from whence.core.memories import Draft, says_something
from whence.core.ports import Scope
from whence.core.recall import Query
from whence.core.words import (
    context_form,
    index_form,
    needs_multilingual,
    question_phrases,
    question_words,
    stop_words,
)
from whence.features.workspaces import Place, found_workspace
from whence.models import NoModels
from whence.storage import open_store

any_text = st.text(max_size=200)
storable = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=80
).filter(says_something)


@given(any_text)
@example("\0")
@example("\ud800")
@example('"*"')
@example("가" * 500)
def test_no_text_is_too_odd_to_be_cut(text):
    index_form(text)
    context_form(text)
    words, phrases = question_words(text), question_phrases(text)
    assert len(words) == len(set(words))
    assert not [word for word in (*words, *phrases) if '"' in word]
    needs_multilingual(text)


@pytest.fixture(scope="module")
def wordless_memory():
    """One in-memory store for many texts: each is put into a workspace of its own."""
    clock = StillClock()
    whence = Whence(open_store("sqlite:///:memory:", tenant="local", clock=clock), NoModels(), clock)
    yield whence
    whence.close()


@settings(max_examples=150, deadline=None)
@given(storable)
@example("İstanbul ILIK ıssız")
@example("naïve café — Ünïcode")
@example("straße ﬁne ǅ")
@example("हिन्दी में")
@example("ไทย")
@example("회의에서 한 말")
@example("e\u0301tude")
@example("日本語のテスト")
@example("snake_case camelCase kebab-case a.b/c")
@example("the")
@example("C++ and C#")
@example("x²+y²")
@example("𝔘𝔫𝔦")
@example("ᲀꟊ")
@example("a\u200db")
@example("robot🤖 party🥳")
@example("\ue0a0main")
@example("0\U00040000")
def test_a_stored_text_is_found_by_its_own_words(wordless_memory, text):
    whence = wordless_memory
    room = found_workspace(whence, Place(name="room", identity=text, second_name="r")).id
    memory = whence.remember(Draft(content=text), workspace=room).memory
    answer = whence.recall(Query(text=text, scope=Scope(workspaces=(room,)), limit=50))
    if question_words(text):
        assert memory.id in [hit.memory.id for hit in answer.hits]


@pytest.mark.parametrize(
    "text", ["İstanbul", "ılık", "Straße", "café", "CAFÉ", "Ω", "Привет", "Ünïcode", "Ελλάδα", "x̂y"]
)
def test_a_word_of_any_alphabet_is_found_by_itself_in_either_case(wordless_memory, text):
    whence = wordless_memory
    room = found_workspace(whence, Place(name="alphabets", identity=f"case {text}", second_name="a")).id
    memory = whence.remember(Draft(content=f"about {text} and more"), workspace=room).memory
    for asked in (text, text.upper() if text not in {"İstanbul", "ılık", "Straße"} else text):
        hits = whence.recall(Query(text=asked, scope=Scope(workspaces=(room,)))).hits
        assert [hit.memory.id for hit in hits] == [memory.id], asked


@given(st.text("가나다라마바사", min_size=2, max_size=12), st.data())
def test_every_part_of_a_korean_word_of_two_or_more_syllables_is_in_its_index_form(word, data):
    start = data.draw(st.integers(0, len(word) - 2))
    end = data.draw(st.integers(start + 2, len(word)))
    assert set(question_words(word[start:end])) <= set(index_form(word).split())


def test_both_ways_to_write_an_accent_or_a_syllable_are_one_word():
    for text in ("café", "회의", "が"):
        assert question_words(unicodedata.normalize("NFD", text)) == question_words(text)


def test_stop_words_are_left_out_of_a_question_unless_nothing_else_is_asked():
    assert question_words("What is the database?") == ["database"]
    assert question_words("who are you") == ["who", "are", "you"]
    assert "the" in stop_words()


@pytest.mark.parametrize(
    ("text", "multilingual"),
    [
        ("Where does Ana live?", False),
        ("naïve café in Łódź", False),
        ("회의는 어디서?", True),
        ("the word 회의 in English", True),
        ("Где живёт Анна?", True),
        ("東京", True),
        ("カフェ", True),
        ("1234 !?", False),
        ("", False),
        ("the Greek letter Ω", False),
    ],
)
def test_the_script_decides_which_model_reads_a_text(text, multilingual):
    assert needs_multilingual(text) is multilingual
