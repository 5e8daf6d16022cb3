"""A transformer encoder as numpy computes it: the arithmetic of BERT (Devlin et al. 2019), with the norms behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.understanding.integer_product import LARGEST, Product

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


class QuantizedLinear(NamedTuple):
    """The same in whole numbers: each row of inputs as small integers with a step of its own, times a matrix of small
    integers with a scale for each output. What comes of a row depends on no other, and not on who multiplies."""

    product: Product
    scales: Floats
    bias: Floats

    def __call__(self, x: Floats) -> Floats:
        """Rows of inputs as rows of outputs."""
        steps: Floats = np.maximum(np.abs(x).max(-1, keepdims=True), _SMALLEST) / np.float32(LARGEST)
        whole: Floats = x / steps
        np.rint(whole, out=whole)
        out = self.product(whole)
        out *= steps
        out *= self.scales
        out += self.bias
        return out


class Norm(NamedTuple):
    """The scale and the shift of a layer norm (Ba et al. 2016)."""

    scale: Floats
    shift: Floats

    def __call__(self, x: Floats) -> Floats:
        """Each row with mean zero and variance one, scaled and shifted."""
        share = np.float32(1.0 / x.shape[-1])
        mean: Floats = np.add.reduce(x, -1, keepdims=True) * share
        centred = x - mean
        variance: Floats = np.einsum("...i,...i->...", centred, centred)[..., None] * share
        centred /= np.sqrt(variance + np.float32(1e-12))
        centred *= self.scale
        centred += self.shift
        return centred


Dense = Linear | QuantizedLinear
_SMALLEST: Final = np.float32(1e-30)
"""What the largest of a row counts as at least, so that a row of zeros has a step."""


@dataclass(frozen=True, slots=True)
class TransformerBlock:
    """One layer: attention, then two dense layers, each added to what went in and normed."""

    looks: Dense
    """Query, key and value of each row, side by side."""
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
            padded = np.zeros((batch * length, 3 * width), np.float32)
            padded[real] = flat
            flat = padded
        return flat.reshape(batch, length, 3, heads, size).transpose(2, 0, 3, 1, 4)

    for layer, block in enumerate(blocks, 1):
        query, key, value = split(block.looks(rows))
        query = query * np.float32(size**-0.5)
        scores: Floats = query @ key.transpose(0, 1, 3, 2)
        scores += padding
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        seen: Floats = scores @ value
        seen /= scores.sum(-1, keepdims=True)
        mixed: Floats = seen.transpose(0, 2, 1, 3).reshape(-1, width)
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
    """x·Φ(x), in the place of x, by the hyperbolic tangent (Hendrycks and Gimpel 2016), whose error is below 5e-4: less
    than what the small integers leave of it."""
    rows = np.atleast_2d(x)
    for start in range(0, len(rows), TOGETHER):
        part = rows[start : start + TOGETHER]
        share = part * part
        share *= _CUBIC
        share += _LINEAR
        share *= part
        np.tanh(share, out=share)
        share += np.float32(1)
        share *= np.float32(0.5)
        part *= share
    return x


_LINEAR: Final = np.float32((2 / np.pi) ** 0.5)
_CUBIC: Final = np.float32(0.044715 * (2 / np.pi) ** 0.5)
