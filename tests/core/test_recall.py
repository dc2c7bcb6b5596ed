"""From a question to its answers by words: who may answer, in what order, and why there is nothing."""

from itertools import pairwise

import pytest

from whence.core.memories import GLOBAL, Draft
from whence.core.ports import Scope
from whence.core.recall import Query
from whence.features.workspaces import EVERYWHERE, NOWHERE, Place, found_workspace, to_search, to_write


@pytest.fixture
def room(wordless):
    return found_workspace(wordless, Place(name="room")).id


@pytest.fixture
def keep(wordless, room):
    def remember_it(content="a plain fact", workspace=None, **fields):
        return wordless.remember(Draft(content=content, **fields), workspace=workspace or room).memory

    return remember_it


@pytest.fixture
def ask(wordless, room):
    def recall(text, *, limit=5, max_tokens=None, **scope):
        scope.setdefault("workspaces", (room,))
        return wordless.recall(Query(text=text, scope=Scope(**scope), limit=limit, max_tokens=max_tokens))

    return recall


def contents(answer):
    return [hit.memory.content for hit in answer.hits]


# -- superseded text is a way in, never an answer


@pytest.mark.promise("001-023", "001-055")
def test_a_question_equal_to_a_superseded_text_is_answered_by_its_head_once(wordless, keep, ask):
    old, new = keep("Ana lives in Seattle"), keep("Ana moved to Austin, Texas")
    wordless.supersede(old.id, by=new.id)
    (hit,) = ask("Ana lives in Seattle").hits
    assert hit.memory.id == new.id
    (hit,) = ask("Seattle").hits
    assert (hit.memory.id, hit.via) == (new.id, old.id)


def test_versions_of_one_chain_take_one_place_before_the_cut(wordless, keep, ask):
    chain = [keep(f"the port of the proxy is {4000 + n}") for n in range(150)]
    for older, newer in pairwise(chain):
        wordless.supersede(older.id, by=newer.id)
    others = [keep(f"another remark that somewhere names a port, number {n}") for n in range(3)]
    hits = ask("the port of the proxy", limit=4).hits
    assert hits[0].memory.id == chain[-1].id
    assert {hit.memory.id for hit in hits} == {chain[-1].id, *(each.id for each in others)}


def test_history_shows_superseded_and_archived_memories_with_their_labels(wordless, keep, ask):
    old, new, away = keep("kiwi one"), keep("kiwi two"), keep("kiwi three")
    wordless.supersede(old.id, by=new.id)
    wordless.archive(away.id)
    assert [hit.memory.id for hit in ask("kiwi").hits] == [new.id]
    shown = {hit.memory.id: hit.memory.labels[0] for hit in ask("kiwi", history=True).hits}
    assert shown == {old.id: "superseded", new.id: "pending", away.id: "archived"}


def test_a_superseded_memory_leads_to_nothing_while_its_head_is_archived(wordless, keep, ask):
    old, new = keep("kiwi old"), keep("kiwi new")
    wordless.supersede(old.id, by=new.id)
    wordless.archive(new.id)
    assert ask("kiwi").hits == ()


def test_a_head_in_another_workspace_does_not_answer_here(wordless, keep, ask, room):
    annex = found_workspace(wordless, Place(name="annex")).id
    old, new = keep("kiwi old"), keep("kiwi new", workspace=annex)
    wordless.supersede(old.id, by=new.id)
    assert ask("kiwi").hits == ()
    assert [hit.memory.id for hit in ask("old", workspaces=(room, annex)).hits] == [new.id]


def test_the_context_is_a_way_in_and_never_an_answer(keep, ask):
    memory = keep("Yes, since last Tuesday", context="Did you migrate the billing service to Rust?")
    (hit,) = ask("billing service in Rust").hits
    assert hit.memory.id == memory.id
    assert "Rust" not in hit.memory.content


def test_a_word_of_the_text_outweighs_the_same_word_of_a_context(keep, ask):
    keep("An unrelated reply of a few words", context="about kiwi")
    text = keep("An unrelated reply about kiwi here")
    assert ask("kiwi").hits[0].memory.id == text.id


# -- filters come before the cut


def test_a_type_filter_is_filled_although_two_hundred_others_are_nearer(keep, ask):
    wanted = keep("kiwi among a great many other words that make it a poor match", type="insight")
    for _ in range(200):
        keep("kiwi kiwi")
    assert [hit.memory.id for hit in ask("kiwi", types=("insight",), limit=3).hits] == [wanted.id]


def test_a_workspace_is_answered_although_two_hundred_elsewhere_are_nearer(wordless, keep, ask):
    annex = found_workspace(wordless, Place(name="annex")).id
    for _ in range(200):
        keep("kiwi kiwi", workspace=annex)
    wanted = keep("kiwi among a great many other words that make it a poor match")
    assert [hit.memory.id for hit in ask("kiwi", limit=1).hits] == [wanted.id]


@pytest.mark.promise("001-002")
def test_a_search_includes_global_and_a_star_includes_all(wordless, keep):
    here = Place(name="here")
    other = found_workspace(wordless, Place(name="other")).id
    everywhere = to_write(wordless, GLOBAL, NOWHERE).id
    mine = to_write(wordless, None, here).id
    for place, text in ((mine, "kiwi mine"), (everywhere, "kiwi for all"), (other, "kiwi elsewhere")):
        keep(text, workspace=place)

    def found(named):
        scope = Scope(workspaces=to_search(wordless, named, here))
        return set(contents(wordless.recall(Query(text="kiwi", scope=scope))))

    assert found(None) == {"kiwi mine", "kiwi for all"}
    assert found("other") == {"kiwi elsewhere", "kiwi for all"}
    assert found(GLOBAL) == {"kiwi for all"}
    assert found(EVERYWHERE) == {"kiwi mine", "kiwi for all", "kiwi elsewhere"}


# -- times


@pytest.mark.promise("003-001", "003-011")
def test_as_of_answers_with_the_version_that_held_then(wordless, keep, ask):
    seattle = keep("lives in Seattle", valid_from=1_000)
    austin = keep("lives in Austin", valid_from=2_000)
    wordless.supersede(seattle.id, by=austin.id)
    assert ask("lives", as_of=999).hits == ()
    assert contents(ask("lives", as_of=1_000)) == ["lives in Seattle"]
    assert contents(ask("lives", as_of=1_999)) == ["lives in Seattle"]
    assert contents(ask("lives", as_of=2_000)) == ["lives in Austin"]
    assert contents(ask("lives")) == ["lives in Austin"]


@pytest.mark.promise("003-001", "003-011")
def test_known_at_answers_with_what_was_known_then_as_it_stood(wordless, keep, ask, clock):
    before = clock.now()
    old = keep("lives in Seatle", valid_from=1_000)
    typo = clock.now()
    wordless.edit(old.id, {"content": "lives in Seattle"})
    edited = clock.now()
    new = keep("lives in Austin", valid_from=2_000)
    both = clock.now()
    wordless.supersede(old.id, by=new.id)
    assert ask("lives", known_at=before).hits == ()
    assert contents(ask("lives", known_at=typo)) == ["lives in Seatle"]
    assert contents(ask("lives", known_at=edited)) == ["lives in Seattle"]
    assert sorted(contents(ask("lives", known_at=both))) == ["lives in Austin", "lives in Seattle"]
    assert ask("lives", known_at=both).hits[0].memory.is_live
    (hit,) = ask("lives", known_at=both, as_of=1_500).hits
    assert hit.memory.id == old.id
    assert hit.memory.labels == ("pending",)
    assert contents(ask("lives", known_at=clock.now())) == ["lives in Austin"]


# -- order, budget, words alone, nothing


@pytest.mark.promise("001-022", "001-024")
def test_answers_stand_best_first_with_a_relevance_from_one_down(keep, ask):
    keep("kiwi mango papaya", source="explicit")
    keep("kiwi mango and other things that are no fruit at all", source="explicit")
    keep("kiwi and a very long list of words that have nothing to do with fruit whatsoever")
    hits = ask("kiwi mango papaya").hits
    assert contents(ask("kiwi mango papaya"))[0] == "kiwi mango papaya"
    relevance = [hit.relevance for hit in hits]
    assert relevance == sorted(relevance, reverse=True)
    assert relevance[0] == pytest.approx(1)
    assert all(0 <= each <= 1 for each in relevance)
    assert {reason.name for hit in hits for reason in hit.reasons} == {"words", "explicit"}


def test_what_someone_said_outright_stands_above_what_was_drawn_from_talk(keep, ask):
    keep("kiwi is the favourite fruit", source="extracted")
    said = keep("kiwi is the favourite fruit", source="explicit")
    keep("kiwi is the favourite fruit", source="extracted")
    assert ask("kiwi").hits[0].memory.id == said.id


@pytest.mark.promise("001-020")
@pytest.mark.parametrize("limit", [1, 3, 20])
def test_never_more_than_the_limit_come_back(keep, ask, limit):
    for number in range(25):
        keep(f"kiwi {number}")
    assert len(ask("kiwi", limit=limit).hits) == limit


def test_the_budget_cuts_after_the_best_and_says_how_many_did_not_fit(keep, ask):
    for number in range(4):
        keep(f"kiwi {number} " + "x" * 32)  # 40 characters: ten tokens by the rough measure
    answer = ask("kiwi", max_tokens=25)
    assert len(answer.hits) == 2
    assert "2 more did not fit into 25 tokens." in answer.notices
    nothing = ask("kiwi", max_tokens=3)
    assert nothing.hits == ()
    assert nothing.nothing_because == "The best answer alone is longer than max_tokens 3."
    assert len(ask("kiwi", max_tokens=40).hits) == 4


@pytest.mark.promise("001-049")
def test_an_answer_by_words_alone_says_so(keep, ask):
    keep("kiwi")
    for text in ("kiwi", "키위", "nothing like it"):
        assert any("words alone (EMBEDDING_ERROR)" in notice for notice in ask(text).notices)


@pytest.mark.promise("001-022")
def test_an_empty_answer_says_what_was_searched_and_what_each_filter_kept_out(wordless, keep, ask):
    annex = found_workspace(wordless, Place(name="annex")).id
    keep("apple")
    old, new = keep("pear", type="insight"), keep("plum", type="insight")
    wordless.supersede(old.id, by=new.id)
    wordless.archive(keep("fig", type="insight").id)
    keep("date", workspace=annex)
    answer = ask("zebra", types=("insight",))
    assert answer.hits == ()
    told = answer.nothing_because
    assert told.startswith("Searched 1 memories of this workspace and global")
    for part in ("1 superseded", "1 archived", "1 of other types", "1 in other workspaces"):
        assert part in told
    assert "all workspaces" in ask("zebra", workspaces=None).nothing_because
    then = ask("zebra", as_of=1_000_000).nothing_because
    assert "not holding at 1970-01-01T00:00:01Z" in then
    assert ask("apple").nothing_because is None


def test_a_question_without_any_word_is_no_error(keep, ask):
    keep("kiwi")
    for text in ("", "?!", "\u200b", "   ", "\0", '"', "*"):
        assert ask(text).hits == ()


# -- scripts


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("회의에서 결정했다", "회의"),
        ("회의에서 결정했다", "회의에서"),
        ("금요일 회의는 취소", "회의가 언제?"),
        ("데이터베이스를 바꿨다", "데이터베이스"),
        ("새데이터베이스서버", "데이터"),
        ("집에 갔다", "집"),
        ("집", "집"),
        ("東京都に住む", "東京"),
        ("データベースを選ぶ", "データ"),
        ("我们使用数据库", "数据库"),
    ],
)
def test_korean_japanese_and_chinese_are_found_by_pairs_of_characters(keep, ask, text, asked):
    memory = keep(text)
    keep("something else in English")
    assert [hit.memory.id for hit in ask(asked).hits] == [memory.id]


def test_a_single_letter_of_another_alphabet_is_that_word_and_no_beginning(keep, ask):
    keep("apricots and almonds")
    keep("вишня и виноград")
    there = keep("on va à Paris")
    assert [hit.memory.id for hit in ask("à").hits] == [there.id]
    assert contents(ask("в")) == []


def test_words_are_met_in_their_other_forms(keep, ask):
    memory = keep("The servers were migrated")
    assert [hit.memory.id for hit in ask("migrating a server").hits] == [memory.id]


# -- safety


@pytest.mark.parametrize(
    "text",
    [
        '"',
        "'",
        "kiwi OR",
        "kiwi AND NOT",
        "NEAR(kiwi, 5)",
        "text:kiwi",
        "kiwi*",
        "^kiwi",
        "{text} : kiwi",
        "(((",
        "-kiwi",
        "kiwi\0mango",
    ],
)
def test_a_question_is_never_read_as_a_query_language(keep, ask, text):
    memory = keep("kiwi")
    assert [hit.memory.id for hit in ask(text).hits] in ([memory.id], [])
    if "kiwi" in text:
        assert ask(text).hits


def test_a_question_as_long_as_a_memory_is_answered(keep, ask):
    memory = keep("needle")
    assert [hit.memory.id for hit in ask("needle " + " ".join(f"straw{n}" for n in range(6000))).hits] == [
        memory.id
    ]
