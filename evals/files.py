"""The sets on disk, plain or compressed."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def text_of(path: Path) -> str:
    """Return the text of a file, or of its `.gz` where only that is there."""
    packed = path if path.suffix == ".gz" else path.with_name(f"{path.name}.gz")
    if path.suffix != ".gz" and (path.exists() or not packed.exists()):
        return path.read_text(encoding="utf-8-sig")
    return gzip.decompress(packed.read_bytes()).decode("utf-8-sig")


def json_of(path: Path) -> Any:  # noqa: ANN401  the published form, read by its eval
    """Return what a JSON file holds."""
    return json.loads(text_of(path))


def lines_of(path: Path) -> list[Any]:
    """Return the objects of a file of JSON lines."""
    # Not splitlines: a text may hold the separators that only Unicode calls line ends.
    return [json.loads(line) for line in text_of(path).split("\n") if line.strip()]
