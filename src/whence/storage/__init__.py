"""The databases: a URL opens a store."""

from pathlib import Path

from whence.core.errors import StorageFailed
from whence.core.ports import Clock, Store

SQLITE = "sqlite:///"


def open_store(url: str, *, tenant: str, clock: Clock) -> Store:
    """Return the open store behind `sqlite:///PATH` or `sqlite:///:memory:`."""
    if url.startswith(SQLITE):
        # Loaded here: listing tools must not pay for a database driver.
        from whence.storage.sqlite import SqliteStore

        path = url.removeprefix(SQLITE)
        try:
            place = path if path == ":memory:" else Path(path).expanduser()
        except RuntimeError as error:
            raise StorageFailed(f"{url} names no file: {error}", hint="Write the path out.") from None
        return SqliteStore(place, tenant=tenant, clock=clock)
    scheme = url.partition(":")[0]
    raise StorageFailed(
        f'"{scheme}" is no store that this version knows', hint="Use a store URL such as sqlite:///PATH."
    )
