import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.understanding.integer_product import product
from memory.understanding.transformer import Floats, Linear, Norm, QuantizedLinear, TransformerBlock, encode, gelu

WIDTH, INNER, HEADS = 24, 48, 4


def blocks(seed: int, many: int = 2) -> list[TransformerBlock]:
    rng = np.random.default_rng(seed)

    def linear(inputs: int, outputs: int) -> Linear:
        return Linear(
            rng.normal(0, 0.3, (inputs, outputs)).astype(np.float32), rng.normal(0, 0.3, outputs).astype(np.float32)
        )

    def norm() -> Norm:
        return Norm(np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32))

    def block() -> TransformerBlock:
        return TransformerBlock(
            looks=linear(WIDTH, 3 * WIDTH),
            attended=linear(WIDTH, WIDTH),
            attended_norm=norm(),
            inner=linear(WIDTH, INNER),
            outer=linear(INNER, WIDTH),
            outer_norm=norm(),
        )

    return [block() for _ in range(many)]


def drawn(seed: int, *shape: int) -> Floats:
    return np.random.default_rng(seed).normal(size=(*shape, WIDTH)).astype(np.float32)


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(1, 12))
def test_padding_changes_nothing(seed: int, length: int, padding: int) -> None:
    own = drawn(seed, 1, length)
    padded = np.concatenate([own, drawn(seed + 1, 1, padding)], axis=1)
    mask = np.concatenate([np.ones((1, length)), np.zeros((1, padding))], axis=1).astype(np.float32)
    alone = encode(own, np.ones((1, length), np.float32), blocks(seed), HEADS)
    assert encode(padded, mask, blocks(seed), HEADS)[:, :length] == pytest.approx(alone, abs=1e-4)


@given(st.integers(0, 1000), st.integers(2, 5), st.integers(1, 8))
def test_no_text_of_a_batch_sees_another(seed: int, rows: int, length: int) -> None:
    many = drawn(seed, rows, length)
    ones = np.ones((rows, length), np.float32)
    together = encode(many, ones, blocks(seed), HEADS)
    for row in range(rows):
        assert encode(many[row : row + 1], ones[:1], blocks(seed), HEADS)[0] == pytest.approx(together[row], abs=1e-4)


@given(st.integers(0, 1000), st.data())
def test_what_is_not_wanted_changes_nothing_of_what_is(seed: int, data: st.DataObject) -> None:
    lengths = data.draw(st.lists(st.integers(1, 7), min_size=1, max_size=4))
    mask = np.array([[at < length for at in range(max(lengths))] for length in lengths], np.float32)
    chosen = data.draw(st.lists(st.booleans(), min_size=mask.size, max_size=mask.size))
    wanted = np.array(chosen, np.bool_).reshape(mask.shape) & (mask > 0)
    many = drawn(seed, *mask.shape)
    whole = encode(many, mask, blocks(seed), HEADS)
    some = encode(many, mask, blocks(seed), HEADS, wanted)
    assert some[wanted] == pytest.approx(whole[wanted], abs=1e-4)
    assert not some[~wanted].any()


def test_what_stands_elsewhere_in_a_text_counts() -> None:
    one = drawn(1, 1, 6)
    other = one.copy()
    other[0, 5] = drawn(2, 1)[0]
    ones = np.ones((1, 6), np.float32)
    assert not np.allclose(encode(one, ones, blocks(3), HEADS)[0, 0], encode(other, ones, blocks(3), HEADS)[0, 0])


@given(st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=20))
def test_the_activation_is_x_times_the_normal_distribution(values: list[float]) -> None:
    wanted = [x * 0.5 * (1 + math.erf(x / math.sqrt(2))) for x in values]
    assert gelu(np.asarray(values, np.float32)) == pytest.approx(np.asarray(wanted), abs=5e-4)


@given(st.integers(0, 1000), st.integers(1, 6))
def test_small_integers_give_about_what_floats_give_and_no_row_sees_another(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-127, 128, (WIDTH, INNER), dtype=np.int8)
    scales, bias = rng.uniform(0.001, 0.01, INNER).astype(np.float32), rng.normal(size=INNER).astype(np.float32)
    layer = QuantizedLinear(product(matrix), scales, bias)
    x = drawn(seed, rows)
    together = layer(x)
    assert together == pytest.approx(Linear(matrix * scales, bias)(x), abs=0.1)
    assert all(np.array_equal(layer(x[at : at + 1])[0], together[at]) for at in range(rows))


def test_a_row_of_zeros_gives_the_bias() -> None:
    bias = np.arange(3, dtype=np.float32)
    layer = QuantizedLinear(product(np.ones((4, 3), np.int8)), np.ones(3, np.float32), bias)
    assert np.array_equal(layer(np.zeros((2, 4), np.float32)), [bias, bias])
