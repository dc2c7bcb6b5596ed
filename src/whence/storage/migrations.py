"""Numbered migrations: what a store must have run before it is used."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered .sql file."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def migrations(dialect: str) -> tuple[Migration, ...]:
    """Return the migrations of a dialect in order."""
    folder = files("whence.storage").joinpath("sql", dialect, "migrations")
    found = sorted((each for each in folder.iterdir() if each.name.endswith(".sql")), key=lambda e: e.name)
    return tuple(
        Migration(int(each.name[:4]), each.name.removesuffix(".sql"), each.read_text(encoding="utf-8"))
        for each in found
    )
