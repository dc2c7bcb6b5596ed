"""Identifiers that sort by the time they were made."""

import secrets
import threading

from whence.core.times import Instant

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80


class _Latest:
    """The last number drawn here: ids of one process never go back, even within a millisecond."""

    lock = threading.Lock()
    number = 0


def ulid(now: Instant) -> str:
    """Return 26 characters: 48 bits of milliseconds, 80 of chance, rising within this process."""
    fresh = (now // 1000) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    with _Latest.lock:
        same_moment = fresh >> _RANDOM_BITS <= _Latest.number >> _RANDOM_BITS
        # A clock that went back (or a simulated one) must not drag later ids behind it.
        close = (_Latest.number >> _RANDOM_BITS) - (fresh >> _RANDOM_BITS) < 2
        if same_moment and close:
            fresh = _Latest.number + 1 + secrets.randbits(16)
        _Latest.number = fresh
    return "".join(_ALPHABET[fresh >> shift & 31] for shift in range(125, -5, -5))


def memory_id(memory_type: str, now: Instant) -> str:
    """Return `<type>_<ULID>`, such as fact_01JD…"""
    return f"{memory_type}_{ulid(now)}"


def link_id(now: Instant) -> str:
    return f"link_{ulid(now)}"


def workspace_id() -> str:
    """Return ten characters that also serve as a word in the text index."""
    return "w" + "".join(secrets.choice("0123456789abcdefghjkmnpqrstvwxyz") for _ in range(9))


def session_id(now: Instant) -> str:
    """Return an id for a process whose client names no session; the prefix marks it as such."""
    return f"process_{ulid(now)}"
