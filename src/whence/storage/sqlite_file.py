"""One SQLite file: opening it safely, its connections, and its troubles in plain sentences."""

from __future__ import annotations

import os
import random
import threading
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from whence.core.errors import StorageFailed
from whence.storage.migrations import migrations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from whence.core.ports import Clock

_PATIENCE = 10.0  # seconds that a writer waits for the others
_KEPT = 4  # idle connections, each with a cache of its own
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "afs", "9p", "fuse.sshfs", "ceph", "glusterfs"})


def network_filesystem(path: Path, mounts: str) -> str | None:
    """Return the kind of network file system that holds `path`, by the text of /proc/mounts."""
    best, kind = "", ""
    for line in mounts.splitlines():
        parts = line.split()
        if len(parts) < 3:
            continue
        point = parts[1].replace("\\040", " ")
        inside = str(path) == point or str(path).startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, kind = point, parts[2]
    return kind if kind in _NETWORK else None


def _jittered(started: float, patience: float) -> bool:
    """Wait a random moment: equal waits let one writer starve."""
    if time.monotonic() - started > patience:
        return False
    time.sleep(random.uniform(0.0003, 0.0023))  # noqa: S311  chance, not secrecy
    return True


_TROUBLES: tuple[tuple[tuple[type[apsw.Error], ...], str, str], ...] = (
    (
        (apsw.BusyError, apsw.LockedError),
        "The database {where} is locked by another program",
        "Close the program that holds it, then try again.",
    ),
    (
        (apsw.ReadOnlyError, apsw.PermissionsError),
        "The database {where} is read-only",
        "Make the file and its folder writable, or use --store.",
    ),
    (
        (apsw.FullError,),
        "The disk under {where} is full",
        "Free some space; nothing of this call was stored.",
    ),
    (
        (apsw.CorruptError, apsw.NotADBError),
        "The database {where} is damaged or no SQLite file",
        "Restore a copy of it, or point --store to another file.",
    ),
    (
        (apsw.CantOpenError,),
        "The database {where} cannot be opened",
        "Check that its folder exists and is yours.",
    ),
    (
        (apsw.ConstraintError,),
        "The database {where} refused a row: a name is taken, or what it points to does not exist",
        "Use another name, or check the ids.",
    ),
)


def _sentence(error: apsw.Error, where: str) -> StorageFailed:
    """Return what an engine's error means for the user."""
    for kinds, told, hint in _TROUBLES:
        if isinstance(error, kinds):
            return StorageFailed(told.format(where=where), hint=hint)
    return StorageFailed(
        f"The database {where} could not do it: {error}", hint="Run `whence doctor` to see its state."
    )


@contextmanager
def plain_sentences(where: str) -> Iterator[None]:
    """Turn the engine's errors into the store's."""
    try:
        yield
    except apsw.Error as error:
        raise _sentence(error, where) from error


def _insist(connection: apsw.Connection, pragma: str) -> None:
    """Run a pragma; turning a new file to WAL does not ask the busy handler while another program does it."""
    started = time.monotonic()
    while True:
        try:
            list(connection.execute(pragma))
        except apsw.BusyError:
            if not _jittered(started, _PATIENCE):
                raise
        else:
            return


class SqliteFile:
    """Connections to one file: many readers, one writer at a time."""

    def __init__(self, path: Path | str, *, clock: Clock) -> None:
        self.in_memory = str(path) == ":memory:"
        self.where = str(path)
        self._clock = clock
        self._idle: list[apsw.Connection] = []  # the last one used on top: its cache knows the last commit
        self._is_closed = False
        self._patience = _PATIENCE
        self._pool_lock = threading.Lock()
        self._write_lock = threading.RLock()
        if not self.in_memory:
            self._prepare(Path(path))
        self._only = self._connect() if self.in_memory else None
        self._migrate()

    def _prepare(self, path: Path) -> None:
        mounts = Path("/proc/mounts")
        kind = network_filesystem(path.resolve(), mounts.read_text("utf-8")) if mounts.exists() else None
        if kind is not None:
            raise StorageFailed(
                f"The database {path} lies on a network file system ({kind}), where SQLite can lose data",
                hint="Point --store to a local disk, or share one memory with `whence serve`.",
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # Born private: what an agent remembers is nobody else's.
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        except OSError as error:
            if path.is_file():
                return  # there, but not ours to write: it may still be read
            raise StorageFailed(
                f"The database {path} cannot be created: {error.strerror}", hint="Choose another --store."
            ) from None

    def _connect(self) -> apsw.Connection:
        with plain_sentences(self.where):
            connection = apsw.Connection(self.where)
            started = [time.monotonic()]

            def wait(attempt: int) -> bool:
                if attempt == 0:
                    started[0] = time.monotonic()
                return _jittered(started[0], self._patience)

            connection.set_busy_handler(wait)
            # One by one: apsw stops at the first statement that returns a row.
            for pragma in (
                "journal_mode = WAL",
                "synchronous = FULL",
                "foreign_keys = ON",
                "cache_size = -16000",
                "mmap_size = 50331648",
                "temp_store = MEMORY",
                "trusted_schema = OFF",
            ):
                _insist(connection, f"PRAGMA {pragma}")
            return connection

    def _migrate(self) -> None:
        """Run the migrations that this file has not seen; two programs starting at once run them once."""
        known = migrations("sqlite")
        with self.reading() as connection:
            if _applied(connection) == {each.number: each.checksum for each in known}:
                return
        with self.writing() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations ("
                "number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, "
                "applied_at INTEGER NOT NULL) STRICT"
            )
            applied = _applied(connection)
            for migration in known:
                if migration.number not in applied:
                    connection.execute(migration.sql)
                    connection.execute(
                        "INSERT INTO migrations VALUES (?, ?, ?, ?)",
                        (migration.number, migration.name, migration.checksum, self._clock.now()),
                    )
                elif applied[migration.number] != migration.checksum:
                    raise StorageFailed(
                        f"The database {self.where} was made by another build (migration {migration.number})",
                        hint="Use the program that made it, or export from there and import here.",
                    )
            newer = sorted(set(applied) - {each.number for each in known})
            if newer:
                raise StorageFailed(
                    f"The database {self.where} was written by a newer version (migration {newer[-1]})",
                    hint="Update whence, then try again.",
                )

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Lend a connection that sees everything committed so far."""
        one_at_a_time = self._write_lock if self.in_memory else nullcontext()
        with one_at_a_time, self._lent() as connection, plain_sentences(self.where):
            yield connection

    @contextmanager
    def _lent(self) -> Iterator[apsw.Connection]:
        """Lend a connection of the pool, or the only one there is."""
        if self._is_closed:
            raise StorageFailed(f"The database {self.where} was closed", hint="Open it again.")
        if self._only is not None:
            yield self._only
            return
        with self._pool_lock:
            connection = self._idle.pop() if self._idle else None
        connection = connection or self._connect()
        try:
            yield connection
        finally:
            with self._pool_lock:
                if len(self._idle) < _KEPT and not self._is_closed:
                    self._idle.append(connection)
                    connection = None
            if connection is not None:
                connection.close()

    @contextmanager
    def still(self) -> Iterator[apsw.Connection]:
        """Lend a connection that goes on seeing what is committed now, whatever others write meanwhile."""
        with self.reading() as connection:
            if self.in_memory:  # one connection, and the lock keeps others out
                yield connection
                return
            connection.execute("BEGIN")
            try:
                list(connection.execute("PRAGMA user_version"))  # the first read decides what is seen
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def writing(self, *, patience: float | None = None) -> Iterator[apsw.Connection]:
        """Lend a connection inside one transaction; one thread of this process at a time."""
        with self._write_lock, self._lent() as connection, plain_sentences(self.where):
            self._patience = _PATIENCE if patience is None else patience
            # Immediate: a read that becomes a write fails at once when another writer came between.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self._is_closed = True
        with self._pool_lock:
            for connection in self._idle:
                connection.close()
            self._idle.clear()
        if self._only is not None:
            with self._write_lock:
                self._only.close()


def _applied(connection: apsw.Connection) -> dict[int, str]:
    """Return the checksums of the migrations that ran."""
    exists = "SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'"
    if not next(connection.execute(exists))[0]:
        return {}
    return dict(connection.execute("SELECT number, checksum FROM migrations"))
