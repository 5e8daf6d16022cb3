"""AdamW in JAX (Loshchilov & Hutter 2019), as everything is fitted that begins with the layers of an encoder."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Batch = dict[str, Any]


def fit(
    weights: Any,
    loss: Callable[[Any, Batch, Any], Any],
    batches: Callable[[np.random.Generator], Iterable[Batch]],
    pace: Callable[[Any, str], Any],
    *,
    epochs: int,
    rate: float,
    head: Callable[[Batch], str] = lambda _: "",
) -> Any:
    """The weights fitted to some batches, which are drawn anew for each epoch. ``loss`` takes weights, a batch and a
    key for what is dropped; ``pace`` gives for each of the weights how many times the ``rate`` it learns at (see
    :func:`moved`), where that hangs on it with the ``head`` that a batch is for."""
    rng = np.random.default_rng(0)
    key = jax.random.PRNGKey(0)
    weights = jax.tree.map(jnp.asarray, weights)
    still = jax.tree.map(jnp.zeros_like, weights)
    moments = still, still
    steps = epochs * sum(1 for _ in batches(np.random.default_rng(0)))

    @partial(jax.jit, static_argnums=5)
    def step(weights: Any, moments: Any, batch: Any, at: Any, rate: Any, head: str) -> Any:
        value, slope = jax.value_and_grad(loss)(weights, batch, jax.random.fold_in(key, at.astype(int)))
        weights, moments = moved(weights, slope, moments, at, rate, pace(weights, head))
        return weights, moments, value

    at = 0
    for epoch in range(epochs):
        total = 0.0
        for batch in batches(rng):
            at += 1
            weights, moments, value = step(weights, moments, batch, float(at), rate_at(at, steps, rate), head(batch))
            total += float(value)
        print(f"epoch {epoch + 1} of {epochs}: loss {total * epochs / steps:.3f}", file=sys.stderr, flush=True)
    return jax.tree.map(np.asarray, weights)


def paced(weights: Any, often: float) -> Any:
    """The same pace for each of some weights."""
    return jax.tree.map(lambda _: often, weights)


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
