"""Is every promise of a delivered issue signed by a test? Reads the tests, runs none of them."""

import ast
import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MANIFEST = ROOT / "docs" / "promises" / "promises.tsv"

DELIVERED = frozenset({2, 3})  # issues whose promises are due
OPEN: dict[str, str] = {}  # a promise that is due and not signed yet -> why


@dataclass(frozen=True)
class Promise:
    id: str
    issue: int | None  # None: dropped, `decided` says why
    sentence: str
    decided: str


@dataclass(frozen=True)
class Signature:
    where: str
    promise: str | None  # None: not written out as a string


def promises() -> dict[str, Promise]:
    with MANIFEST.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        found = [
            Promise(
                id=row["id"],
                issue=None if row["issue"] == "-" else int(row["issue"]),
                sentence=row["promise"],
                decided=row["decided"],
            )
            for row in rows
        ]
    twice = [key for key, count in Counter(promise.id for promise in found).items() if count > 1]
    assert not twice, f"listed twice: {twice}"
    return {promise.id: promise for promise in found}


def signatures(source: str, name: str) -> Iterator[Signature]:
    """Find every `pytest.mark.promise(...)`: a decorator, a `pytestmark`, the marks of one case."""
    for node in ast.walk(ast.parse(source, name)):
        if isinstance(node, ast.Call) and is_promise_mark(node.func):
            where = f"{name}:{node.lineno}"
            for given in node.args or [node]:
                written = isinstance(given, ast.Constant) and isinstance(given.value, str)
                yield Signature(where, given.value if written else None)


def is_promise_mark(func: ast.expr) -> bool:
    match func:
        case ast.Attribute(attr="promise", value=ast.Attribute(attr="mark") | ast.Name(id="mark")):
            return True
        case _:
            return False


def wrongly_signed(signed: list[Signature], known: Mapping[str, Promise]) -> list[str]:
    unwritten = [f"{one.where}: write each promise out as a string" for one in signed if one.promise is None]
    unknown = [
        f"{one.where}: {one.promise} is no promise of the documents"
        for one in signed
        if one.promise is not None and one.promise not in known
    ]
    return unwritten + unknown


def unsigned(
    signed: list[Signature],
    known: Mapping[str, Promise],
    delivered: frozenset[int],
    left_open: Mapping[str, str],
) -> list[str]:
    by_tests = {one.promise for one in signed}
    return [
        f"{promise.id} (issue {promise.issue}) is signed by no test: {promise.sentence}"
        + (f" [decided: {promise.decided}]" if promise.decided else "")
        for promise in known.values()
        if promise.issue in delivered and promise.id not in by_tests and promise.id not in left_open
    ]


def wrongly_open(
    signed: list[Signature], known: Mapping[str, Promise], left_open: Mapping[str, str]
) -> list[str]:
    by_tests = {one.promise for one in signed}
    return (
        [f"{key} is left open but is no promise" for key in left_open if key not in known]
        + [f"{key} is left open without a reason" for key, reason in left_open.items() if not reason.strip()]
        + [f"{key} is left open but signed by a test" for key in left_open if key in by_tests]
    )


def signed_in_tests() -> list[Signature]:
    return [
        signature
        for path in sorted((ROOT / "tests").rglob("*.py"))
        for signature in signatures(path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
    ]


def test_every_promise_of_a_delivered_issue_is_signed_by_a_test():
    missing = unsigned(signed_in_tests(), promises(), DELIVERED, OPEN)
    assert not missing, f"{len(missing)} promises:\n" + "\n".join(missing)


def test_tests_sign_only_promises_that_exist():
    wrong = wrongly_signed(signed_in_tests(), promises())
    assert not wrong, "\n".join(wrong)


def test_a_promise_left_open_says_why():
    wrong = wrongly_open(signed_in_tests(), promises(), OPEN)
    assert not wrong, "\n".join(wrong)


def test_the_manifest_lists_every_promise_once_with_its_issue_or_the_reason_it_was_dropped():
    known = promises()
    assert len(known) == 421
    assert all(re.fullmatch(r"00\d-\d{3}", key) for key in known)
    assert all(promise.sentence.strip() for promise in known.values())
    assert not [
        key for key, promise in known.items() if promise.issue is None and not promise.decided.strip()
    ]


# Ids of the made-up tests start with 9, so that nothing takes them for signatures of real promises.
MADE_UP = {
    key: Promise(id=key, issue=issue, sentence=f"sentence {key}", decided="")
    for key, issue in {"900-001": 1, "900-002": 1, "900-003": 1, "900-004": 1, "900-005": 7}.items()
}
MADE_UP_TESTS = """
import pytest
pytestmark = pytest.mark.promise("900-001")

@pytest.mark.promise("900-002", "900-404")
def test_it(): ...

@pytest.mark.parametrize("case", [pytest.param(1, marks=pytest.mark.promise("900-003"))])
def test_cases(case): ...

@pytest.mark.promise(*NAMED_ELSEWHERE)
def test_unwritten(): ...

@pytest.mark.promise()
def test_empty(): ...
"""


def test_the_check_reports_an_unknown_promise_and_one_not_written_out():
    wrong = wrongly_signed(list(signatures(MADE_UP_TESTS, "made_up.py")), MADE_UP)
    assert wrong == [
        "made_up.py:11: write each promise out as a string",
        "made_up.py:14: write each promise out as a string",
        "made_up.py:5: 900-404 is no promise of the documents",
    ]


def test_the_check_reports_only_the_due_promise_that_no_test_signs():
    signed = list(signatures(MADE_UP_TESTS, "made_up.py"))
    missing = unsigned(signed, MADE_UP, frozenset({1}), {})
    assert missing == ["900-004 (issue 1) is signed by no test: sentence 900-004"]
    assert unsigned(signed, MADE_UP, frozenset({1}), {"900-004": "waits for a client"}) == []


def test_the_check_reports_a_promise_left_open_without_a_reason_or_in_vain():
    signed = list(signatures(MADE_UP_TESTS, "made_up.py"))
    assert wrongly_open(signed, MADE_UP, {"900-405": "a slip", "900-004": " ", "900-001": "later"}) == [
        "900-405 is left open but is no promise",
        "900-004 is left open without a reason",
        "900-001 is left open but signed by a test",
    ]
