"""Diffs: what a change adds to a project: dependencies, imports and images."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from whence.features.alignment.imports import import_reader
from whence.features.alignment.manifests import manifest_reader
from whence.features.alignment.patches import read_patch
from whence.features.alignment.technologies import normal_package, technology_of_package

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from whence.features.alignment.manifests import Named, Why
    from whence.features.alignment.patches import Change
    from whence.features.alignment.technologies import Ecosystem

    Whole: TypeAlias = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Addition:
    """A package or an image that a file did not name before."""

    package: str
    ecosystem: Ecosystem
    file: str
    line: int  # in the new file
    text: str
    why: Why


def added(diff: str, whole: Whole | None = None) -> list[Addition]:
    """Return what a unified diff adds; where `whole` gives a file as it is afterwards, nothing is guessed."""
    return [addition for change in read_patch(diff) for addition in _added_by(change, whole)]


def _added_by(change: Change, whole: Whole | None) -> Iterator[Addition]:
    reader = manifest_reader(change.path) or import_reader(change.path)
    numbers = change.added_lines
    if reader is None or not numbers:
        return
    text = None if whole is None else whole(change.path)
    known = {_what(named) for stretch in change.before(text) for named in reader(stretch)}
    for stretch in change.after(text):
        texts = {line.number: line.text for line in stretch.lines}
        for named in reader(stretch):
            if named.line in numbers and (what := _what(named)) not in known:
                known.add(what)
                yield Addition(
                    named.package,
                    named.ecosystem,
                    change.path,
                    named.line,
                    texts[named.line].strip(),
                    named.why,
                )


def _what(named: Named) -> tuple[str, ...]:
    """Return what is new only once: a package, or what the packages of several imports bring."""
    package = normal_package(named.ecosystem, named.package)
    brought = technology_of_package(named.ecosystem, named.package)[1:] if named.why == "import" else ()
    return named.why, named.ecosystem, *(brought or (package,))
