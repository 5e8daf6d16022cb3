"""A transformer encoder as numpy computes it: the arithmetic of BERT (Devlin et al. 2019), with the norms behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


@dataclass(frozen=True, slots=True)
class Block:
    """One layer: attention, then two dense layers, each added to what went in and normed."""

    query: Linear
    key: Linear
    value: Linear
    attended: Linear
    attended_norm: Norm
    inner: Linear
    outer: Linear
    outer_norm: Norm


def encode(x: Floats, mask: Floats, blocks: Sequence[Block], heads: int) -> Floats:
    """The last hidden states (batch, tokens, width) of embedded tokens ``x`` of that shape; ``mask`` (batch, tokens) is
    0 for padding."""
    batch, length, width = x.shape
    size = width // heads
    padding: Floats = np.where(mask > 0, np.float32(0), np.float32(-1e9))[:, None, None, :]

    def split(flat: Floats) -> Floats:
        return flat.reshape(batch, length, heads, size).transpose(0, 2, 1, 3)

    x = x.reshape(-1, width)
    for block in blocks:
        query, key, value = split(block.query(x)), split(block.key(x)), split(block.value(x))
        scores: Floats = query @ key.transpose(0, 1, 3, 2) * np.float32(size**-0.5) + padding
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        mixed: Floats = (scores @ value).transpose(0, 2, 1, 3).reshape(-1, width)
        x = block.attended_norm(x + block.attended(mixed))
        x = block.outer_norm(x + block.outer(gelu(block.inner(x))))
    states: Floats = x.reshape(batch, length, width)
    return states


def gelu(x: Floats) -> Floats:
    """x·Φ(x) with the error function of Abramowitz and Stegun 7.1.26, whose error is below 1.5e-7."""
    z = np.abs(x) * np.float32(0.7071067811865476)
    t = 1 / (1 + np.float32(0.3275911) * z)
    poly = t * (
        np.float32(0.254829592)
        + t
        * (
            np.float32(-0.284496736)
            + t * (np.float32(1.421413741) + t * (np.float32(-1.453152027) + t * np.float32(1.061405429)))
        )
    )
    erf = 1 - poly * np.exp(-z * z)
    result: Floats = x * np.float32(0.5) * (1 + np.copysign(erf, x))
    return result
