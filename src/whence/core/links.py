"""Links: how one memory stands to another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from whence.core.memories import Json
    from whence.core.times import Instant

LinkType = Literal["evolution", "implementation", "association", "temporal"]
Creator = Literal["user", "system", "llm"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One direction: from the newer or acting memory to the older or acted-on."""

    id: str
    from_id: str
    to_id: str
    link_type: LinkType
    relationship: str  # the caller's own word
    confidence: float
    created_by: Creator
    created_at: int
    metadata: Mapping[str, Json] = field(default_factory=dict)
    known_until: Instant | None = None
