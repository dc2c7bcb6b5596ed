"""Times and their order statistics."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def seconds(do: Callable[[], object]) -> float:
    """Return how long one call took."""
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def milliseconds(taken: Sequence[float], percentile: float) -> float:
    """Return a percentile of times in milliseconds."""
    return round(float(np.percentile(np.array(taken), percentile)) * 1000, 3)


def against(taken: Sequence[float], floor: Sequence[float]) -> dict[str, float]:
    """Return what was measured beside its floor: like percentile against like."""
    p95, floor_p95 = milliseconds(taken, 95), milliseconds(floor, 95)
    p50, floor_p50 = milliseconds(taken, 50), milliseconds(floor, 50)
    return {
        "p50_ms": p50,
        "p95_ms": p95,
        "floor_ms": floor_p95,
        "floor_p50_ms": floor_p50,
        "ratio": round(p95 / floor_p95, 3),
        "ratio_of_medians": round(p50 / floor_p50, 3),
        "over_floor_ms": round(p95 - floor_p95, 3),
        "runs": len(taken),
    }
