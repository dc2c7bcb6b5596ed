"""Run one bench and print its figures."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))  # also runs where nothing is installed

BENCHES = ("search", "save", "start", "write", "graph", "metadata")


def _lines(figures: dict[str, Any], under: str = "") -> list[str]:
    lines = [
        f"{under + name:<44} {value:>12}" for name, value in figures.items() if not isinstance(value, dict)
    ]
    for name, value in figures.items():
        if isinstance(value, dict):
            lines += _lines(value, f"{under}{name}.")
    return lines


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("name", choices=BENCHES)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--n", help=argparse.SUPPRESS)  # smaller numbers, for a test
    asked = parser.parse_args(arguments)
    sizes = [int(each) for each in asked.n.split(",")] if asked.n else None
    bench = importlib.import_module(f"bench.{asked.name}")
    try:
        figures: dict[str, Any] = {"name": asked.name, **bench.run(sizes)}
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(figures) if asked.json else "\n".join(_lines(figures)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
