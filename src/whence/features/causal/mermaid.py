"""A chain as a Mermaid diagram that parses, whatever the texts hold."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import category

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from whence.core.memories import Memory
    from whence.features.causal.chain import CausalChain, NodeType

LONGEST = 50  # characters of a node's text
VERSIONS = 20  # the newest that are drawn
EDGES = 300  # Mermaid refuses a diagram of more than 500

_SHAPES: Mapping[NodeType, tuple[str, str]] = {
    "DECISION": ("[", "]"),
    "REASON": ("(", ")"),
    "CONSEQUENCE": ("([", "])"),
    "CONSTRAINT": ("{{", "}}"),
}
_PLAIN = frozenset(",/\u2026")
_PICTURES = frozenset({"So", "Sk"})
_JOINERS = "\u200c\u200d"  # emoji and some scripts are joined by them
_USED_INSIDE = "\u00b0\u00b6"  # Mermaid marks entities with these two while it parses


def visualize(chain: CausalChain) -> str:
    """Return a Mermaid diagram of a chain: the root, its causes and effects, and dashed what it replaced."""
    names = {node.id: f"n{at}" for at, node in enumerate(chain.nodes)}
    lines = ["graph TD"]
    dashed = []
    for node in chain.nodes:
        opening, closing = _SHAPES[node.node_type]
        lines.append(f'    {names[node.id]}{opening}"{label(node.content)}"{closing}')
        if node.is_superseded:
            dashed.append(names[node.id])
    drawn = [chain.root, *(each.memory for each in chain.superseded[-VERSIONS:])]
    for version in drawn:
        if version.id not in names:
            names[version.id] = f"n{len(names)}"
            lines.append(f'    {names[version.id]}["{label(version.content)}"]')
            dashed.append(names[version.id])
    lines += [
        f"    {names[each.from_id]} -->|{each.edge_type}| {names[each.to_id]}" for each in chain.edges[:EDGES]
    ]
    lines += [f"    {names[new]} -.->|SUPERSEDES| {names[old]}" for old, new in _replaced(drawn, names)]
    if dashed:
        lines += ["    classDef superseded stroke-dasharray:5 5", f"    class {','.join(dashed)} superseded"]
    return "\n".join(lines)


def label(text: str) -> str:
    """Return a text of at most fifty characters, quoted so that it is a label and nothing else."""
    seen = "".join(_visible(each) for each in text)
    line = " ".join(seen.split())
    if len(line) > LONGEST:
        line = line[: LONGEST - 1].rstrip(f" {_JOINERS}") + "…"
    return "".join(_quoted(line, at) for at in range(len(line))) or "…"


def _visible(character: str) -> str:
    """Return a character as it is seen: white space as a space, what only steers the display as nothing."""
    kind = category(character)
    if kind in {"Cc", "Zl", "Zp", "Zs"}:
        return " "
    return "" if kind in {"Cf", "Cs", "Co"} and character not in _JOINERS else character


def _quoted(line: str, at: int) -> str:
    """Return one character of a label, as an entity code where it might be read as more than itself."""
    character = line[at]
    if character in _PLAIN or character.isalnum() or _is_picture(character) or _stays(line, at):
        return character
    return "#quot;" if character == '"' else f"#{ord(character)};"


def _is_picture(character: str) -> bool:
    if character.isascii() or character in _USED_INSIDE:
        return False
    kind = category(character)
    return kind in _PICTURES or kind[0] == "M" or character in _JOINERS


def _stays(line: str, at: int) -> bool:
    """True for what begins no list, address or emphasis, nor Mermaid's statement `direction LR`."""
    before, after = line[:at], line[at + 1 : at + 2]
    match line[at]:
        case " ":
            return not before.endswith("direction")
        case ".":
            return bool(before) and not before.isdigit() and not before.casefold().endswith("www")
        case "-":
            return bool(before) and before[-1] != "-"
        case "_":
            return before[-1:].isalnum() and after.isalnum()
    return False


def _replaced(drawn: Sequence[Memory], names: Mapping[str, str]) -> list[tuple[str, str]]:
    return [
        (each.id, each.superseded_by)
        for each in drawn
        if each.superseded_by is not None and each.superseded_by in names
    ]
