"""Topics and ids: which memory a caller means."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from whence.core.errors import NotFound
from whence.core.memories import topic_key
from whence.core.ports import Scope, Wanted
from whence.features.naming import id_of

if TYPE_CHECKING:
    from whence.core.memories import Memory
    from whence.surfaces.tool import Call

NEAR = 5
MANY = 1000


class TopicNotFound(NotFound):
    """No live memory on this topic; near ones are offered."""


def known_id(call: Call[Any], told: str) -> str:
    call.workspaces()  # ids hold in every workspace, yet one that does not exist is a mistake to tell
    return id_of(call.whence, told, call.workspaces())


def on_topic(call: Call[Any], topic: str) -> list[Memory]:
    """Return every memory of a topic, whatever became of it: the same words first, the newest first."""
    scope = Scope(workspaces=call.workspaces())
    found = call.whence.store.listed(Wanted(topic=topic_key(topic)), scope, MANY)
    return sorted(found, key=lambda each: (each.topic == topic, each.created_at, each.id), reverse=True)


def near_topics(call: Call[Any], topic: str) -> list[str]:
    """Return topics whose names are near: alike, or one within the other."""
    known = {topic_key(each): each for each in call.whence.store.topics(Scope(workspaces=call.workspaces()))}
    key = topic_key(topic)
    alike = get_close_matches(key, list(known), n=NEAR, cutoff=0.6)
    words = {each for each in _words(topic) if len(each) > 2}
    within = [each for each, name in known.items() if key in each or each in key or words & set(_words(name))]
    near = dict.fromkeys([*alike, *sorted(within, key=len)])
    return [known[each] for each in near if each != key][:NEAR]


def _words(topic: str) -> list[str]:
    return topic.casefold().replace("_", " ").replace("-", " ").split()


def live_among(call: Call[Any], found: list[Memory]) -> list[Memory]:
    """Return what holds of a topic's memories, in their order but decisions first."""
    live = [each for each in found if each.is_live]
    if not any(each.type == "decision" for each in live):
        # A lesson on the topic must not hide the decision that went on under another.
        live += [each for each in _heads_of(call, found) if each not in live]
    return sorted(live, key=lambda each: each.type != "decision")


def live_on(call: Call[Any], topic: str) -> Memory:
    """Return what holds on a topic: the newest decision under the same words, if there is one."""
    live = live_among(call, on_topic(call, topic))
    if not live:
        raise TopicNotFound(
            f'No live memory has the topic "{topic}"',
            hint="Use one of the near topics, or search by what it is about.",
            did_you_mean=near_topics(call, topic),
        )
    return live[0]


def _heads_of(call: Call[Any], found: list[Memory]) -> list[Memory]:
    """Return the live heads of chains that began on a topic and went on under another."""
    heads: dict[str, Memory] = {}
    here = call.workspaces()
    for memory in found:
        for each in call.whence.store.chain(memory.id):
            if each.is_live and (here is None or each.workspace in here):
                heads[each.id] = each
    return list(heads.values())
