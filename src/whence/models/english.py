"""English and other Latin text as vectors: snowflake-arctic-embed-s, int8, on onnxruntime."""

from __future__ import annotations

import time
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from whence.models.cutting import last_end
from whence.models.failing import failures_told
from whence.models.files import MODEL, TOKENIZER
from whence.models.manifests import ENGLISH

if TYPE_CHECKING:
    from pathlib import Path

    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

    from whence.core.ports import Manifest, Vector

_MARKS = 2  # [CLS] and [SEP] stand around every text


class EnglishEmbedder:
    """The English model in memory; safe to call from many threads."""

    manifest: Manifest = ENGLISH

    def __init__(self, folder: Path) -> None:
        self._tokenizer = _open_tokenizer(folder / TOKENIZER.name)
        self._session = _open_session(folder / MODEL.name)
        self.last_used = time.monotonic()

    def embed_query(self, text: str) -> Vector:
        return self._embed(self.manifest.query_prefix + text)

    def embed_passage(self, text: str) -> Vector:
        return self._embed(text)

    def passages(self, text: str) -> list[str]:
        """Slices of `text` that the model reads whole; put together they are `text` again."""
        self.last_used = time.monotonic()
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        offsets, words = encoding.offsets, encoding.word_ids
        budget = self.manifest.max_tokens - _MARKS
        starts = [start for start, _ in offsets]
        pieces, char, token = [], 0, 0
        while len(starts) - token > budget:
            stop = token + budget
            # A cut inside a word would change how its halves are read, and so their number of tokens.
            while stop > token + 1 and words[stop] == words[stop - 1]:
                stop -= 1
            end = last_end(text, (char + starts[stop]) // 2, starts[stop])
            pieces.append(text[char:end])
            char, token = end, bisect_left(starts, end, lo=token)
        return [*pieces, text[char:]]

    def count_tokens(self, text: str) -> int:
        """How many tokens the model would read, its two marks included."""
        self.last_used = time.monotonic()
        return len(self._tokenizer.encode(text).ids)

    def _embed(self, text: str) -> Vector:
        # One text per call: dynamic int8 takes its scale over the batch, so mates would change a vector.
        self.last_used = time.monotonic()
        with failures_told("English"):
            return self._run(text)

    def _run(self, text: str) -> Vector:
        ids = self._tokenizer.encode(text).ids
        if len(ids) > self.manifest.max_tokens:
            ids = [*ids[: self.manifest.max_tokens - 1], ids[-1]]
        tokens = np.array([ids], dtype=np.int64)
        (states,) = self._session.run(
            None,
            {
                "input_ids": tokens,
                "attention_mask": np.ones_like(tokens),
                "token_type_ids": np.zeros_like(tokens),
            },
        )
        first: Vector = states[0, 0]
        unit: Vector = first / np.linalg.norm(first)
        return unit


def _open_tokenizer(path: Path) -> Tokenizer:
    # Here and below: heavy packages, imported when the model is first needed and not when the program starts.
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()  # passages() must see the whole text
    tokenizer.encode_special_tokens = True  # a "[SEP]" that somebody wrote is text
    return tokenizer


def _open_session(path: Path) -> InferenceSession:
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # on in Windows builds; nothing leaves this machine
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    options.inter_op_num_threads = 1
    # A thread that spins while it waits takes a core from twenty other servers.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors only: standard error is not the model's
    # Peak over texts of all lengths: 171 MB so, 190 with the pattern, 298-328 without the arena; same speed.
    options.enable_cpu_mem_arena = True
    options.enable_mem_pattern = False
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
