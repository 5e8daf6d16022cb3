"""A transformer encoder as numpy computes it: the arithmetic of BERT (Devlin et al. 2019), with the norms behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class Linear(NamedTuple):
    """A weight matrix (inputs by outputs) and a bias."""

    weights: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Rows of inputs as rows of outputs."""
        out: Floats = x @ self.weights
        out += self.bias
        return out


class PackedLinear(NamedTuple):
    """The same as small integers ``rows`` times ``scales``, one for each output: a quarter of the memory, and unpacked
    with every use, which takes about a tenth of what it takes to use it."""

    rows: NDArray[np.int8]
    scales: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Rows of inputs as rows of outputs."""
        out: Floats = x @ np.multiply(self.rows, self.scales, dtype=np.float32)
        out += self.bias
        return out


class Norm(NamedTuple):
    """The scale and the shift of a layer norm (Ba et al. 2016)."""

    scale: Floats
    shift: Floats

    def __call__(self, x: Floats) -> Floats:
        """Each row with mean zero and variance one, scaled and shifted."""
        centred: Floats = x - x.mean(-1, keepdims=True)
        variance = np.mean(centred * centred, axis=-1, keepdims=True)
        centred /= np.sqrt(variance + np.float32(1e-12))
        centred *= self.scale
        centred += self.shift
        return centred


Dense = Linear | PackedLinear


@dataclass(frozen=True, slots=True)
class TransformerBlock:
    """One layer: attention, then two dense layers, each added to what went in and normed."""

    query: Dense
    key: Dense
    value: Dense
    attended: Dense
    attended_norm: Norm
    inner: Dense
    outer: Dense
    outer_norm: Norm


def encode(
    x: Floats, mask: Floats, blocks: Sequence[TransformerBlock], heads: int, wanted: NDArray[np.bool_] | None = None
) -> Floats:
    """The last hidden states (batch, tokens, width) of embedded tokens ``x`` of that shape; ``mask`` (batch, tokens) is
    0 for padding. ``wanted``, of the mask's shape, says whose states are needed: all the rest are zero."""
    batch, length, width = x.shape
    size = width // heads
    padding: Floats = np.where(mask > 0, np.float32(0), np.float32(-1e9))[:, None, None, :]
    real = np.flatnonzero(mask)
    rows = x.reshape(-1, width)[real]

    def split(flat: Floats) -> Floats:
        if len(real) < batch * length:
            padded = np.zeros((batch * length, width), np.float32)
            padded[real] = flat
            flat = padded
        return flat.reshape(batch, length, heads, size).transpose(0, 2, 1, 3)

    for layer, block in enumerate(blocks, 1):
        query, key, value = split(block.query(rows)), split(block.key(rows)), split(block.value(rows))
        query = query * np.float32(size**-0.5)
        scores: Floats = query @ key.transpose(0, 1, 3, 2)
        scores += padding
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        mixed: Floats = (scores @ value).transpose(0, 2, 1, 3).reshape(-1, width)
        if wanted is not None and layer == len(blocks):
            # Nobody looks at the others behind the last layer, so nothing but their keys and values is needed.
            asked = np.flatnonzero(wanted.ravel()[real])
            rows, real = rows[asked], real[asked]
        rows = block.attended_norm(rows + block.attended(mixed[real]))
        rows = block.outer_norm(rows + block.outer(gelu(block.inner(rows))))
    states: Floats = np.zeros((batch * length, width), np.float32)
    states[real] = rows
    return states.reshape(batch, length, width)


TOGETHER: Final = 32
"""Rows that are worked on at once, so that what lies between two steps stays in the processor's cache."""


def gelu(x: Floats) -> Floats:
    """x·Φ(x), in the place of x, with the error function of Abramowitz and Stegun 7.1.26, whose error is below
    1.5e-7."""
    rows = np.atleast_2d(x)
    for start in range(0, len(rows), TOGETHER):
        part = rows[start : start + TOGETHER]
        z = np.abs(part)
        z *= np.float32(0.7071067811865476)
        t = z * np.float32(0.3275911)
        t += np.float32(1)
        np.divide(np.float32(1), t, out=t)
        poly = t * np.float32(1.061405429)
        for factor in _POLYNOMIAL:
            poly += factor
            poly *= t
        # The error function, in the place of z: one less a polynomial times exp(-z²), with the sign of x.
        z *= z
        np.negative(z, out=z)
        np.exp(z, out=z)
        z *= poly
        np.subtract(np.float32(1), z, out=z)
        np.copysign(z, part, out=z)
        z += np.float32(1)
        part *= np.float32(0.5)
        part *= z
    return x


_POLYNOMIAL: Final = tuple(map(np.float32, (-1.453152027, 1.421413741, -0.284496736, 0.254829592)))
