"""Giving memory back to the system after a model was dropped."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import re
import sys
from pathlib import Path

_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r-xp \S+ \S+ [1-9]\d*\s+/")
_MADV_DONTNEED = 4


def give_memory_back() -> None:
    """Return freed memory and unused library code; the next use reads the code again from the page cache."""
    gc.collect()
    if sys.platform == "linux":
        # glibc keeps freed memory to itself unless asked; other C libraries may lack either call.
        with contextlib.suppress(OSError, AttributeError):
            library = ctypes.CDLL(None)
            library.malloc_trim(0)
            for start, size in clean_code(Path("/proc/self/smaps").read_text("ascii", "replace")):
                library.madvise(ctypes.c_void_p(start), ctypes.c_size_t(size), _MADV_DONTNEED)


def clean_code(smaps: str) -> list[tuple[int, int]]:
    """Return address and size of code mapped from files, none of it changed since it was read."""
    found: list[tuple[int, int]] = []
    candidate: tuple[int, int] | None = None
    for line in smaps.splitlines():
        if match := _MAPPING.match(line):
            start, end = int(match.group(1), 16), int(match.group(2), 16)
            candidate = (start, end - start)
        elif candidate is not None and line.startswith("Anonymous:"):
            # A page that was written after it was mapped lives nowhere else.
            if line.split()[1] == "0":
                found.append(candidate)
            candidate = None
    return found
