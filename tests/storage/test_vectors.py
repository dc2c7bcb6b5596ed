"""Packed vectors lose nothing that ranking sees, and the matrix gives back what went in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from whence.storage.matrix import Matrix
from whence.storage.vectors import pack, unpack

numbers = st.floats(-1, 1, width=32, allow_subnormal=False)
vectors = arrays(np.float32, st.integers(1, 512), elements=numbers).filter(
    lambda vector: float(np.linalg.norm(vector)) > 0.01
)


@given(vectors)
def test_packing_costs_less_than_a_hundredth_of_the_largest_number(vector):
    (back,) = unpack([pack(vector)])
    assert back.shape == vector.shape
    assert np.abs(back - vector).max() <= 0.01 * np.abs(vector).max()


@given(st.integers(0, 10_000), st.sampled_from([384, 512]))
def test_the_similarity_of_two_unit_vectors_survives_packing(seed, dimensions):
    chance = np.random.default_rng(seed)
    one, other = (chance.standard_normal(dimensions).astype(np.float32) for _ in range(2))
    one, other = one / np.linalg.norm(one), other / np.linalg.norm(other)
    (back,) = unpack([pack(one)])
    assert float(back @ one) == pytest.approx(1, abs=0.01)
    assert abs(float(back @ other) - float(one @ other)) < 0.01


def test_a_vector_of_nothing_is_packed_without_a_warning():
    assert not unpack([pack(np.zeros(384, np.float32))]).any()


@pytest.mark.promise("000-015")
@pytest.mark.parametrize("dimensions", [384, 512])
def test_a_packed_vector_is_a_byte_a_number_and_four_for_the_scale(dimensions):
    vector = np.ones(dimensions, np.float32)
    assert len(pack(vector)) == dimensions + 4


@given(
    st.lists(st.integers(1, 400), min_size=1, max_size=6),
    st.sets(st.integers(0, 300)),
    st.integers(1, 20),
)
def test_the_matrix_scans_every_row_that_was_appended_and_not_hidden(batches, hidden, limit):
    rows = sum(batches)
    chance = np.random.default_rng(rows)
    made = chance.standard_normal((rows, 8)).astype(np.float32)
    blobs = [pack(vector) for vector in made]
    matrix = Matrix(0, 0)
    start = 0
    for size in batches:
        matrix.append(list(range(start, start + size)), blobs[start : start + size])
        start += size
    gone = {seq for seq in hidden if seq < rows}
    matrix.hide(sorted(gone), hidden=True)
    asked = made[0] / np.linalg.norm(made[0])
    scan = matrix.scan(asked, None, None)
    expected = unpack(blobs) @ asked
    seen = {seq for seq in range(rows) if np.isfinite(scan.similarities[seq])}
    assert seen == set(range(rows)) - gone
    for seq in seen:
        assert scan.similarities[seq] == pytest.approx(expected[seq], abs=1e-4)
    best = {seq: value for seq, value in scan.best(limit).items() if np.isfinite(value)}
    wanted = sorted(seen, key=lambda seq: -expected[seq])[:limit]
    assert sorted(best.values(), reverse=True) == pytest.approx(
        [float(expected[seq]) for seq in wanted], abs=1e-4
    )


def test_the_matrix_grows_past_a_block_without_losing_a_row():
    matrix = Matrix(0, 0)
    rows = 20_000
    blobs = [pack(np.array([np.cos(n), np.sin(n)], np.float32)) for n in range(rows)]
    for start in range(0, rows, 3001):
        matrix.append(list(range(start, min(rows, start + 3001))), blobs[start : start + 3001])
    scan = matrix.scan(np.array([1, 0], np.float32), None, None)
    assert scan.seqs.tolist() == list(range(rows))
    assert np.abs(scan.similarities - np.cos(np.arange(rows))).max() < 0.01
    assert set(scan.of([5, 19_999, 50_000])) == {5, 19_999}
    only = matrix.scan(np.array([1, 0], np.float32), np.array([7, 9000]), np.array([9000]))
    assert np.flatnonzero(np.isfinite(only.similarities)).tolist() == [7]
