"""Is a filter on JSON metadata as fast as the same filter on columns of their own?"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from bench.corpus import Language, found_workspace
from bench.figures import against
from whence.bootstrap import TENANT, SystemClock
from whence.core.ids import memory_id
from whence.core.memories import SCHEMA_VERSION, Memory
from whence.storage import open_store
from whence.storage.queries import named_queries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from whence.core.ports import Store

SIZES = (10_000,)
WARM, ASKED = 20, 300
LIMIT = 20
KINDS = ("tech_choice", "architecture", "pattern", "workflow", "api", "naming")
OUTCOMES = ("SUCCESS", "FAILED", "PARTIAL", None, None, None)
STATUSES = ("active", "active", "active", "reconsidering", "archived")
_BATCH = 1_000
_FILTER = "json_extract(m.metadata, '$.decision_type')"
# As the former tables had them; the same rows, the same indexes.
_PLAIN = """
CREATE TABLE plain AS SELECT *, json_extract(metadata, '$.decision_type') AS decision_type,
    json_extract(metadata, '$.outcome') AS outcome FROM memories;
CREATE UNIQUE INDEX plain_key ON plain (tenant, id);
CREATE INDEX plain_by_updated ON plain (tenant, workspace, updated_at, number) WHERE type = 'decision';
CREATE INDEX plain_by_type ON plain (tenant, workspace, decision_type, updated_at, number)
    WHERE type = 'decision';
CREATE INDEX plain_by_outcome ON plain (tenant, workspace, outcome, updated_at, number)
    WHERE type = 'decision';
"""


def run(sizes: Sequence[int] | None) -> dict[str, Any]:
    """Return the figures of every size of store; the floor is the filter on columns."""
    by_n: dict[str, dict[str, Any]] = {}
    for size in sizes or SIZES:
        with tempfile.TemporaryDirectory(prefix="whence-bench-") as folder:
            by_n[str(size)] = _measure(Path(folder) / "bench.db", size)
    largest = by_n[str(max(sizes or SIZES))]
    return {**largest["decision_type"], **largest, "by_n": by_n}


def _measure(path: Path, size: int) -> dict[str, Any]:
    store = open_store(f"sqlite:///{path}", tenant=TENANT, clock=SystemClock())
    language = Language()
    workspace = found_workspace(store, "bench", SystemClock().now())
    _decide(store, workspace, language, size)
    store.close()
    connection = apsw.Connection(str(path))
    connection.execute(_PLAIN).fetchall()
    told = {
        "decision_type": _compare(connection, workspace, "decision_type", KINDS, language.chance),
        "outcome": _compare(connection, workspace, "outcome", OUTCOMES[:3], language.chance),
    }
    connection.close()
    return told


def _decide(store: Store, workspace: str, language: Language, size: int) -> None:
    """Store decisions of every kind, outcome and status."""
    now, chance = SystemClock().now(), language.chance
    for start in range(0, size, _BATCH):
        with store.writing() as writing:
            for number in range(start, min(start + _BATCH, size)):
                moment = now + number
                details = {"decision_type": chance.choice(KINDS), "outcome": chance.choice(OUTCOMES)}
                given = {name: value for name, value in details.items() if value is not None}
                made = Memory(
                    id=memory_id("decision", moment),
                    type="decision",
                    content=language.text(20),
                    workspace=workspace,
                    created_at=moment,
                    updated_at=moment,
                    accessed_at=moment,
                    valid_from=moment,
                    number=number + 1,
                    status=chance.choice(STATUSES),  # type: ignore[arg-type]  # one of the three
                    metadata={"schema_version": SCHEMA_VERSION, "reasoning": language.text(30), **given},
                )
                writing.insert(made, [])


def _compare(
    connection: apsw.Connection, workspace: str, field: str, values: Sequence[str | None], chance: Random
) -> dict[str, Any]:
    """Return the times of the register's own query beside the same query on columns."""
    by_json = named_queries("sqlite")["decisions_of_type"].replace(
        _FILTER, f"json_extract(m.metadata, '$.{field}')"
    )
    by_column = by_json.replace(f"json_extract(m.metadata, '$.{field}')", f"m.{field}").replace(
        "FROM memories AS m", "FROM plain AS m"
    )
    taken: list[float] = []
    floor: list[float] = []
    for number in range(WARM + ASKED):
        asked = {
            "tenant": TENANT,
            "workspace": workspace,
            "decision_type": chance.choice(values),
            "status": chance.choice((None, "active", "reconsidering", "archived")),
            "least_confidence": 0.0,
            "limit": LIMIT,
        }
        found = {}
        turns = [(by_json, taken), (by_column, floor)]
        for query, times in turns if number % 2 else reversed(turns):
            began = time.perf_counter()
            found[query] = connection.execute(query, asked).fetchall()
            times.append(time.perf_counter() - began)
        if found[by_json] != found[by_column]:
            raise RuntimeError(f"The two filters on {field} disagree.")
    return against(taken[WARM:], floor[WARM:])
