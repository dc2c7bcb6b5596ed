"""Memories, links and events as rows, and back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from whence.core.links import Link
from whence.core.memories import Author, Event, Memory, topic_key
from whence.storage.queries import named_queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from whence.core.ports import Scope


_SQL = named_queries("sqlite")


def as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def memory_row(memory: Memory) -> dict[str, Any]:
    """Return the memory as named parameters."""
    return {
        "id": memory.id,
        "workspace": memory.workspace,
        "type": memory.type,
        "content": memory.content,
        "topic": memory.topic,
        "topic_key": None if memory.topic is None else topic_key(memory.topic),
        "name": memory.name,
        "name_key": memory.name.casefold() if memory.name else None,
        "number": memory.number,
        "context": memory.context,
        "confidence": float(memory.confidence),
        "source": memory.source,
        "status": memory.status,
        "level": memory.level,
        "domain": memory.domain,
        "module": memory.module,
        "code_ref": memory.code_ref,
        "tags": as_json(list(memory.tags)),
        "metadata": as_json(dict(memory.metadata)),
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "accessed_at": memory.accessed_at,
        "valid_from": memory.valid_from,
        "valid_until": memory.valid_until,
        "known_until": memory.known_until,
        "pending": memory.is_pending,
    }


def memory_from(row: Sequence[Any]) -> Memory:
    """Return the memory of a row of the query `memories`."""
    return Memory(
        id=row[0],
        type=row[1],
        content=row[2],
        workspace=row[3],
        created_at=row[4],
        updated_at=row[5],
        accessed_at=row[6],
        valid_from=row[7],
        valid_until=row[8],
        known_until=row[9],
        topic=row[10],
        name=row[11],
        number=row[12],
        context=row[13],
        confidence=row[14],
        source=row[15],
        status=row[16],
        level=row[17],
        domain=row[18],
        module=row[19],
        code_ref=row[20],
        tags=tuple(json.loads(row[21])),
        metadata=json.loads(row[22]),
        is_pending=bool(row[23]),
        superseded_by=row[24],
        supersedes=tuple(json.loads(row[25])),
    )


def memories_of(connection: apsw.Connection, tenant: str, ids: Sequence[str]) -> list[Memory]:
    """Return the memories of these ids that exist, in the order asked."""
    rows = connection.execute(_SQL["memories"], {"tenant": tenant, "ids": as_json(list(ids))})
    return [memory_from(row) for row in rows]


def link_row(link: Link) -> dict[str, Any]:
    return {
        "id": link.id,
        "from_id": link.from_id,
        "to_id": link.to_id,
        "link_type": link.link_type,
        "relationship": link.relationship,
        "confidence": float(link.confidence),
        "created_by": link.created_by,
        "metadata": as_json(_told_of(link)),
        "created_at": link.created_at,
        "known_until": link.known_until,
    }


def _told_of(link: Link) -> dict[str, Any]:
    """Return a link's metadata without the word, where that is the caller's own already."""
    told = dict(link.metadata)
    if told.get("original_relationship") == link.relationship:
        del told["original_relationship"]
    return told


def link_from(row: Sequence[Any]) -> Link:
    """Return the link of a row of the query `links`."""
    return Link(
        id=row[0],
        from_id=row[1],
        to_id=row[2],
        link_type=row[3],
        relationship=row[4],
        confidence=row[5],
        created_by=row[6],
        created_at=row[7],
        metadata={"original_relationship": row[4], **json.loads(row[8])},
        known_until=row[9],
    )


def event_row(event: Event) -> dict[str, Any]:
    return {
        "memory_id": event.memory_id,
        "number": event.number,
        "at": event.at,
        "action": event.action,
        "client": event.author.client,
        "session": event.author.session,
        "tool": event.author.tool,
        "replaced": as_json(event.replaced) if event.replaced else None,
    }


def event_from(memory_id: str, row: Sequence[Any]) -> Event:
    """Return the event of a row of the query `events`."""
    return Event(
        memory_id=memory_id,
        number=row[0],
        at=row[1],
        action=row[2],
        author=Author(client=row[3], session=row[4], tool=row[5]),
        replaced=json.loads(row[6]) if row[6] else {},
    )


def scope_row(scope: Scope) -> Mapping[str, Any]:
    """Return the scope as named parameters."""
    return {
        "workspaces": None if scope.workspaces is None else as_json(scope.workspaces),
        "types": as_json(scope.types) if scope.types else None,
        "as_of": scope.as_of,
        "known_at": scope.known_at,
        "history": scope.history,
        "least_confidence": scope.least_confidence,
    }
