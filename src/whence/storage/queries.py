"""Named queries, read from .sql files."""

import re
from functools import cache
from importlib.resources import files

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def named_queries(dialect: str) -> dict[str, str]:
    """Return every query of `sql/<dialect>/queries.sql` by its name."""
    text = files("whence.storage").joinpath("sql", dialect, "queries.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text)[1:]
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
