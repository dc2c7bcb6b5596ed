"""Vectors in a row: eight bits a number and one scale, which loses nothing that ranking sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from whence.core.ports import Vector

_SCALE_BYTES = 4


def pack(vector: Vector) -> bytes:
    """Return the vector as signed bytes followed by its scale."""
    scale = np.float32(np.abs(vector).max() / 127) or np.float32(1)
    numbers = np.round(vector / scale).astype(np.int8)
    return bytes(numbers.tobytes()) + bytes(scale.astype("<f4").tobytes())


def dimensions_of(blob: bytes) -> int:
    return len(blob) - _SCALE_BYTES


def unpack(blobs: Sequence[bytes], *, out: Vector | None = None) -> Vector:
    """Return packed vectors of one length as the rows of a matrix, written into `out` if it is given."""
    raw = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(blobs), -1)
    dimensions = raw.shape[1] - _SCALE_BYTES
    scales = raw[:, dimensions:].copy().view("<f4")
    rows: Vector = np.multiply(raw[:, :dimensions].view(np.int8), scales, out=out, dtype=np.float32)
    return rows
