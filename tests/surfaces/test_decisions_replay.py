"""Does decision_memory answer 59 calls as 4DA's own program did, but for what was corrected on purpose?"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from tests.conftest import SHARED

from whence.core.times import SECOND

TRANSCRIPT = SHARED / "fixtures" / "4da" / "transcript_v4.0.1.json"
TIMES = ("created_at", "updated_at")
AS_WRITTEN = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
CACHE = {
    "id": 30,
    "decision_type": "architecture",
    "subject": "cache",
    "decision": "Read-through LRU in process",
    "rationale": "95% reads",
    "alternatives_rejected": ["Redis", "Memcached"],
    "context_tags": ["performance"],
    "confidence": 0.75,
    "status": "active",
}
AGAINST_CACHE = {  # by substring, as documented: "Memcached" holds it
    "decision_id": 30,
    "subject": "cache",
    "reason": "'cache' was rejected in favor of 'Read-through LRU in process' (rationale: 95% reads)",
}


def unknown(number: int) -> dict[str, Any]:
    return {"error": f"Decision {number} not found. Use the list action to see decisions."}


# RULINGS D7: at which call, counted from nought, our answer is another one, why, and what it is now.
CORRECTED: dict[int, tuple[str, Any]] = {
    36: ("its program said that it had updated a decision that does not exist", unknown(9999)),
    55: (
        "its program ignored the pattern beside the technology",
        lambda theirs: {**theirs, "conflicts": [*theirs["conflicts"], AGAINST_CACHE]},
    ),
    56: (
        "its program ignored the pattern, and so found nothing to look for",
        {"aligned": False, "relevant_decisions": [CACHE], "conflicts": [AGAINST_CACHE], "confidence": 0.75},
    ),
    57: (
        "its program let a decision supersede itself",
        {"error": "Decision 1 cannot supersede itself. Give the ids of two different decisions."},
    ),
    58: ("its program threw at a successor that does not exist", unknown(4242)),
}


def timeless(reply):
    """Return a reply without its times, which must be written as 4DA wrote them, and without our advice."""
    kept = {name: value for name, value in reply.items() if name != "possible_conflicts"}
    for name in ("decisions", "relevant_decisions"):
        if name in kept:
            assert all(
                AS_WRITTEN.fullmatch(each[time]) for each in kept[name] for time in TIMES if time in each
            )
            kept[name] = [{key: told[key] for key in told if key not in TIMES} for told in kept[name]]
    return kept


def touched(reply):
    """Return which of the listed decisions changed after they were made."""
    return [each["created_at"] != each["updated_at"] for each in reply.get("decisions", [])]


@pytest.mark.promise("004-008", "004-017", "004-018", "004-022", "004-030", "004-031", "004-033", "004-034")
@pytest.mark.promise("004-024", "004-035", "004-039", "004-041", "004-042", "004-043", "004-046", "004-047")
@pytest.mark.skipif(not TRANSCRIPT.is_file(), reason="4DA's transcript lies beside the repository, not in it")
def test_every_call_is_answered_as_4da_answered_it_but_for_the_five_corrected_ones(facts, clock):
    transcript = json.loads(TRANSCRIPT.read_text(encoding="utf-8"))
    assert len(transcript) == 59
    for number, (asked, theirs) in enumerate(transcript):
        clock.advance(SECOND)  # as its calls were made: each in a second of its own
        outcome = facts.call("decision_memory", **asked)
        ours, wanted = timeless(outcome.structured), timeless(theirs)
        if number in CORRECTED:
            why, now = CORRECTED[number]
            assert ours != wanted, f"call {number} needs no correction any more: {why}"
            wanted = now(wanted) if callable(now) else now
        assert ours == wanted, f"call {number}: {asked}"
        assert outcome.is_error is ("error" in wanted), f"call {number}: {asked}"
        assert touched(outcome.structured) == touched(theirs), f"call {number}: {asked}"
    # What was corrected left nothing behind.
    listed = facts.ask("decision_memory", action="list", limit=1000)["decisions"]
    assert len(listed) == 30
    assert {each["id"]: each["superseded_by"] for each in listed if each["superseded_by"]} == {3: 4, 10: 11}
