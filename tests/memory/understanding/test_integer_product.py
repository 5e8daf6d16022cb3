from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.understanding.integer_product import LARGEST, Floats, product, with_numkong, with_numpy

SHAPES = [(1, 384, 384), (7, 384, 1152), (40, 384, 1536), (33, 1536, 384)]


def drawn(rows: int, inputs: int, outputs: int) -> tuple[Floats, NDArray[np.int8]]:
    rng = np.random.default_rng(rows)
    whole = np.rint(rng.normal(0, LARGEST / 4, (rows, inputs)).clip(-LARGEST, LARGEST)).astype(np.float32)
    return whole, rng.integers(-LARGEST, LARGEST + 1, (inputs, outputs), dtype=np.int8)


def exact(whole: Floats, matrix: NDArray[np.int8]) -> NDArray[np.int64]:
    return whole.astype(np.int64) @ matrix.astype(np.int64)


@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_gives_the_whole_numbers(shape: tuple[int, int, int]) -> None:
    whole, matrix = drawn(*shape)
    for often in (True, False):
        assert np.array_equal(with_numpy(matrix, often=often)(whole), exact(whole, matrix))


@pytest.mark.parametrize("shape", SHAPES)
def test_numkong_gives_the_same(shape: tuple[int, int, int]) -> None:
    whole, matrix = drawn(*shape)
    assert np.array_equal(with_numkong(matrix)(whole), exact(whole, matrix))


def test_the_largest_numbers_do_not_saturate() -> None:
    matrix = np.full((384, 64), LARGEST, np.int8)
    whole = np.full((3, 384), -LARGEST, np.float32)
    assert (product(matrix)(whole) == -384 * LARGEST**2).all()


def test_sums_that_a_float_cannot_hold_are_refused() -> None:
    with pytest.raises(ValueError, match="too large for its products to be exact"):
        product(np.full((1536, 64), LARGEST, np.int8))


def test_threads_multiply_beside_each_other() -> None:
    whole, matrix = drawn(40, 384, 384)
    multiply = product(matrix)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: multiply(whole), range(16)))
    assert all(np.array_equal(each, exact(whole, matrix)) for each in found)
