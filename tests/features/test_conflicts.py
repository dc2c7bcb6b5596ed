"""Does a new memory find the one that it makes outdated, and leave what stands beside it alone?"""

from __future__ import annotations

import inspect
import time

import pytest

from whence.core.memories import Draft
from whence.core.ports import Scope
from whence.features.conflicts import SHOWN, closeness, judge, similar
from whence.features.conflicts.evidence import shared_topics
from whence.features.conflicts.korean import korean_root
from whence.features.conflicts.reading import read_sentence
from whence.features.conflicts.tables import known_phrases, rival_words, stem
from whence.features.conflicts.weights import WEIGHTS
from whence.models.manifests import ENGLISH

OUTDATED = [
    ("User lives in Seattle", "User moved to Austin"),
    ("User lives in Seattle", "User moved to Austin last month"),
    ("Dana works at Siemens.", "Dana started at Bosch two weeks ago."),
    ("Hana's gym membership is with FitBox.", "Hana cancelled FitBox and signed up at CityGym."),
    ("The Bramble queue is backed by RabbitMQ.", "Bramble's queue moved from RabbitMQ to NATS."),
    (
        "API rate limit is 100 requests per minute.",
        "The API rate limit was raised to 250 requests per minute.",
    ),
    ("Session tokens expire after 30 minutes.", "Session tokens now live for two hours."),
    ("Malik is the tech lead of the billing squad.", "Sofie became tech lead of the billing squad."),
    ("The office is on the third floor.", "The office is on the ground floor."),
    ("민수는 서울에 산다.", "민수는 지난달 부산으로 이사했다."),
    ("API 호출 제한은 분당 100회다.", "API 호출 제한이 분당 300회로 늘었다."),
    ("은하 프로젝트의 CI는 젠킨스에서 돌아간다.", "은하 프로젝트 CI를 깃허브 액션으로 이전했다."),
]
CONTRADICTORY = [
    ("Yara has no siblings.", "Yara's sister lives in Oslo."),
    ("Petra cannot drive.", "Petra drives to the office every day."),
    ("The shop on Elm Street is open on Sundays.", "The Elm Street shop is closed on Sundays."),
    ("Passwords are stored as bcrypt hashes.", "Passwords are stored in plain text."),
    ("Direct pushes to main are blocked.", "Developers can push directly to main."),
    ("알림 서비스는 무상태다.", "알림 서비스는 세션을 메모리에 보관한다."),
    ("지영이는 고기를 먹지 않는다.", "지영이는 어제 삼겹살을 먹었다."),
]
COMPLEMENTARY = [
    ("User moved to Austin", "User works remotely from home in Austin"),
    ("User likes sushi.", "User likes ramen."),
    ("User lives in Seattle", "User's brother lives in Glasgow"),
    ("create_user() returns an id.", "delete_user() returns nothing."),
    ("MAX_UPLOAD is 20 MB.", "MAX_PARTS is 400."),
    ("The staging cluster has three nodes.", "The production cluster has nine nodes."),
    ("The Finch service listens on port 8080.", "The Finch service is written in Rust."),
    ("Search results are cached for ten minutes.", "Search results are limited to 50 per page."),
    ("사용자는 초밥을 좋아한다.", "사용자는 라면을 좋아한다."),
    ("parse_order 함수는 JSON을 읽는다.", "parse_invoice 함수는 XML을 읽는다."),
    ("단위 테스트는 커밋마다 돌린다.", "통합 테스트는 매일 밤 돌린다."),
]


@pytest.mark.parametrize(("old", "new"), OUTDATED + CONTRADICTORY)
def test_the_rules_name_another_value_of_the_same_thing(old, new):
    verdict = judge(read_sentence(old), read_sentence(new))
    assert verdict.is_conflict, verdict
    assert verdict.reason


@pytest.mark.parametrize(("old", "new"), COMPLEMENTARY)
def test_the_rules_leave_another_thing_or_a_further_one_alone(old, new):
    verdict = judge(read_sentence(old), read_sentence(new), closeness=1.0)
    assert not verdict.is_conflict, verdict


def test_likeness_alone_names_nothing():
    old, new = (
        read_sentence("The Heron docs have a search box."),
        read_sentence("The Heron docs have a footer."),
    )
    assert not judge(old, new, closeness=1.0).is_conflict
    assert not judge(read_sentence("Ana plays chess."), new, closeness=1.0).is_conflict


def test_the_same_said_again_makes_nothing_outdated():
    again = read_sentence("User moved to Austin last month.")
    assert not judge(again, read_sentence("User moved to Austin last month"), closeness=1.0).is_conflict


def test_closeness_runs_from_unrelated_to_paraphrase():
    assert closeness(ENGLISH.unrelated - 0.1, ENGLISH) == 0
    assert closeness(ENGLISH.unrelated, ENGLISH) == 0
    assert 0 < closeness(ENGLISH.related, ENGLISH) < closeness(ENGLISH.duplicate, ENGLISH) < 1
    assert closeness(ENGLISH.paraphrase + 0.01, ENGLISH) == 1


def test_what_no_model_read_is_taken_for_middling_near():
    assert 0 < closeness(None, ENGLISH) == closeness(0.88, None) < 1


@pytest.mark.parametrize(
    ("words", "one"),
    [
        (("moves", "moved", "moving"), "mov"),
        (("uses", "used", "using"), "use"),
        (("swam", "swim", "swum"), "swim"),
        (("dependencies", "depends", "dependent"), "depend"),
    ],
)
def test_the_inflections_of_a_word_meet(words, one):
    assert {stem(word) for word in words} == {one}


def test_korean_particles_and_endings_fall_away():
    assert {korean_root(word) for word in ("공유한다", "공유되지", "공유는")} == {"공유"}
    assert korean_root("사용자는") == "사용자"


def test_a_longer_phrase_silences_the_opposite_within_it():
    shared = read_sentence("Yara has no siblings").marks & read_sentence("Yara has siblings").marks
    assert not [each for each in shared if each.startswith("states:")]


def test_a_long_text_is_read_no_further_than_its_first_sentences():
    text = "User lives in Seattle. " + "and so on " * 5_000
    began = time.perf_counter()
    assert "slot:residence" in read_sentence(text).slots
    assert time.perf_counter() - began < 0.1


@pytest.fixture
def seen(whence, workspace):
    """Store some memories, then a last one, and return what `similar` says of it, in texts."""

    def answer(*texts, **fields):
        for text in texts[:-1]:
            whence.remember(Draft(content=text, **fields), workspace=workspace)
        saved = whence.remember(Draft(content=texts[-1]), workspace=workspace)
        found = similar(whence, saved, Scope(workspaces=(workspace,)))
        outdated = None if found.outdated is None else found.outdated.content
        return [memory.content for memory in found.memories], outdated

    return answer


def test_the_outdated_one_stands_first(seen):
    memories, outdated = seen(
        "User works remotely from home in Austin", "User lives in Seattle", "User moved to Austin last month"
    )
    assert memories[0] == outdated == "User lives in Seattle"


def test_what_only_adds_to_a_memory_names_nothing(seen):
    _, outdated = seen("User moved to Austin", "User works remotely from home in Austin")
    assert outdated is None


def test_the_context_of_a_memory_is_no_part_of_the_verdict(seen):
    _, outdated = seen(
        "User lives in Seattle", "User moved to Austin", context="They spoke of their new cat."
    )
    assert outdated == "User lives in Seattle"


def test_a_korean_move_is_found(seen):
    memories, outdated = seen(
        "민수는 서울에 산다.", "소라는 매일 아침 달린다.", "민수는 지난달 부산으로 이사했다."
    )
    assert memories == [outdated] == ["민수는 서울에 산다."]


def test_unrelated_memories_are_not_shown(seen):
    assert seen("User collects vintage fountain pens.", "Octopuses have three hearts.") == ([], None)


def test_at_most_five_are_shown(seen):
    texts = [f"The billing service retries request number {number} twice." for number in range(9)]
    memories, _ = seen(*texts, "The billing service retries every request.")
    assert 0 < len(memories) <= SHOWN


def test_what_was_superseded_or_put_away_is_not_shown(whence, workspace):
    scope = Scope(workspaces=(workspace,))
    seattle, boston, austin = (
        whence.remember(Draft(content=f"User lives in {city}"), workspace=workspace).memory
        for city in ("Seattle", "Boston", "Austin")
    )
    whence.supersede(seattle.id, by=boston.id)
    whence.archive(austin.id)
    saved = whence.remember(Draft(content="User moved to Denver"), workspace=workspace)
    assert [memory.id for memory in similar(whence, saved, scope).memories] == [boston.id]


def test_without_models_words_and_rules_still_find_it(wordless):
    from whence.features.workspaces import Place, found_workspace

    workspace = found_workspace(wordless, Place(name="plain")).id
    old = wordless.remember(Draft(content="User lives in Seattle"), workspace=workspace).memory
    wordless.remember(Draft(content="Honey never spoils."), workspace=workspace)
    saved = wordless.remember(Draft(content="User moved to Austin"), workspace=workspace)
    found = similar(wordless, saved, Scope(workspaces=(workspace,)))
    assert found.memories == (old,)
    assert found.outdated == old


THINGS = ("stamps", "maps", "kites", "shells", "coins", "badges", "corks", "tickets", "spoons", "dolls")
COLOURS = ("red", "blue", "green", "white", "black", "brown", "amber", "pink", "grey", "violet")
HABITS = ("collects {}", "bought some {}", "dreams of {}")


@pytest.fixture
def crowd():
    """Three hundred facts that all begin like the one sought."""
    return [
        f"User {habit.format(f'{colour} {thing}')}"
        for habit in HABITS
        for colour in COLOURS
        for thing in THINGS
    ]


def test_an_old_residence_is_found_among_hundreds_of_facts_about_the_user(seen, crowd):
    assert len(crowd) == 300
    memories, outdated = seen(*crowd, "User lives in Seattle", "User moved to Austin")
    assert memories[0] == outdated == "User lives in Seattle"


def test_an_old_residence_is_found_in_the_crowd_without_models(wordless, crowd):
    from whence.features.workspaces import Place, found_workspace

    workspace = found_workspace(wordless, Place(name="crowd")).id
    for text in ("User lives in Seattle", *crowd):
        wordless.remember(Draft(content=text), workspace=workspace)
    saved = wordless.remember(Draft(content="User moved to Austin"), workspace=workspace)
    found = similar(wordless, saved, Scope(workspaces=(workspace,)))
    assert found.outdated is not None
    assert found.outdated.content == "User lives in Seattle"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The invoice table is encrypted.", "The invoice table is unencrypted."),
        ("Image resizing is synchronous.", "Image resizing is asynchronous."),
    ],
)
def test_a_prefix_may_deny_a_word(old, new):
    assert judge(read_sentence(old), read_sentence(new)).is_conflict


def test_who_denies_a_kind_denies_its_members():
    old, new = read_sentence("Jules has no pets."), read_sentence("Jules walks his poodle every morning.")
    assert judge(old, new).is_conflict
    assert not judge(read_sentence("Jules has a garden."), new).is_conflict


def test_labels_compare_by_what_stands_before_the_colon():
    old = read_sentence("Deploy branch of the shop: release")
    assert judge(old, read_sentence("Deploy branch of the shop: main")).is_conflict
    assert not judge(old, read_sentence("Review branch of the blog: main"), closeness=1.0).is_conflict


def test_the_opposites_of_two_things_are_no_conflict():
    old = read_sentence("The back door was painted in May.")
    assert not judge(old, read_sentence("The front door was painted in June."), closeness=0.9).is_conflict


def test_what_is_said_of_a_relative_is_not_said_of_the_user():
    old, new = read_sentence("User does not smoke."), read_sentence("User's brother smokes a pipe.")
    assert not judge(old, new, closeness=0.8).is_conflict


def test_every_evidence_has_a_weight():
    source = inspect.getsource(inspect.getmodule(shared_topics))
    named = {text for text in WEIGHTS if f'"{text}"' in source}
    assert named == set(WEIGHTS)


def test_the_whole_table_of_words_is_read():
    for language in ("en", "ko"):
        assert known_phrases(language)
        assert rival_words(frozenset({"slot:residence"}), language)
