"""What a store says when its file cannot do it: one sentence, a next step, and nothing changed."""

import errno
import os
import threading
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from whence.core.errors import StorageFailed
from whence.core.life import Whence
from whence.core.memories import Draft
from whence.core.ports import Question, Scope
from whence.models import NoModels
from whence.storage import sqlite_file
from whence.storage.sqlite_file import network_filesystem


def said(refused, *words):
    """Check that the error is a sentence with a next step."""
    message, hint = refused.value.message, refused.value.hint
    assert all(word in message for word in words), message
    assert hint
    assert "Traceback" not in message
    assert refused.value.code == "STORAGE_ERROR"


@pytest.fixture
def filled(open_file, make):
    store = open_file()
    room = make.workspace()
    memory = make.memory(room.id, "kept all the while")
    with store.writing() as writing:
        writing.found_workspace(room)
        writing.insert(memory, make.read(1))
    return store, room.id, memory


def put(store, make, room):
    with store.writing() as writing:
        writing.insert(make.memory(room, "one more"), [])


def contents(path):
    with closing(apsw.Connection(str(path))) as connection:
        return list(connection.execute("SELECT content FROM memories"))


# -- files that are none


@pytest.mark.promise("001-048")
@pytest.mark.parametrize("bytes_", [b"this is a letter, not a database\n" * 50, os.urandom(8192)])
def test_a_file_that_is_no_database_is_named_and_left_alone(open_file, path, bytes_):
    path.write_bytes(bytes_)
    with pytest.raises(StorageFailed) as refused:
        open_file()
    said(refused, str(path), "damaged or no SQLite file")
    assert path.read_bytes() == bytes_


@pytest.mark.promise("001-048")
def test_a_damaged_file_says_so_and_loses_nothing_more(open_file, path, filled, make):
    store, room, _ = filled
    with store.writing() as writing:
        for _ in range(200):
            writing.insert(make.memory(room, "padding " * 50), make.read(1))
    store.close()
    with closing(apsw.Connection(str(path))) as connection:
        list(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
    whole = bytearray(path.read_bytes())
    whole[4096:] = os.urandom(len(whole) - 4096)
    path.write_bytes(whole)
    with pytest.raises(StorageFailed) as refused:
        put(open_file(), make, room)
    said(refused, str(path), "damaged")


def test_a_folder_in_place_of_the_file_is_refused(open_file, path):
    path.mkdir()
    with pytest.raises(StorageFailed) as refused:
        open_file()
    said(refused, str(path))
    assert list(path.iterdir()) == []


def test_a_file_in_place_of_a_folder_is_refused(open_file, path):
    path.write_text("in the way")
    with pytest.raises(StorageFailed) as refused:
        open_file(where=path / "sub" / "whence.db")
    said(refused, "cannot be created")
    assert path.read_text() == "in the way"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs a folder in which not even root may write")
def test_a_folder_in_which_nobody_may_write_is_refused(open_file):
    with pytest.raises(StorageFailed) as refused:
        open_file(where=Path("/proc/whence-test/whence.db"))
    said(refused, "cannot be created")


# -- files that cannot now


@pytest.mark.promise("001-048")
def test_a_read_only_database_refuses_a_save_and_still_answers(filled, make, path):
    store, room, memory = filled
    list(store._file._idle[-1].execute("PRAGMA query_only = ON"))  # root may write any file
    with pytest.raises(StorageFailed) as refused:
        put(store, make, room)
    said(refused, "read-only")
    assert [each.id for each in store.find(Question(words=("kept",)), Scope(), 5).candidates] == [memory.id]
    assert contents(path) == [("kept all the while",)]


def test_a_search_on_a_read_only_database_answers_and_forgets_the_access_time(filled, clock):
    store, _, memory = filled
    list(store._file._idle[-1].execute("PRAGMA query_only = ON"))
    whence = Whence(store, NoModels(), clock)
    from whence.core.recall import Query

    assert [hit.memory.id for hit in whence.recall(Query(text="kept", scope=Scope())).hits] == [memory.id]
    whence._flush_quietly()
    assert whence.get(memory.id).accessed_at == memory.accessed_at


@pytest.mark.promise("001-048", "001-056")
def test_a_locked_database_says_so_after_its_patience_and_nothing_is_stored(filled, make, path, monkeypatch):
    store, room, memory = filled
    monkeypatch.setattr(sqlite_file, "_PATIENCE", 0.05)
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StorageFailed) as refused:
            put(store, make, room)
        said(refused, "locked by another program")
        # Readers go on: the file is in WAL mode.
        assert store.memories([memory.id]) == [memory]
        other.execute("ROLLBACK")
    put(store, make, room)
    assert len(contents(path)) == 2


def test_a_writer_waits_for_another_and_then_writes(filled, make, path):
    store, room, _ = filled
    with closing(apsw.Connection(str(path))) as other:
        other.execute("BEGIN EXCLUSIVE")
        writer = threading.Thread(target=put, args=(store, make, room))
        writer.start()
        writer.join(0.1)
        assert writer.is_alive()
        other.execute("ROLLBACK")
    writer.join(5)
    assert len(contents(path)) == 2


@pytest.mark.promise("001-048", "001-056")
def test_a_full_disk_says_so_and_keeps_nothing_of_the_call(filled, make, path):
    store, room, _ = filled
    writer = store._file._idle[-1]
    pages = next(writer.execute("PRAGMA page_count"))[0]
    list(writer.execute(f"PRAGMA max_page_count = {pages}"))
    before, too_long = contents(path), make.memory(room, "too much of it " * 50_000)
    with pytest.raises(StorageFailed) as refused, store.writing() as writing:
        writing.insert(too_long, [])
    said(refused, "full")
    assert contents(path) == before
    assert store.health()["integrity"] == "ok"
    list(writer.execute("PRAGMA max_page_count = 1000000"))
    put(store, make, room)
    assert len(contents(path)) == 2


def test_a_disk_full_in_the_middle_of_remembering_leaves_no_trace(filled, path, clock):
    store, room, _ = filled
    whence = Whence(store, NoModels(), clock)
    pages = next(store._file._idle[-1].execute("PRAGMA page_count"))[0]
    list(store._file._idle[-1].execute(f"PRAGMA max_page_count = {pages}"))
    with pytest.raises(StorageFailed, match="full"):
        whence.remember(Draft(content="overflowing " * 4000), workspace=room, request="call")
    with closing(apsw.Connection(str(path))) as connection:
        for table, expected in (("memories", 1), ("events", 0), ("requests", 0), ("words", 1)):
            assert next(connection.execute(f"SELECT count(*) FROM {table}"))[0] == expected


def test_a_closed_store_refuses_in_a_sentence(filled, make):
    store, room, _ = filled
    store.close()
    with pytest.raises(StorageFailed):
        put(store, make, room)


# -- network file systems

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
proc /proc proc rw 0 0
server:/export /home/ana/shared nfs4 rw 0 0
//nas/share /mnt/my\\040share cifs rw 0 0
tmpfs /home/ana/shared/scratch tmpfs rw 0 0
broken line
"""


@pytest.mark.parametrize(
    ("place", "kind"),
    [
        ("/home/ana/whence.db", None),
        ("/home/ana/shared/whence.db", "nfs4"),
        ("/home/ana/shared/deep/er/whence.db", "nfs4"),
        ("/home/ana/sharedness/whence.db", None),
        ("/home/ana/shared/scratch/whence.db", None),
        ("/mnt/my share/whence.db", "cifs"),
        ("/home/ana/shared", "nfs4"),
    ],
)
def test_a_network_file_system_is_known_by_the_deepest_mount_that_holds_the_file(place, kind):
    assert network_filesystem(Path(place), MOUNTS) == kind


def test_a_database_on_a_network_file_system_is_refused_and_not_created(open_file, path, monkeypatch):
    mounts = path.with_name("mounts")
    mounts.write_text(f"server:/x {path.parent.resolve()} nfs rw 0 0\n")
    # The machine's own table of mounts is what this code reads; here it is another one.
    monkeypatch.setattr(sqlite_file, "Path", lambda each: mounts if each == "/proc/mounts" else Path(each))
    with pytest.raises(StorageFailed) as refused:
        open_file()
    said(refused, "network file system (nfs)")
    assert "whence serve" in refused.value.hint
    assert not path.exists()


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        (apsw.BusyError, "locked"),
        (apsw.LockedError, "locked"),
        (apsw.ReadOnlyError, "read-only"),
        (apsw.PermissionsError, "read-only"),
        (apsw.FullError, "full"),
        (apsw.CorruptError, "damaged"),
        (apsw.NotADBError, "damaged"),
        (apsw.CantOpenError, "cannot be opened"),
        (apsw.IOError, "could not do it"),
    ],
)
def test_every_trouble_of_the_engine_becomes_a_sentence_with_a_next_step(engine, words):
    with pytest.raises(StorageFailed) as refused, sqlite_file.plain_sentences("/x/whence.db"):
        raise engine(errno.EIO)
    said(refused, words, "/x/whence.db")
