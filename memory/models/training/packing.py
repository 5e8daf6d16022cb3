"""The weights of an encoder as the arrays that are shipped, and back: matrices as small integers with a scale for each
output, the rest in half precision."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

LINEAR: Final = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "inner": "intermediate.dense",
    "outer": "output.dense",
}
"""The matrices of a layer by their names here, and what MiniLM calls them."""
NORMS: Final = {"attended_norm": "attention.output.LayerNorm", "outer_norm": "output.LayerNorm"}
"""Its normalizations likewise."""
Array = NDArray[Any]
Pair = tuple[Array, Array]
"""A matrix and a bias, or a scale and a shift."""


def as_small_integers(matrix: Array, axis: int) -> Pair:
    """A matrix as integers of eight bits, and what to multiply each row or column with."""
    scales = np.maximum(np.abs(matrix).max(axis=axis), 1e-8) / 127
    return np.rint(matrix / np.expand_dims(scales, axis)).astype(np.int8), scales.astype(np.float32)


def packed_linear(name: str, own: Pair) -> dict[str, Array]:
    """A matrix and its bias."""
    rows, scales = as_small_integers(own[0], 0)
    return {f"{name}.rows": rows, f"{name}.scales": scales, f"{name}.bias": own[1].astype(np.float16)}


def packed_norm(name: str, own: Pair) -> dict[str, Array]:
    """A scale and a shift."""
    return {f"{name}.scale": own[0].astype(np.float16), f"{name}.shift": own[1].astype(np.float16)}


def packed_layer(name: str, layer: Mapping[str, Pair]) -> dict[str, Array]:
    """A layer."""
    arrays: dict[str, Array] = {}
    for own in LINEAR:
        arrays |= packed_linear(f"{name}.{own}", layer[own])
    for own in NORMS:
        arrays |= packed_norm(f"{name}.{own}", layer[own])
    return arrays


def layer_of(arrays: Mapping[str, Array], name: str) -> dict[str, Pair]:
    """A layer out of its arrays, in single precision."""

    def single(*path: str) -> Array:
        return arrays[".".join((name, *path))].astype(np.float32)

    linear = {own: (single(own, "rows") * single(own, "scales"), single(own, "bias")) for own in LINEAR}
    return linear | {own: (single(own, "scale"), single(own, "shift")) for own in NORMS}


def embedded_of(arrays: Mapping[str, Array]) -> dict[str, Any]:
    """What comes before the layers, out of its arrays, in single precision."""
    return {
        "pieces": arrays["pieces.rows"].astype(np.float32) * arrays["pieces.scales"].astype(np.float32)[:, None],
        "places": arrays["places"].astype(np.float32),
        "sides": arrays["sides"].astype(np.float32),
        "norm": (
            arrays["pieces.norm.scale"].astype(np.float32),
            arrays["pieces.norm.shift"].astype(np.float32),
        ),
    }
