"""Do search/by_topic, search/by_context and search/recent answer as INTENTS.md and document 000 say?"""

from __future__ import annotations

import pytest
from jsonschema import validate

from whence.core.memories import Tie
from whence.core.times import iso
from whence.features.workspaces import Place
from whence.surfaces.families import find_tool

DAY = 86_400_000_000


def topic(words, asked, **arguments):
    return words.ask("search/by_topic", topic=asked, **arguments)


def linked(words, content, to_id, word="refines", **arguments):
    return words.learn(content, links=[{"to_id": to_id, "relationship": word, **arguments}])


def recent(words, **arguments):
    return [each["id"] for each in words.ask("search/recent", **arguments)["memories"]]


@pytest.fixture
def four(words):
    """One memory of each type that is saved, all about sailing."""
    return {
        "decision": words.decide("Sailing data lives in Postgres", "storage"),
        "checkpoint": words.ask("save/checkpoint", summary="Sailing importer half done")["created"]["id"],
        "insight": words.learn("Sailing logs carry no time zone"),
        "fact": words.store("The user likes sailing"),
    }


# -- search/by_topic


@pytest.mark.promise("000-009", "000-007")
def test_a_topic_gives_its_live_decision_and_its_whole_chain(words):
    old = words.decide("Use sessions", "auth_strategy")
    new = words.decide("Use JWT", "auth_strategy", supersedes=old)
    words.decide("Use Postgres", "database")
    reply = topic(words, "auth_strategy")
    assert reply["current"]["id"] == new
    assert reply["current"]["content"] == "Use JWT"
    assert [each["id"] for each in reply["evolution_chain"]] == [old, new]
    assert (reply["also_live"], reply["related"], reply["near_topics"]) == ([], [], [])


@pytest.mark.promise("000-009")
@pytest.mark.parametrize(
    "asked", ["auth_strategy", "Auth Strategy", "AUTH-STRATEGY", "authstrategy", " auth_strategy"]
)
def test_case_spaces_underscores_and_hyphens_do_not_count(words, asked):
    kept = words.decide("Use JWT", "auth_strategy")
    assert topic(words, asked)["current"]["id"] == kept


def test_the_same_words_go_before_the_normalised_ones(words):
    exact, other = words.decide("Use JWT", "auth"), words.decide("Use cookies", "Auth")
    reply = topic(words, "auth")
    assert reply["current"]["id"] == exact
    assert [each["id"] for each in reply["also_live"]] == [other]
    assert topic(words, "Auth")["current"]["id"] == other
    assert topic(words, "AUTH")["current"]["id"] == other, "of equally near ones the newest"


def test_of_several_live_decisions_the_newest_is_current_and_the_rest_also_live(words):
    ids = [words.decide(f"Use number {number}") for number in range(3)]
    reply = topic(words, "auth")
    assert reply["current"]["id"] == ids[2]
    assert [each["id"] for each in reply["also_live"]] == [ids[1], ids[0]]
    assert [each["id"] for each in reply["evolution_chain"]] == [ids[2]]


def test_a_newer_lesson_on_the_topic_does_not_push_the_decision_aside(words):
    kept = words.decide()
    lesson = words.ask("evolve/outcome", decision_id=kept, outcome="PARTIAL", reason="Logout is hard")[
        "lesson"
    ]
    reply = topic(words, "auth")
    assert reply["current"]["id"] == kept
    assert [each["id"] for each in reply["also_live"]] == [lesson["id"]]


@pytest.mark.parametrize("include_history", [False, True])
def test_the_chain_is_whole_and_history_adds_the_texts(words, include_history):
    long = "Use sessions\nwith a store that is replicated over three zones"
    ids = [words.decide(long, reasoning="Simple")]
    words.ask("evolve/outcome", decision_id=ids[0], outcome="FAILED", reason="Restarts lose them")
    for number in range(1, 7):
        reply = words.ask(
            "evolve/supersede", old_id=ids[-1], decision=f"version {number}", reasoning="Better"
        )
        ids.append(reply["created"]["id"])
    chain = topic(words, "auth", include_history=include_history)["evolution_chain"]
    assert [each["id"] for each in chain] == ids
    assert [each["first_line"] for each in chain][:2] == ["Use sessions", "version 1"]
    assert [each["superseded_by"] for each in chain[:-1]] == ids[1:]
    assert {"valid_from", "valid_until", "status", "number", "topic"} <= set(chain[0])
    assert ("content" in chain[0]) is ("reasoning" in chain[0]) is include_history
    if include_history:
        assert (chain[0]["content"], chain[0]["reasoning"], chain[0]["outcome"]) == (long, "Simple", "FAILED")


def test_a_very_long_first_line_is_cut_in_the_chain(words):
    words.decide("x" * 500)
    (version,) = topic(words, "auth")["evolution_chain"]
    assert version["first_line"] == "x" * 119 + "…"


@pytest.mark.promise("000-057")
def test_related_memories_are_those_within_three_steps_and_the_chain_is_not_bounded(words):
    ids = [words.decide("version 0")]
    for number in range(1, 6):
        ids.append(words.decide(f"version {number}", supersedes=ids[-1]))
    near = [ids[-1]]
    for number in range(5):
        near.append(linked(words, f"step {number}", near[-1]))
    reply = topic(words, "auth")
    assert {each["memory"]["id"]: each["distance"] for each in reply["related"]} == {
        near[1]: 1,
        near[2]: 2,
        near[3]: 3,
    }
    assert [each["id"] for each in reply["evolution_chain"]] == ids


def test_nothing_outdated_is_among_the_related(words):
    kept = words.decide()
    old, put_away = linked(words, "old", kept), linked(words, "put away", kept)
    new = words.learn("new")
    words.ask("evolve/supersede", old_id=old, new_id=new)
    words.whence.archive(put_away)
    linked(words.of(place=Place(name="theirs")), "of another project", kept)
    live = linked(words, "live", kept)
    assert [each["memory"]["id"] for each in topic(words, "auth")["related"]] == [live]


def test_a_chain_that_went_on_under_another_topic_is_followed_to_its_head(words):
    old = words.decide("Use sessions", "auth")
    words.ask("evolve/outcome", decision_id=old, outcome="FAILED", reason="Restarts lose them")
    asked = {"decision": "Use JWT", "reasoning": "Stateless", "topic": "tokens"}
    new = words.ask("evolve/supersede", old_id=old, **asked)["created"]["id"]
    reply = topic(words, "auth")
    assert reply["current"]["id"] == new
    assert [each["id"] for each in reply["evolution_chain"]] == [old, new]
    assert topic(words, "tokens")["current"]["id"] == new


def test_an_unknown_topic_offers_near_names_and_is_no_error(words):
    words.decide(topic="auth_strategy")
    words.decide(topic="Auth tokens")
    words.decide(topic="database")
    for asked in ("auth", "auth stratgy", "the auth strategy"):
        reply = topic(words, asked)
        assert reply["current"] is None
        assert "auth_strategy" in reply["near_topics"]
        assert "database" not in reply["near_topics"]
        assert reply["evolution_chain"] == []
    assert topic(words, "kubernetes")["near_topics"] == []


def test_at_most_five_near_names_are_offered(words):
    for number in range(8):
        words.decide(topic=f"auth_strategy_{number}")
    assert len(topic(words, "auth_strategy")["near_topics"]) == 5


def test_a_topic_whose_decisions_are_all_put_away_shows_its_chain_alone(words):
    old = words.decide("Use sessions")
    new = words.decide("Use JWT", supersedes=old)
    words.whence.archive(new)
    reply = topic(words, "auth")
    assert reply["current"] is None
    assert [each["status"] for each in reply["evolution_chain"]] == ["superseded", "archived"]


def test_a_topic_is_looked_for_here_and_in_global_unless_asked_elsewhere(words):
    theirs = words.of(place=Place(name="theirs"))
    kept = theirs.decide("Use Vue", "frontend")
    everywhere = words.decide("Two spaces", "style", workspace="global")
    assert topic(words, "frontend")["current"] is None
    assert topic(words, "style")["current"]["id"] == everywhere
    assert topic(theirs, "style")["current"]["id"] == everywhere
    for workspace in ("theirs", "*"):
        assert topic(words, "frontend", workspace=workspace)["current"]["id"] == kept


def test_a_korean_topic_is_found_and_offered(words):
    kept = words.decide("JWT를 쓴다", "인증_방식")
    assert topic(words, "인증 방식")["current"]["id"] == kept
    assert topic(words, "인증")["near_topics"] == ["인증_방식"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "topic is required"),
        ({"topic": None}, "topic must be text"),
        ({"topic": 5}, "topic must be text"),
        ({"topic": " "}, "topic must not be empty"),
        ({"topic": "x" * 201}, "topic must be at most 200 characters"),
        ({"topic": "x", "include_history": "yes"}, "include_history must be true or false"),
        ({"topic": "x", "depth": 3}, 'Unknown parameter "depth"'),
        ({"topic": "x", "workspace": "nowhere"}, 'Workspace "nowhere" not found'),
    ],
)
def test_a_bad_search_by_topic_is_refused_in_one_sentence(words, arguments, message):
    words.decide()
    error = words.refused("search/by_topic", **arguments)
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith(message)


def test_the_text_of_a_topic_tells_what_holds_and_how_it_came(words):
    old = words.decide("Use sessions")
    new = words.decide("Use JWT", supersedes=old)
    other = words.learn("Tokens expire", links=[{"to_id": new, "relationship": "Explains"}])
    lines = words.call("search/by_topic", topic="auth").text.splitlines()
    assert lines[0].startswith("Now: auth: Use JWT")
    assert lines[1] == "Chain, oldest first:"
    assert [old in lines[2], new in lines[3]] == [True, True]
    assert "[superseded]" in lines[2]
    assert lines[4].startswith("Explains: Tokens expire")
    assert other in lines[4]
    words.decide("Use cookies")
    assert "Also: auth: Use JWT" in words.call("search/by_topic", topic="auth").text
    assert words.call("search/by_topic", topic="auths").text.splitlines() == [
        "No live memory has this topic.",
        "Near topics: auth",
    ]


# -- search/by_context


@pytest.mark.promise("000-007")
def test_one_search_covers_decisions_checkpoints_insights_and_facts(words, four):
    assert set(words.hits("sailing")) == set(four.values())
    told = {each["type"]: each["id"] for each in words.ask("search/by_context", query="sailing")["memories"]}
    assert told == four


@pytest.mark.promise("000-058")
def test_a_question_in_other_words_finds_by_meaning_the_best_first(facts):
    facts.store("The build takes four minutes")
    piano = facts.learn("The user plays the piano every evening")
    redux = facts.decide("Leave Redux for signals", "state", reasoning="Too much ceremony")
    assert facts.hits("which musical instrument?", limit=1) == [piano]
    assert facts.hits("why did we drop Redux?", limit=1) == [redux]
    answer = facts.ask("search/by_context", query="what does the user play?")["memories"]
    scores = [each["relevance_score"] for each in answer]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= each <= 1 for each in scores)


def test_the_reasoning_of_a_decision_leads_to_it(words):
    kept = words.decide("Use JWT", reasoning="Survives the restarts of our containers")
    assert words.hits("container restarts") == [kept]


@pytest.mark.promise("000-058")
def test_hits_are_followed_along_links_to_depth_five_behind_what_the_question_met(words):
    ids = [words.learn("kiwi juice")]
    for number in range(6):
        ids.append(linked(words, f"step {number}", ids[-1]))
    other = words.learn("kiwi market")
    assert words.hits("kiwi juice", limit=20) == [ids[0], other, *ids[1:6]]
    (last,) = words.ask("search/by_context", query="kiwi juice", limit=3)["memories"][2:]
    assert last["id"] == ids[1]
    assert list(last["why"]) == ["linked"]


def test_a_link_leads_only_to_what_the_search_may_answer_with(words):
    kept = words.learn("kiwi juice")
    types, old, unsure = (
        linked(words, "a", kept),
        linked(words, "b", kept),
        linked(words, "c", kept, confidence=0.2),
    )
    doubtful = words.learn("d", confidence=0.3, links=[{"to_id": kept, "relationship": "refines"}])
    theirs = words.of(place=Place(name="theirs")).learn(
        "e", links=[{"to_id": kept, "relationship": "refines"}]
    )
    words.whence.archive(old)
    found = words.hits("kiwi", limit=20)
    assert found == [kept, *sorted([types, doubtful], key=found.index)]
    assert not {old, unsure, theirs} & set(found)
    assert words.hits("kiwi", types=["decision"]) == []
    assert words.hits("kiwi", min_confidence=0.5) == [kept, types]
    assert theirs in words.hits("kiwi", workspace="*")


@pytest.mark.promise("000-078")
def test_a_link_to_the_best_hit_raises_a_memory_above_its_equal(words):
    best = words.learn("kiwi juice")
    first, second = words.learn("kiwi market red"), words.learn("kiwi market tea")
    before = words.ask("search/by_context", query="kiwi juice")["memories"]
    assert [each["id"] for each in before] == [best, second, first], "of equals the newer goes first"
    words.whence.link(first, Tie(to_id=best, relationship="refines"))
    after = words.ask("search/by_context", query="kiwi juice")["memories"]
    assert [each["id"] for each in after] == [best, first, second]
    assert "linked" in after[1]["why"]
    assert "linked" not in after[2]["why"]


def test_a_link_does_not_raise_above_a_clearly_better_answer(words):
    best = words.learn("kiwi juice recipe with lime")
    better = words.learn("kiwi juice recipe with mint")
    worse = linked(words, "a market", best)
    assert words.hits("kiwi juice recipe with lime")[:2] == [best, better]
    assert words.hits("kiwi juice recipe with lime")[2] == worse


def test_outdated_words_lead_to_what_holds_now_with_its_chain(words):
    old = words.decide("Use sessions")
    new = words.decide("Use JWT", supersedes=old)
    reply = words.ask("search/by_context", query="sessions")
    (hit,) = reply["memories"]
    assert (hit["id"], hit["why"]["found_through"]) == (new, old)
    assert [each["id"] for each in reply["evolution"][new]] == [old, new]
    assert reply["evolution"][new][0]["status"] == "superseded"


def test_only_what_has_other_versions_has_an_evolution(words):
    old = words.decide("Use JWT")
    new = words.decide("Use JWT and cookies", supersedes=old, reasoning="Logout")
    words.learn("JWT expires")
    reply = words.ask("search/by_context", query="JWT")
    assert len(reply["memories"]) == 2
    assert list(reply["evolution"]) == [new]
    without = words.ask("search/by_context", query="JWT", include_evolution=False)
    assert without["evolution"] == {}
    assert without["memories"] == reply["memories"]


def test_five_come_when_not_told_and_never_more_than_the_limit(words):
    for number in range(22):
        words.learn(f"boat number {number}")
    assert len(words.hits("boat")) == 5
    for limit in (1, 7, 20, 7.0):
        assert len(words.hits("boat", limit=limit)) == limit


def test_types_narrow_the_answer(words, four):
    for kind, memory_id in four.items():
        assert words.hits("sailing", types=[kind]) == [memory_id]
    assert set(words.hits("sailing", types=["decision", "fact"])) == {four["decision"], four["fact"]}
    assert set(words.hits("sailing", types=[])) == set(four.values())


def test_as_of_answers_with_what_held_then(words):
    old = words.decide("Use sessions", valid_from="2020-01-01")
    new = words.decide("Use JWT sessions", supersedes=old, valid_from="2024-06-15T10:00:00Z")
    assert words.hits("sessions", as_of="2022-01-01") == [old]
    assert words.hits("sessions", as_of="2024-06-15T09:59:59Z") == [old]
    assert words.hits("sessions", as_of="2024-06-15T10:00:00Z") == [new]
    assert words.hits("sessions", as_of="2019-01-01") == []


def test_min_confidence_leaves_the_unsure_out(words):
    unsure, sure = (
        words.decide("Use JWT", confidence=0.3),
        words.decide("Use JWT keys", "keys", confidence=0.9),
    )
    assert set(words.hits("JWT", min_confidence=0.3)) == {unsure, sure}
    assert words.hits("JWT", min_confidence=0.31) == [sure]
    assert words.hits("JWT", min_confidence=1) == []


def test_a_token_budget_is_kept_and_what_did_not_fit_is_told(words):
    for number in range(4):
        words.learn(f"boat number {number}, a very long wooden boat with two masts")
    outcome = words.call("search/by_context", query="boat", max_tokens=40)
    assert 1 <= len(outcome.structured["memories"]) < 4
    (notice,) = [each for each in outcome.notices if "did not fit" in each]
    assert notice in outcome.structured["notices"]
    reply = words.ask("search/by_context", query="boat", max_tokens=1)
    assert reply["memories"] == []
    assert reply["explain"] == "The best answer alone is longer than max_tokens 1."


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"query": "kubernetes"}, "Searched 2 memories of this workspace and global; left out 1 superseded"),
        ({"query": "JWT", "types": ["fact"]}, "of other types"),
        ({"query": "JWT", "as_of": "2001-01-01"}, "not holding at 2001-01-01"),
        ({"query": "frontend"}, "1 in other workspaces"),
        ({"query": "kubernetes", "workspace": "*"}, "memories of all workspaces"),
        ({"query": "JWT", "min_confidence": 0.95}, "below that confidence"),
    ],
)
def test_an_empty_answer_says_what_was_searched_and_left_out(words, arguments, why):
    old = words.decide("Use sessions")
    words.decide("Use JWT", supersedes=old)
    words.decide("Use nginx", "proxy")
    words.of(place=Place(name="theirs")).decide("Use Vue", "frontend")
    outcome = words.call("search/by_context", **arguments)
    assert outcome.structured["memories"] == []
    assert outcome.structured["evolution"] == {}
    assert why in outcome.structured["explain"]
    assert outcome.text.startswith(f"No memory answers this. {outcome.structured['explain']}")


def test_an_empty_store_answers_with_nothing_and_says_so(words):
    reply = words.ask("search/by_context", query="anything")
    assert reply["memories"] == []
    assert reply["explain"].startswith("Searched 0 memories")


def test_an_answer_does_not_explain_why_there_is_none(words):
    words.decide()
    assert "explain" not in words.ask("search/by_context", query="JWT")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "query is required"),
        ({"query": None}, "query must be text"),
        ({"query": ""}, "query must not be empty"),
        ({"query": "x" * 10_001}, "query must be at most 10,000 characters"),
        *(
            ({"query": "x", "limit": limit}, "limit must be a whole number from 1 to 20")
            for limit in (0, 21, 2.5, -1, "5", True, None)
        ),
        ({"query": "x", "types": "decision"}, "types must be a list"),
        ({"query": "x", "types": ["preference"]}, 'types[0] must be "decision" or "checkpoint" or "insight"'),
        ({"query": "x", "types": ["fact", 5]}, 'types[1] must be "decision"'),
        ({"query": "x", "as_of": "the day before"}, "as_of must be an ISO 8601 time"),
        ({"query": "x", "as_of": 5}, "as_of must be text"),
        ({"query": "x", "include_evolution": 1}, "include_evolution must be true or false"),
        *(
            ({"query": "x", "min_confidence": confidence}, "min_confidence must be a number from 0 to 1")
            for confidence in (-0.1, 1.1, "0.5", None, float("nan"))
        ),
        ({"query": "x", "max_tokens": 0}, "max_tokens must be a whole number from 1 to 100"),
        ({"query": "x", "workspace": "nowhere"}, 'Workspace "nowhere" not found'),
        ({"query": "x", "colour": "red"}, 'Unknown parameter "colour"'),
    ],
)
def test_a_bad_search_by_context_is_refused_in_one_sentence(words, arguments, message):
    words.decide()
    error = words.refused("search/by_context", **arguments)
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith(message)


def test_a_korean_question_finds_a_korean_memory(words):
    kept = words.learn("토큰은 한 시간 뒤에 만료된다")
    words.learn("빌드는 사 분이 걸린다")
    assert words.hits("토큰 만료") == [kept]


def test_the_text_of_an_answer_says_because_and_before(words):
    old = words.decide("Use sessions", reasoning="Simple")
    new = words.decide("Use JWT", supersedes=old, reasoning="Stateless")
    words.ask("evolve/outcome", decision_id=new, outcome="SUCCESS")
    lines = words.call("search/by_context", query="JWT").text.splitlines()
    assert lines[0].startswith("- auth: Use JWT")
    assert "[outcome SUCCESS]" in lines[0]
    assert new in lines[0]
    assert lines[1] == "  because: Stateless"
    assert lines[2].startswith("  before: ")
    assert old in lines[2]


def test_without_a_model_words_answer_and_the_reply_says_so(words):
    kept = words.decide()
    outcome = words.call("search/by_context", query="JWT")
    assert [each["id"] for each in outcome.structured["memories"]] == [kept]
    assert "EMBEDDING_ERROR" in outcome.structured["notices"][0]
    assert "EMBEDDING_ERROR" in outcome.text


# -- search/recent


@pytest.mark.promise("000-059", "000-007")
def test_the_newest_of_every_type_come_first(words, four):
    reply = words.ask("search/recent")
    assert [each["id"] for each in reply["memories"]] == list(four.values())[::-1]
    assert set(reply) == {"memories"}
    assert not any("relevance_score" in each or "why" in each for each in reply["memories"])


@pytest.mark.promise("000-059")
def test_a_list_follows_no_link(words):
    far = words.learn("far")
    newest = linked(words, "newest", far)
    assert recent(words, limit=1) == [newest]
    assert recent(words, types=["decision"]) == []


def test_ten_come_when_not_told_and_at_most_fifty(words):
    ids = [words.learn(f"lesson {number}") for number in range(51)]
    assert recent(words) == ids[::-1][:10]
    for limit in (1, 50, 50.0):
        assert recent(words, limit=limit) == ids[::-1][: int(limit)]


def test_types_narrow_the_list(words, four):
    for kind, memory_id in four.items():
        assert recent(words, types=[kind]) == [memory_id]
    assert recent(words, types=["fact", "decision"]) == [four["fact"], four["decision"]]


def test_since_leaves_out_what_was_saved_before(words, clock):
    words.learn("before")
    clock.advance(DAY)
    moment = clock.now()
    clock.advance(DAY)
    after = [words.learn(f"after {number}") for number in range(3)]
    assert recent(words, since=iso(moment)) == after[::-1]
    assert recent(words, since=iso(moment + DAY * 3)) == []
    assert recent(words, since=iso(moment), limit=2) == after[::-1][:2]


def test_what_was_replaced_or_put_away_is_not_listed(words):
    old, put_away = words.decide("Use sessions"), words.learn("x")
    new = words.decide("Use JWT", supersedes=old)
    words.whence.archive(put_away)
    assert recent(words) == [new]


def test_a_list_is_of_here_and_global_unless_asked_elsewhere(words):
    here = words.learn("here")
    theirs = words.of(place=Place(name="theirs")).learn("theirs")
    everywhere = words.learn("everywhere", workspace="global")
    assert recent(words) == [everywhere, here]
    assert recent(words, workspace="theirs") == [everywhere, theirs]
    assert recent(words, workspace="*") == [everywhere, theirs, here]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            ({"limit": limit}, "limit must be a whole number from 1 to 50")
            for limit in (0, 51, 2.5, "1", None, True)
        ),
        ({"types": ["memory"]}, "types[0] must be"),
        ({"types": "fact"}, "types must be a list"),
        ({"since": "lately"}, "since must be an ISO 8601 time"),
        ({"since": 5}, "since must be text"),
        ({"workspace": "nowhere"}, 'Workspace "nowhere" not found'),
        ({"query": "x"}, 'Unknown parameter "query"'),
    ],
)
def test_a_bad_list_is_refused_in_one_sentence(words, arguments, message):
    words.decide()
    error = words.refused("search/recent", **arguments)
    assert error["code"] == "INVALID_PARAMETER"
    assert error["message"].startswith(message)


def test_the_text_of_a_list_has_a_line_for_each(words):
    one, two = words.decide(), words.learn("Tokens expire")
    lines = words.call("search/recent").text.splitlines()
    assert [two in lines[0], one in lines[1]] == [True, True]
    assert lines[1].startswith("- auth: Use JWT")
    assert words.call("search/recent", types=["fact"]).text == "Nothing that fits is stored here yet."


# -- all three


@pytest.mark.parametrize("tool", ["search/by_topic", "search/by_context", "search/recent"])
def test_the_replies_are_what_the_list_of_tools_says_they_are(words, tool):
    asked = {"search/by_topic": {"topic": "auth"}, "search/by_context": {"query": "JWT"}}.get(tool, {})
    schema = find_tool(tool).output_schema()
    validate(words.ask(tool, **asked), schema)
    old = words.decide("Use JWT", reasons=["x"])
    new = words.decide("Use JWT cookies", supersedes=old)
    linked(words, "JWT expires", new)
    validate(words.ask(tool, **asked), schema)


@pytest.mark.parametrize("tool", ["search/by_topic", "search/by_context", "search/recent"])
def test_a_search_founds_no_workspace(words, tool):
    asked = {"search/by_topic": {"topic": "auth"}, "search/by_context": {"query": "JWT"}}.get(tool, {})
    words.ask(tool, **asked)
    assert words.whence.store.workspaces() == []


def test_what_other_families_do_is_seen_here(words):
    fact = words.store("The office cat is Miso")
    assert words.hits("office cat") == recent(words) == [fact]
    old, new = words.decide("Use sessions"), words.decide("Use JWT")
    words.ask("supersede_memory", old_memory_id=old, new_memory_id=new)
    assert topic(words, "auth")["current"]["id"] == new
    assert [each["id"] for each in topic(words, "auth")["evolution_chain"]] == [old, new]
    assert words.hits("Use sessions") == [new]
    assert recent(words) == [new, fact]
