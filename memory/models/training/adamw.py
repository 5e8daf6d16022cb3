"""AdamW in JAX (Loshchilov & Hutter 2019), as everything is fitted that begins with the layers of an encoder."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def rate_at(step: int, steps: int, most: float) -> float:
    """The rate of a step, counted from 1: it rises to ``most`` over a tenth of the run and falls to nothing behind
    it."""
    rises = 0.1 * steps
    return most * (step / rises if step < rises else min(step / rises, 1.0 - (step - 1) / steps))


def moved(
    weights: Any, slope: Any, moments: tuple[Any, Any], step: Any, rate: Any, pace: Any
) -> tuple[Any, tuple[Any, Any]]:
    """The weights after a step along a slope, which is cut to norm one, and its moments; ``pace`` says for each weight
    how many times the rate it learns at, 0 leaves it as it is."""
    slope = jax.tree.map(lambda each, own: each * (own > 0), slope, pace)
    norm = jnp.sqrt(sum((each**2).sum() for each in jax.tree.leaves(slope)))
    slope = jax.tree.map(lambda each: each * jnp.minimum(1.0, 1.0 / norm), slope)
    first = jax.tree.map(lambda mean, each: 0.9 * mean + 0.1 * each, moments[0], slope)
    second = jax.tree.map(lambda mean, each: 0.999 * mean + 0.001 * each * each, moments[1], slope)

    def one(weight: Any, mean: Any, square: Any, own: Any) -> Any:
        along = (mean / (1 - 0.9**step)) / (jnp.sqrt(square / (1 - 0.999**step)) + 1e-8)
        return weight - rate * own * (along + 0.01 * weight)

    return jax.tree.map(one, weights, first, second, pace), (first, second)
