"""Run one eval and print its figures."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # also runs where nothing is installed

EVALS = {
    name: f"evals.{name}"
    for name in (
        "locomo",
        "beam",
        "current",
        "supersedes",
        "precision",
        "duplicates",
        "korean",
        "conflicts",
        "links",
    )
}


def _trouble() -> str | None:
    """Return why no eval can run, if so."""
    from evals.store import models  # here: the path above must be set first
    from whence.core.errors import EmbeddingUnavailable

    try:
        _ = models().latin
    except EmbeddingUnavailable as error:
        return f"{error.message}; run `whence model install`."
    return None


def _lines(figures: dict[str, object], under: str = "") -> list[str]:
    """Return the figures as lines of a table, finer ones after the overall ones."""
    flat = [(name, value) for name, value in figures.items() if not isinstance(value, dict)]
    lines = [f"{under + name:<44} {_shown(value):>12}" for name, value in flat]
    for name, value in figures.items():
        if isinstance(value, dict):
            lines += _lines(value, f"{under}{name}.")
    return lines


def _shown(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    parser.add_argument("name", choices=sorted(EVALS))
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds the sets")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args(arguments)
    if not asked.data.is_dir():
        print(f"{asked.data} is no folder; give the folder of the sets with --data.", file=sys.stderr)
        return 1
    trouble = _trouble()
    if trouble is not None:
        print(trouble, file=sys.stderr)
        return 1
    began = time.monotonic()
    try:
        found: dict[str, object] = importlib.import_module(EVALS[asked.name]).run(asked.data, asked.split)
    except FileNotFoundError as error:
        print(f"{error.filename} is not there; check --data and --split.", file=sys.stderr)
        return 1
    figures = {
        "name": asked.name,
        "split": asked.split,
        **found,
        "seconds": round(time.monotonic() - began, 1),
    }
    print(json.dumps(figures, ensure_ascii=False) if asked.json else "\n".join(_lines(figures)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
