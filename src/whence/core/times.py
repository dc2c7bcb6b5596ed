"""Two times: when something was true, and when the memory knew it."""

from datetime import UTC, datetime
from typing import TypeAlias

from whence.core.errors import InvalidParameter

Instant: TypeAlias = int
"""Microseconds since 1970 in UTC."""

SECOND: Instant = 1_000_000
MINUTE = 60 * SECOND
DAY = 24 * 60 * MINUTE


def iso(instant: Instant) -> str:
    """Return the instant as ISO 8601 in UTC, such as 2024-06-15T10:00:00Z."""
    seconds, micros = divmod(instant, SECOND)
    moment = datetime.fromtimestamp(seconds, tz=UTC).replace(microsecond=micros)
    return moment.isoformat().replace("+00:00", "Z")


def parse_instant(text: str, *, name: str) -> Instant:
    """Read ISO 8601; a date alone is its first moment, a time without zone is UTC."""
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # the latter for a first or last hour of the calendar in another zone
        raise InvalidParameter(
            f"{name} must be an ISO 8601 time",
            hint=f'Give {name} as "2026-11-19" or "2026-11-19T10:00:00Z".',
        ) from None
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def day_in_words(instant: Instant) -> str:
    """Return the day as people write it, such as 8 May 2023."""
    moment = datetime.fromtimestamp(instant // SECOND, tz=UTC)
    return f"{moment.day} {moment:%B %Y}"
