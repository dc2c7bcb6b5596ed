"""Checks: which decisions speak against what a change adds, told to people, programs and code hosts."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote

from whence.core.masking import mask
from whence.features.alignment.rejections import (
    Wanted,
    all_names_of_option,
    chosen_names,
    is_active,
    is_reconsidered,
    is_same_topic,
    main_names_of_option,
    rejected_of,
    rejected_options,
    rejection,
)
from whence.features.alignment.technologies import identity, technology_of_package

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.memories import Json, Memory
    from whence.features.alignment.diffs import Addition

Rule = Literal["rejected", "rejected-in-part", "rejected-elsewhere", "reconsidered"]
Level = Literal["error", "warning", "note"]

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_RULES: Final[dict[Rule, tuple[Level, str]]] = {
    "rejected": ("error", "An active decision rejected this choice."),
    "rejected-in-part": (
        "warning",
        "An active decision rejected a part, an addition or a way of using this.",
    ),
    "rejected-elsewhere": ("warning", "One active decision rejected this choice, another one made it."),
    "reconsidered": ("note", "A decision that is being reconsidered rejected this choice."),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """An addition that a decision speaks against."""

    decision: Memory
    reason: str
    addition: Addition
    hard: bool
    allowed_by: Memory | None = None  # another active decision, which chose what this one rejected

    @property
    def rule(self) -> Rule:
        if self.hard:
            return "rejected"
        if is_reconsidered(self.decision):
            return "reconsidered"
        return "rejected-in-part" if self.allowed_by is None else "rejected-elsewhere"

    @property
    def level(self) -> Level:
        return _RULES[self.rule][0]


def check(decisions: Sequence[Memory], additions: Sequence[Addition]) -> list[Finding]:
    """Return the additions that decisions rejected, in the order of the additions."""
    brought = [_wanted(each) for each in additions]
    every = Wanted(
        frozenset().union(*(each.identities for each in brought)),
        frozenset().union(*(each.starts for each in brought)),
    )
    held = [each for each in decisions if is_active(each) or is_reconsidered(each)]
    suspects = [
        (each, frozenset().union(*map(all_names_of_option, rejected_options(each))))
        for each in held
        if rejected_of(each, every, all_names_of_option) is not None
    ]
    if not suspects:
        return []
    active = [(each, chosen_names(each)) for each in held if is_active(each)]
    choices = [(each, made) for each, made in active if made & every.identities]
    return [
        finding
        for addition, wanted in zip(additions, brought, strict=True)
        for decision, names in suspects
        if not names.isdisjoint(wanted.identities)
        and (finding := _finding(decision, addition, wanted, choices)) is not None
    ]


def _wanted(addition: Addition) -> Wanted:
    names = technology_of_package(addition.ecosystem, addition.package)
    return Wanted.of(map(identity, names), " ".join(names))


def _finding(
    decision: Memory,
    addition: Addition,
    wanted: Wanted,
    choices: Sequence[tuple[Memory, frozenset[str]]],
) -> Finding | None:
    whole = rejected_of(decision, wanted, main_names_of_option)
    # React is not rejected with "React Context", nor Kafka with "self-hosted Kafka".
    option = rejected_of(decision, wanted, all_names_of_option) if whole is None else whole
    if option is None:
        return None
    against = wanted.identities & all_names_of_option(option)
    allowed_by = next((each for each, made in choices if against & made and _outweighs(each, decision)), None)
    hard = whole is not None and allowed_by is None and is_active(decision)
    return Finding(decision, rejection(decision, option).reason, addition, hard, allowed_by)


def _outweighs(choice: Memory, rejecting: Memory) -> bool:
    """True for a choice of another decision: on another topic, or made later."""
    if choice.id == rejecting.id:
        return False
    return not is_same_topic(choice.topic, rejecting.topic) or choice.valid_from > rejecting.valid_from


def told(findings: Sequence[Finding]) -> str:
    """Return one line for each finding, as compilers write them."""
    return "\n".join(
        _printable(f"{each.addition.file}:{each.addition.line}: {_sentence(each)}") for each in findings
    )


def _printable(line: str) -> str:
    """Return the line without what a file name could do to a terminal or to the log of a build."""
    return "".join(each if each.isprintable() else "\ufffd" for each in line)


def _sentence(finding: Finding) -> str:
    aside = {
        "rejected": "",
        "rejected-in-part": ", which may not speak of this",
        "rejected-elsewhere": f"; decision {_name(finding.allowed_by)} chose it"
        if finding.allowed_by
        else "",
        "reconsidered": ", being reconsidered",
    }[finding.rule]
    return f"{' '.join(finding.reason.split())} (decision {_name(finding.decision)}{aside})"


def _name(decision: Memory) -> str:
    return str(_number(decision))


def _number(decision: Memory) -> int | str:
    return decision.id if decision.number is None else decision.number


def as_json(findings: Sequence[Finding]) -> dict[str, Json]:
    """Return the findings for a program; aligned is true when none is hard."""
    return {
        "aligned": not any(each.hard for each in findings),
        "findings": [_as_json(each) for each in findings],
    }


def _as_json(finding: Finding) -> dict[str, Json]:
    addition = finding.addition
    return {
        "level": finding.level,
        "rule": finding.rule,
        "hard": finding.hard,
        "decision_id": _number(finding.decision),
        "memory_id": finding.decision.id,
        "subject": finding.decision.topic,
        "reason": finding.reason,
        "file": addition.file,
        "line": addition.line,
        "text": mask(addition.text).text,  # an address of a package may hold a password
        "package": addition.package,
        "ecosystem": addition.ecosystem,
        "why": addition.why,
    }


def sarif(findings: Sequence[Finding], version: str) -> dict[str, Json]:
    """Return the findings as a SARIF 2.1.0 log, which code hosts show beside the lines."""
    rules: list[Json] = [
        {
            "id": name,
            "shortDescription": {"text": text},
            "defaultConfiguration": {"level": level},
        }
        for name, (level, text) in _RULES.items()
    ]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "whence", "version": version, "rules": rules}},
                "results": [_sarif_result(each) for each in findings],
            }
        ],
    }


def _sarif_result(finding: Finding) -> Json:
    addition = finding.addition
    return {
        "ruleId": finding.rule,
        "ruleIndex": list(_RULES).index(finding.rule),
        "level": finding.level,
        "message": {"text": _sentence(finding)},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {
                        "uri": quote(addition.file.lstrip("/"), errors="replace"),
                        "uriBaseId": "%SRCROOT%",
                    },
                    "region": {"startLine": addition.line},
                }
            }
        ],
        "partialFingerprints": {"decisionAndPackage/v1": _fingerprint(finding)},
    }


def _fingerprint(finding: Finding) -> str:
    """Return what stays when the line moves, so that a host knows the finding again."""
    addition = finding.addition
    parts = (finding.decision.id, addition.file, addition.ecosystem, addition.package, addition.why)
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()
