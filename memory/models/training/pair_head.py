"""Fit what reads the relation of two statements, on the states of an encoder that is there:
``python -m memory.models.training.pair_head --out memory/models/data``.

The encoder learns its states from pairs that share a subject or nothing at all. In a project most pairs share the
project, the people and the manner, and no subject: those are added here, where they cost a minute. With ``--folds``
nothing is written: a quarter of the authors is left out in turn, and what is said of their pairs is compared with their
labels. Every figure about relations in the documentation comes from there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memory.language.static_embedding import DATA
from memory.models.training.examples import StatementPair, asides, neighbours, related
from memory.models.training.fitting import FittingPlan, Floats, Network, fit, softmax_slope
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import sessions
from memory.understanding.encoder import RELATIONS, encoder_of
from memory.understanding.network import softmax
from memory.understanding.packaged_weights import ENCODER

PLAN: Final = FittingPlan(
    widths=(), hidden=64, heads=len(RELATIONS), epochs=20, batch=256, drop_dense=0.2, drop_hidden=0.3, decay=1e-5
)
BATCH: Final = 48
FOLDS: Final = 4
Arrays = Mapping[str, NDArray[Any]]


def examples(talk: Sequence[dict[str, Any]]) -> tuple[list[StatementPair], NDArray[np.bool_]]:
    """The authors' pairs, and behind them those of one session, with a mark at these."""
    by_authors, of_sessions = related(asides(talk)), neighbours(talk)
    return [*by_authors, *of_sessions], np.arange(len(by_authors) + len(of_sessions)) >= len(by_authors)


def states_of(arrays: Arrays, pairs: Sequence[StatementPair]) -> Floats:
    """What the encoder says of each pair before anything is concluded: shape (n, 2 * width)."""
    encoder = encoder_of(arrays)
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].older) + len(pairs[at].newer))
    found: dict[int, Floats] = {}
    for start in range(0, len(order), BATCH):
        chosen = order[start : start + BATCH]
        rows = encoder.pair_states([(pairs[at].older, pairs[at].newer) for at in chosen])
        found |= dict(zip(chosen, rows, strict=True))
    return np.stack([found[at] for at in range(len(pairs))])


def fit_head(states: Floats, relations: NDArray[np.int64]) -> Network:
    """The network fitted to states of mean zero and variance one."""

    def loss(outputs: Floats, chosen: NDArray[np.int64]) -> Floats:
        return softmax_slope(outputs, relations[chosen], np.ones(len(chosen), np.float32))

    return fit([], states, loss, PLAN, 0)


def with_pair_head(arrays: Arrays, talk: Sequence[dict[str, Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of an encoder with a head for pairs that is fitted to its states."""
    pairs, _ = examples(talk)
    states = states_of(arrays, pairs)
    mean, spread = states.mean(axis=0), states.std(axis=0) + 1e-3
    weights = fit_head((states - mean) / spread, np.array([each.relation for each in pairs])).weights
    first = weights["W1"] / spread[:, None]
    return {
        **{name: array for name, array in arrays.items() if not name.startswith("pair.")},
        "pair.hidden.weights": first.astype(np.float16),
        "pair.hidden.bias": (weights["b1"] - mean @ first).astype(np.float32),
        "pair.out.weights": weights["W2"].astype(np.float32),
        "pair.out.bias": weights["b2"].astype(np.float32),
    }


def report(arrays: Arrays, talk: Sequence[dict[str, Any]]) -> str:
    """How well the head agrees with authors who are left out, in a few lines."""
    pairs, near = examples(talk)
    states = states_of(arrays, pairs)
    states = (states - states.mean(axis=0)) / (states.std(axis=0) + 1e-3)
    labels = np.array([each.relation for each in pairs])
    authors = sorted({each.author for each in pairs})
    fold = {name: at % FOLDS for at, name in enumerate(np.random.default_rng(0).permutation(authors).tolist())}
    folds = np.array([fold[each.author] for each in pairs])
    shares = np.zeros((len(pairs), len(RELATIONS)), np.float32)
    for at in range(FOLDS):
        others = folds != at
        network = fit_head(states[others], labels[others])
        shares[~others] = softmax(network.outputs([], states[~others]))
    by_authors = ~near
    lines = [f"{by_authors.sum()} pairs by authors, {near.sum()} of one session"]
    lines.append(f"right {(shares.argmax(axis=1) == labels)[by_authors].mean():.3f}")
    odds = shares[:, RELATIONS.index("replaces")] + shares[:, RELATIONS.index("contradicts")]
    marks = {
        "same >= .6": shares[:, 0] >= 0.6,
        "same >= .9": shares[:, 0] >= 0.9,
        "at odds >= .4": odds >= 0.4,
    }
    for name, mark in marks.items():
        of = "  ".join(f"{each} {mark[by_authors & (labels == at)].mean():.3f}" for at, each in enumerate(RELATIONS))
        lines.append(f"{name}: {of}  of one session {mark[near].mean():.4f}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Write the encoder with its head fitted anew, or report about authors who are left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--folds", action="store_true")
    given = parser.parse_args(arguments)
    with np.load(DATA / ENCODER) as stored:
        arrays = dict(stored)
    talk = sessions()
    if given.folds:
        print(report(arrays, talk))
    if given.out:
        replace_tables(given.out / ENCODER, with_pair_head(arrays, talk))


if __name__ == "__main__":
    main(sys.argv[1:])
