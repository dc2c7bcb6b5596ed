"""Secrets: what must never be stored is masked before anything is."""

import re
from dataclasses import dataclass
from typing import Any, TypeAlias

_KINDS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "private key",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?"
            r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
            re.DOTALL,
        ),
    ),
    ("password in a URL", re.compile(r"(?<=://)([^\s:/@\"']*):([^\s/@\"']+)(?=@)")),
    ("GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})")),
    ("GitLab token", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,}")),
    ("Anthropic key", re.compile(r"\bsk-ant-[A-Za-z0-9_-]{20,}")),
    ("API key", re.compile(r"\b(?:sk|pk|rk)[-_](?:live|test|proj|svcacct|or-v1)[-_][A-Za-z0-9_-]{16,}")),
    ("API key", re.compile(r"\bsk-[A-Za-z0-9]{32,}")),
    ("AWS key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("Google key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}")),
    ("Slack token", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}")),
    ("package index token", re.compile(r"\b(?:pypi-[A-Za-z0-9_-]{50,}|npm_[A-Za-z0-9]{36})")),
    ("model hub token", re.compile(r"\bhf_[A-Za-z0-9]{30,}")),
    ("JSON web token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}")),
    ("bearer token", re.compile(r"(?i)(?<=\bbearer )[A-Za-z0-9._~+/-]{20,}=*")),
    (
        "credential",
        re.compile(
            r"(?i)(?<![A-Za-z])(?:[A-Z0-9_.-]*(?:password|passwd|secret|api[_-]?key|access[_-]?key|"
            r"auth[_-]?token|access[_-]?token|private[_-]?key))[\"']?\s*(?:=|:=?)\s*"
            r"(?P<value>\"[^\"\n]{6,}\"|'[^'\n]{6,}'|(?=\S*[0-9!@#$%^&*])[^\s\"',;]{8,})"
        ),
    ),
)


Anything: TypeAlias = Any  # what JSON holds, tuples included


@dataclass(frozen=True, slots=True)
class Masked:
    """A text without its secrets, and what kinds they were."""

    text: str
    kinds: tuple[str, ...]


def _mask_match(kind: str, match: re.Match[str]) -> str:
    if kind == "password in a URL":
        return f"{match.group(1)}:[masked password]"
    if kind == "credential":
        start = match.start("value") - match.start()
        return f"{match.group()[:start]}[masked credential]"
    return f"[masked {kind}]"


def mask(text: str) -> Masked:
    """Return the text with every key, token and password replaced by a word."""
    found: list[str] = []
    for kind, pattern in _KINDS:

        def replacement(match: re.Match[str], kind: str = kind) -> str:
            if match.group().endswith("]") and "[masked" in match.group():
                return match.group()
            found.append(kind)
            return _mask_match(kind, match)

        text = pattern.sub(replacement, text)
    return Masked(text, tuple(dict.fromkeys(found)))


def mask_within(value: Anything) -> tuple[Anything, tuple[str, ...]]:
    """Return JSON without the secrets in any of its texts, and what kinds they were."""
    kinds: list[str] = []

    def clean(each: Anything) -> Anything:
        if isinstance(each, str):
            masked = mask(each)
            kinds.extend(masked.kinds)
            return masked.text
        if isinstance(each, dict):
            return {name: clean(inner) for name, inner in each.items()}
        if isinstance(each, list | tuple):
            return type(each)(clean(inner) for inner in each)
        return each

    return clean(value), tuple(dict.fromkeys(kinds))
