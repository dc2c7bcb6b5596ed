"""Links on the command line: see, make and take away links, and do the work on them that waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from whence.core.errors import WhenceError
from whence.core.links import effective_confidence
from whence.core.memories import STATED_CONFIDENCE, Tie
from whence.core.reading import read_backlog
from whence.core.times import DAY, MINUTE, SECOND, iso
from whence.features.linking import link_waiting, prune

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    from whence.core.life import Whence
    from whence.core.links import Link
    from whence.core.memories import Author
    from whence.core.times import Instant

_SLICE = 2 * SECOND
_HOUR = 60 * MINUTE


@dataclass(frozen=True, slots=True)
class Told:
    """What a command has to say: as JSON, in lines, and beside the answer."""

    structured: dict[str, Any]
    lines: list[str]
    notices: tuple[str, ...] = ()


def add(whence: Whence, arguments: argparse.Namespace, author: Author) -> Told:
    """Link one memory to another by a word."""
    wanted = Tie(
        to_id=arguments.to,
        relationship=arguments.word,
        confidence=arguments.confidence if arguments.confidence is not None else STATED_CONFIDENCE,
        reason=arguments.reason,
    )
    link = whence.link(getattr(arguments, "from"), wanted, author=author, creator="user")
    told = _plain(link, whence.clock.now())
    return Told(told, [f"Linked {link.from_id} {link.relationship} {link.to_id} ({link.id})."])


def rm(whence: Whence, arguments: argparse.Namespace, author: Author) -> Told:
    """Take a link away."""
    del author  # the link itself keeps who made it; its end is no event of a memory
    link = whence.unlink(arguments.id)
    return Told(
        _plain(link, whence.clock.now()),
        [f"Removed link {link.id}: {link.from_id} {link.relationship} {link.to_id}."],
    )


def ls(whence: Whence, arguments: argparse.Namespace, author: Author) -> Told:
    """List the links that touch a memory, the surest first."""
    del author
    memory = whence.get(arguments.id)
    now = whence.clock.now()
    links = [each for each in whence.store.graph().links(memory.id) if each.known_until is None]
    links.sort(key=lambda each: effective_confidence(each, now), reverse=True)
    ends = [_other_end(each, memory.id) for each in links]
    contents = {each.id: each.content for each in whence.store.memories(list(dict.fromkeys(ends)))}
    told = []
    lines = []
    for link, end in zip(links, ends, strict=True):
        direction = "out" if link.from_id == memory.id else "in"
        told.append({"direction": direction, **_plain(link, now)})
        arrow = "->" if direction == "out" else "<-"
        gist = contents.get(end, "").partition("\n")[0][:80]
        lines += [f"{arrow} {link.relationship}  {end}  {gist}", f"     {_in_words(link, now)}"]
    return Told({"id": memory.id, "links": told}, lines or [f"No link touches {memory.id}."])


ACTIONS: Mapping[str, Callable[[Whence, argparse.Namespace, Author], Told]] = {"add": add, "rm": rm, "ls": ls}


def sweep(whence: Whence, *, now: bool, step: Callable[[int], None]) -> Told:
    """Read what waits for a model, make the links that wait, and prune, if due or asked for now."""
    notices = []
    try:
        while left := read_backlog(whence.store, whence.models, whence.clock, _SLICE):
            step(-left)
    except WhenceError as error:
        notices.append(f"Some memories still wait for a model: {error.message}")
    try:
        while left := link_waiting(whence, _SLICE):
            step(-left)
    except WhenceError as error:
        notices.append(f"Some memories still wait for their links: {error.message}")
    pruned = prune(whence, force=now)
    told = {
        "waiting_for_links": whence.store.graph().counters().get("unlinked", 0),
        "pruned": None if pruned is None else {"removed": pruned.removed, "kept": pruned.kept},
        "notices": notices,
    }
    lines = [f"{told['waiting_for_links']} memories wait for their links."]
    if pruned is None:
        lines.append("Links were pruned within the last week; --now does it anyway.")
    else:
        lines.append(f"Pruned {pruned.removed:,} automatic links, kept {pruned.kept:,}.")
    return Told(told, lines, tuple(notices))


def state(whence: Whence) -> dict[str, str]:
    """Return what `whence doctor` says of the links."""
    counted = whence.store.graph().counters()
    walks = counted.get("walks", 0)
    share = f"{counted.get('walks_remembered', 0) / walks:.0%}".replace("%", " %") if walks else "none"
    return {
        "links by creator": ", ".join(
            f"{counted.get(f'links_by_{creator}', 0):,} {creator}" for creator in ("user", "llm", "system")
        ),
        "waiting for links": f"{counted.get('unlinked', 0):,}",
        "walks remembered": f"{share} of {walks:,}",
    }


def _plain(link: Link, now: Instant) -> dict[str, Any]:
    return {
        "id": link.id,
        "from": link.from_id,
        "to": link.to_id,
        "relationship": link.metadata.get("original_relationship", link.relationship),
        "type": link.link_type,
        "confidence": round(link.confidence, 4),
        "effective_confidence": round(effective_confidence(link, now), 4),
        "created_by": link.created_by,
        "created_at": iso(link.created_at),
        **({"reason": link.metadata["reason"]} if "reason" in link.metadata else {}),
    }


def _in_words(link: Link, now: Instant) -> str:
    effective = effective_confidence(link, now)
    faded = f", {effective:.2f} now" if round(effective, 2) != round(link.confidence, 2) else ""
    reason = f": {link.metadata['reason']}" if "reason" in link.metadata else ""
    return (
        f"{link.link_type}, {link.confidence:.2f}{faded}, by {link.created_by}, {_age(link, now)}, "
        f"{link.id}{reason}"
    )


def _age(link: Link, now: Instant) -> str:
    age = max(0, now - link.created_at)
    for unit, name in ((DAY, "day"), (_HOUR, "hour"), (MINUTE, "minute")):
        if age >= unit:
            count = age // unit
            return f"{count} {name}{'s' if count > 1 else ''} old"
    return "just made"


def _other_end(link: Link, memory_id: str) -> str:
    return link.to_id if link.from_id == memory_id else link.from_id
