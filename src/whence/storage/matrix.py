"""The matrix: one workspace's vectors of one model in memory, a cache of the rows in the database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from whence.storage.vectors import dimensions_of, unpack

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from whence.core.ports import Vector

_BLOCK = 8192  # rows; growing adds a block and copies nothing
_NOTHING = np.float32(-np.inf)


def rows_of(seqs: NDArray[np.int64], wanted: NDArray[np.int64], *, is_rising: bool) -> NDArray[np.int64]:
    """Return where these stand in `seqs`; what rises need not be read whole."""
    if not is_rising:
        return np.flatnonzero(np.isin(seqs, wanted))
    first, last = np.searchsorted(seqs, wanted), np.searchsorted(seqs, wanted, side="right")
    if np.all(last - first <= 1):
        return first[last > first]
    return np.concatenate([np.arange(start, end) for start, end in zip(first, last, strict=True)])


@dataclass(frozen=True, slots=True)
class Scan:
    """The similarity of every row to one vector; hidden rows have none."""

    seqs: NDArray[np.int64]
    similarities: Vector
    is_rising: bool  # no row's seq is below the one before
    has_gaps: bool  # some rows are hidden

    @property
    def span(self) -> tuple[float, float] | None:
        seen = self.similarities[np.isfinite(self.similarities)] if self.has_gaps else self.similarities
        return (float(seen.min()), float(seen.max())) if seen.size else None

    def best(self, limit: int) -> dict[int, float]:
        """Return the nearest rows; a memory of several passages counts by its best."""
        count = min(limit, self.similarities.size)
        if count == 0:
            return {}
        top = np.argpartition(self.similarities, -count)[-count:]
        return self._by_seq(top)

    def of(self, seqs: Iterable[int]) -> dict[int, float]:
        """Return the similarity of these rows."""
        wanted = np.fromiter(seqs, dtype=np.int64)
        if wanted.size == 0 or self.seqs.size == 0:
            return {}
        return self._by_seq(rows_of(self.seqs, wanted, is_rising=self.is_rising))

    def _by_seq(self, rows: NDArray[np.int64]) -> dict[int, float]:
        found: dict[int, float] = {}
        for seq, similarity in zip(self.seqs[rows].tolist(), self.similarities[rows].tolist(), strict=True):
            if similarity > found.get(seq, _NOTHING):
                found[seq] = similarity
        return found


class Matrix:
    """Rows of unit vectors, in blocks; knows how far it has read the database."""

    def __init__(self, generation: int, stamp: int) -> None:
        self.generation = generation
        self.stamp = stamp
        self._blocks: list[Vector] = []
        self._seqs = np.empty(0, dtype=np.int64)
        self._hidden = np.empty(0, dtype=bool)
        self._count = 0
        self._is_rising = True

    def append(self, seqs: Sequence[int], blobs: Sequence[bytes]) -> None:
        """Add packed vectors."""
        room = self._count + len(seqs)
        if room > self._seqs.size:
            size = max(room, min(self._seqs.size * 2, self._seqs.size + _BLOCK))
            self._seqs = np.resize(self._seqs, size)
            hidden = np.zeros(size, dtype=bool)
            hidden[: self._count] = self._hidden[: self._count]
            self._hidden = hidden
        self._seqs[self._count : room] = seqs
        self._hidden[self._count : room] = False
        fresh = self._seqs[max(0, self._count - 1) : room]
        self._is_rising = self._is_rising and bool(np.all(fresh[1:] >= fresh[:-1]))
        done = 0
        while done < len(blobs):
            free = self._free_rows(self._count + done, len(blobs) - done, dimensions_of(blobs[done]))
            unpack(blobs[done : done + len(free)], out=free)
            done += len(free)
        self._count = room

    def _free_rows(self, filled: int, wanted: int, dimensions: int) -> Vector:
        """Return room for some of the wanted rows: what is left of the last block, or a new one."""
        block, offset = divmod(filled, _BLOCK)
        if block == len(self._blocks):
            self._blocks.append(np.empty((min(_BLOCK, max(64, wanted)), dimensions), np.float32))
        elif offset >= len(self._blocks[block]):
            grown = np.empty((min(_BLOCK, max(2 * offset, offset + wanted)), dimensions), np.float32)
            grown[:offset] = self._blocks[block]
            self._blocks[block] = grown
        return self._blocks[block][offset : offset + wanted]

    def hide(self, seqs: Sequence[int], *, hidden: bool) -> None:
        """Keep rows out of plain scans, or let them in again."""
        if seqs:
            self._hidden[self._rows_of(np.array(seqs, dtype=np.int64))] = hidden

    def holds(self, seqs: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of these rows are here."""
        return np.isin(seqs, self._seqs[self._rows_of(seqs)])

    def _rows_of(self, seqs: NDArray[np.int64]) -> NDArray[np.int64]:
        return rows_of(self.seqs, seqs, is_rising=self._is_rising)

    @property
    def seqs(self) -> NDArray[np.int64]:
        return self._seqs[: self._count]

    def scan(
        self, vector: Vector, allowed: NDArray[np.int64] | None, without: NDArray[np.int64] | None
    ) -> Scan:
        """Return the similarity of every row that may answer.

        `allowed` are the rows that a filtered search lets in, hidden ones too; `without` are rows left out.
        """
        count = self._count
        seqs = self._seqs[:count]
        similarities = np.empty(count, dtype=np.float32)
        for number in range(-(-count // _BLOCK)):
            start, end = number * _BLOCK, min(count, (number + 1) * _BLOCK)
            np.dot(self._blocks[number][: end - start], vector, out=similarities[start:end])
        out = self._hidden[:count] if allowed is None else ~np.isin(seqs, allowed)
        if without is not None:
            out = out | np.isin(seqs, without)
        has_gaps = bool(out.any())
        if has_gaps:
            similarities[out] = _NOTHING
        return Scan(seqs, similarities, self._is_rising, has_gaps)
