"""Where a long text may be cut: after a paragraph, else a line, else a sentence, else a word."""

import re

_ENDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\n\s*\n",
        r"\n",
        r"""[.!?…]["')\]]*\s+|[。！？]+""",  # noqa: RUF001 (Chinese and Japanese sentences end so)
        r"\s+",
    )
)


def last_end(text: str, low: int, high: int) -> int:
    """The last good place to cut after `low` and not after `high`; `high` itself where there is none."""
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high
