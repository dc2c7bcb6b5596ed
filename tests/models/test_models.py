"""When a model is in memory, and what is said when it cannot be."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from whence.core.errors import EmbeddingUnavailable
from whence.models import LocalModels, NoModels
from whence.models.files import MODEL, TOKENIZER, installed, model_folder
from whence.models.manifests import ENGLISH, MULTILINGUAL


def test_a_model_is_loaded_at_first_need_and_only_then(home):
    models = LocalModels(home)
    assert models.loaded == ()
    models.latin.embed_query("who?")
    assert models.loaded == (ENGLISH.id,)


def test_released_models_load_again_at_the_next_use(home):
    models = LocalModels(home)
    first = models.latin
    models.multilingual.embed_query("누구?")
    assert models.loaded == (ENGLISH.id, MULTILINGUAL.id)
    models.release()
    assert models.loaded == ()
    assert models.latin is not first
    assert (models.latin.embed_query("who?") == first.embed_query("who?")).all()


def test_a_model_in_use_outlives_its_release(home):
    models = LocalModels(home)
    held = models.latin
    models.release()
    assert held.embed_query("who?").shape == (384,)
    assert models.loaded == ()


def test_idle_models_are_released_and_busy_ones_are_not(home):
    busy, idle = LocalModels(home, idle_seconds=3600), LocalModels(home, idle_seconds=0)
    for models in (busy, idle):
        models.latin.embed_query("who?")
        models.release_if_idle()
    assert (busy.loaded, idle.loaded) == ((ENGLISH.id,), ())


def test_every_call_on_a_model_counts_as_use(home):
    models = LocalModels(home, idle_seconds=1800)
    for call in ("embed_query", "embed_passage", "passages", "count_tokens"):
        for embedder in (models.latin, models.multilingual):
            models.latin.last_used = models.multilingual.last_used = time.monotonic() - 3600
            getattr(embedder, call)("who?")
            models.release_if_idle()
            assert len(models.loaded) == 2, call


def test_threads_that_need_a_model_at_once_share_one(home):
    models = LocalModels(home)
    with ThreadPoolExecutor(4) as pool:
        pool.submit(models.preload)
        embedders = list(pool.map(lambda _: models.latin, range(4)))
    assert len(set(map(id, embedders))) == 1


def test_a_missing_model_is_told_at_once_and_fetched_behind(tmp_path):
    models = LocalModels(tmp_path)
    started = time.monotonic()
    for _ in range(3):
        with pytest.raises(EmbeddingUnavailable, match="by words until it is") as absence:
            _ = models.latin
        assert "in the background" in absence.value.hint
    assert time.monotonic() - started < 1
    assert models.wait_for_fetch(timeout=300)
    assert models.latin.embed_query("who?").shape == (384,)


def test_a_missing_model_is_not_fetched_when_offline_or_told_not_to(tmp_path):
    for models, step in (
        (LocalModels(tmp_path, offline=True), "--from FOLDER"),
        (LocalModels(tmp_path, fetch=False), "whence model install"),
    ):
        with pytest.raises(EmbeddingUnavailable, match="by words") as absence:
            _ = models.latin
        assert step in absence.value.hint
        assert not models.wait_for_fetch()
    models.preload()
    assert not model_folder(tmp_path).exists()


def test_a_failed_fetch_says_why_and_is_not_tried_again_at_once(tmp_path):
    (tmp_path / "models").write_text("a file where a folder should be")
    models = LocalModels(tmp_path)
    with pytest.raises(EmbeddingUnavailable):
        _ = models.latin
    assert not models.wait_for_fetch(timeout=60)
    with pytest.raises(EmbeddingUnavailable, match="cannot be put into") as absence:
        _ = models.latin
    assert "WHENCE_HOME" in absence.value.hint


def test_a_damaged_model_is_unavailable_and_says_how_to_mend_it(tmp_path):
    folder = model_folder(tmp_path)
    folder.mkdir(parents=True)
    for file in (MODEL, TOKENIZER):
        (folder / file.name).write_bytes(bytes(file.size))
    assert installed(tmp_path)
    with pytest.raises(EmbeddingUnavailable, match="cannot be loaded") as refusal:
        _ = LocalModels(tmp_path).latin
    assert "whence model install" in refusal.value.hint


def test_the_multilingual_model_needs_no_home(tmp_path):
    models = LocalModels(tmp_path / "nowhere", offline=True)
    assert models.multilingual.embed_query("누구?").shape == (512,)


def test_without_models_every_need_of_one_is_refused():
    models = NoModels()
    for model in ("latin", "multilingual"):
        with pytest.raises(EmbeddingUnavailable, match="by words"):
            getattr(models, model)
    models.preload()
    models.release()
    models.release_if_idle()
    assert models.loaded == ()
