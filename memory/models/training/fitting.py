"""Fit a bag-of-features network: tables of features, one hidden layer, several heads. NumPy alone, and deterministic.

Adam (Kingma & Ba 2015) with lazy moments for the tables, dropout of features and of hidden units (Srivastava et al.
2014), a learning rate that falls to nothing, and the mean of the weights over the last part of the run (Izmailov et
al. 2018). The same data, seed and NumPy give the same weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory.understanding.network import softmax

Floats = NDArray[np.float32]
Bags = Sequence[NDArray[np.int64]]

Loss = Callable[[Floats, NDArray[np.int64]], Floats]
"""The gradient of the loss by the heads' outputs (n, heads), for the examples with these numbers."""


@dataclass(frozen=True, slots=True)
class FittingPlan:
    """How to fit. ``widths`` are the columns of each table, ``drop_bags`` how often a whole bag of each is left out, so
    that the other inputs learn to do without it."""

    widths: tuple[int, ...]
    hidden: int
    heads: int
    epochs: int = 16
    batch: int = 128
    rate: float = 2e-3
    drop_features: float = 0.35
    drop_hidden: float = 0.3
    drop_dense: float = 0.2
    drop_bags: tuple[float, ...] = ()
    decay: float = 1e-5
    seed: int = 0


@dataclass
class Network:
    """The weights while they are fitted."""

    tables: list[Floats]
    weights: dict[str, Floats]

    def outputs(self, bags: Sequence[Bags], dense: Floats) -> Floats:
        """The heads' outputs for some examples."""
        rows = [
            np.stack([table[bag].sum(axis=0) / np.sqrt(len(bag) + 1.0) for bag in each]).astype(np.float32)
            for table, each in zip(self.tables, bags, strict=True)
        ]
        inputs = np.concatenate([*rows, dense], axis=1)
        w = self.weights
        hidden = np.maximum(inputs @ w["W1"] + w["b1"], 0.0)
        out: Floats = hidden @ w["W2"] + w["b2"]
        return out


def fit(bags: Sequence[Bags], dense: Floats, loss: Loss, plan: FittingPlan, size: int) -> Network:
    """The network fitted to some examples: for each table their bags of rows below ``size``, and dense inputs."""
    rng = np.random.default_rng(plan.seed)
    many = len(dense)
    inputs = sum(plan.widths) + dense.shape[1]

    def drawn(*shape: int, scale: float) -> Floats:
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    tables = [drawn(size, width, scale=0.05) for width in plan.widths]
    weights = {
        "W1": drawn(inputs, plan.hidden, scale=0.08),
        "b1": np.zeros(plan.hidden, np.float32),
        "W2": drawn(plan.hidden, plan.heads, scale=0.1),
        "b2": np.zeros(plan.heads, np.float32),
    }
    moments = {name: (np.zeros_like(value), np.zeros_like(value)) for name, value in weights.items()}
    table_moments = [(np.zeros_like(table), np.zeros_like(table)) for table in tables]
    sums = {name: np.zeros_like(value, dtype=np.float64) for name, value in weights.items()}
    table_sums = [np.zeros_like(table, dtype=np.float32) for table in tables]
    averaged = 0
    steps = plan.epochs * (many // plan.batch)
    step = 0
    for _ in range(plan.epochs):
        order = rng.permutation(many)
        for start in range(0, many - plan.batch + 1, plan.batch):
            chosen = order[start : start + plan.batch]
            step += 1
            rate = plan.rate * (1.0 - (step - 1) / steps)
            parts, counts = [], []
            for place, (table, each) in enumerate(zip(tables, bags, strict=True)):
                lost = plan.drop_bags[place] if plan.drop_bags else 0.0
                rows, matrix = _counted([each[at] for at in chosen], rng, plan.drop_features)
                matrix[rng.random(len(matrix)) < lost] = 0.0
                counts.append((rows, matrix))
                parts.append(matrix @ table[rows])
            beside = dense[chosen]
            if plan.drop_dense:
                beside = beside * (rng.random(beside.shape) >= plan.drop_dense) / np.float32(1 - plan.drop_dense)
            x = np.concatenate([*parts, beside], axis=1).astype(np.float32)
            before = x @ weights["W1"] + weights["b1"]
            mask = (before > 0) * (rng.random(before.shape) >= plan.drop_hidden) / np.float32(1 - plan.drop_hidden)
            hidden = (before * mask).astype(np.float32)
            slope = loss(hidden @ weights["W2"] + weights["b2"], chosen)
            back = (slope @ weights["W2"].T) * mask
            to_inputs = back @ weights["W1"].T
            slopes = {"W2": hidden.T @ slope, "b2": slope.sum(0), "W1": x.T @ back, "b1": back.sum(0)}
            for name, value in slopes.items():
                adam(weights[name], moments[name], value.astype(np.float32), rate, plan.decay, step)
            column = 0
            for table, (first, second), (rows, matrix), width in zip(
                tables, table_moments, counts, plan.widths, strict=True
            ):
                value = (matrix.T @ to_inputs[:, column : column + width]).astype(np.float32)
                column += width
                own, one, two = table[rows], first[rows], second[rows]
                adam(own, (one, two), value, rate, plan.decay, step)
                table[rows], first[rows], second[rows] = own, one, two
            if step > steps * 0.6 and step % 8 == 0:
                averaged += 1
                for name, value in weights.items():
                    sums[name] += value
                for total, table in zip(table_sums, tables, strict=True):
                    total += table
    if averaged:
        weights = {name: (total / averaged).astype(np.float32) for name, total in sums.items()}
        tables = [(total / averaged).astype(np.float32) for total in table_sums]
    return Network(tables, weights)


def _counted(
    bags: Sequence[NDArray[np.int64]], rng: np.random.Generator, drop: float
) -> tuple[NDArray[np.int64], Floats]:
    """The rows that some bags have, and how much of each is in each bag, some left out."""
    bags_left = [bag[rng.random(len(bag)) >= drop] if drop else bag for bag in bags]
    rows, places = np.unique(np.concatenate(bags_left), return_inverse=True)
    matrix = np.zeros((len(bags), len(rows)), np.float32)
    owner = np.repeat(np.arange(len(bags)), [len(bag) for bag in bags_left])
    np.add.at(matrix, (owner, places), 1.0)
    matrix /= np.sqrt(np.array([len(bag) for bag in bags_left], np.float32) + 1.0)[:, None]
    return rows, matrix


def adam(value: Floats, moments: tuple[Floats, Floats], slope: Floats, rate: float, decay: float, step: int) -> None:
    """One step of Adam: a value and its moments are changed in place."""
    first, second = moments
    first *= 0.9
    first += 0.1 * slope
    second *= 0.999
    second += 0.001 * slope * slope
    value -= rate * ((first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8) + decay * value)


def average_precision(scores: Floats, wanted: NDArray[np.bool_]) -> float:
    """The mean, over what is wanted, of how much of what has its score or more is wanted."""
    ordered = wanted[np.argsort(-scores, kind="stable")]
    return float((np.cumsum(ordered) / np.arange(1, len(ordered) + 1))[ordered].mean())


def softmax_slope(scores: Floats, wanted: NDArray[np.int64], weights: Floats | None = None) -> Floats:
    """The gradient of the mean cross-entropy of rows of scores; ``wanted`` below 0 is not counted."""
    slope = softmax(scores)
    rows = np.flatnonzero(wanted >= 0)
    slope[rows, wanted[rows]] -= 1.0
    slope[wanted < 0] = 0.0
    if weights is not None:
        slope = slope * weights[:, None]
    out: Floats = (slope / max(len(rows), 1)).astype(np.float32)
    return out


def allowed_slope(scores: Floats, allowed: NDArray[np.bool_]) -> Floats:
    """The gradient of the mean of -log of the probability of all that is ``allowed``, by rows of scores: of what is
    labelled in part (Cour et al. 2011, *Learning from Partial Labels*). Rows that allow nothing are not counted."""
    shares = softmax(scores)
    among = shares * allowed
    counted = allowed.any(axis=1, keepdims=True)
    slope = (shares - among / np.maximum(among.sum(axis=1, keepdims=True), 1e-12)) * counted
    out: Floats = (slope / max(int(counted.sum()), 1)).astype(np.float32)
    return out


def logistic_slope(scores: Floats, wanted: Floats, counted: NDArray[np.bool_]) -> Floats:
    """The gradient of the mean binary cross-entropy of scores, over the rows that are counted."""
    slope = (1.0 / (1.0 + np.exp(-scores)) - wanted) * counted[:, None]
    out: Floats = (slope / max(int(counted.sum()) * scores.shape[1], 1)).astype(np.float32)
    return out
