"""Make the clause model: ``python -m memory.models.training.clauses --out memory/models/data``.

With ``--by-author`` nothing is written: each author is left out of training in turn, and what the model says of their
talk is compared with their labels. Every figure about it in the documentation comes from there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.language.static_embedding import StaticEmbedding
from memory.models.training.fitting import (
    FittingPlan,
    Floats,
    Loss,
    Network,
    allowed_slope,
    fit,
    logistic_slope,
    softmax_slope,
)
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import KEPT, PASSED, Labelled, clauses, gaps, recut, sessions, working
from memory.understanding.clauses import ClauseSplitter
from memory.understanding.features import SIZE
from memory.understanding.network import LASTING_KINDS, PASSING_KINDS, SCOPES, softmax
from memory.understanding.packaged_weights import WEIGHTS

KINDS: Final = len(LASTING_KINDS) + len(PASSING_KINDS)
HEADS: Final = KINDS + len(SCOPES) + 4
PLAN: Final = FittingPlan(widths=(64, 32), hidden=128, heads=HEADS, epochs=5, drop_bags=(0.0, 0.5))
BESIDE: Final = 0.4
"""What scope and flags weigh beside the kind."""


def fit_clauses(examples: Sequence[Labelled], embedding: StaticEmbedding, plan: FittingPlan = PLAN) -> Network:
    """The network fitted to labelled clauses."""
    loss = clause_slopes(
        np.array([each.kind for each in examples]),
        np.array([each.scope for each in examples]),
        np.array([each.flags for each in examples], np.float32),
    )
    return fit(
        [[each.says for each in examples], [each.around for each in examples]],
        _dense(examples, embedding),
        loss,
        plan,
        SIZE,
    )


def clause_slopes(kinds: NDArray[np.int64], scopes: NDArray[np.int64], flags: Floats) -> Loss:
    """The loss of what is said of clauses with these labels."""
    allowed = allowed_kinds(kinds)
    guided = (kinds >= 0) & (kinds < len(LASTING_KINDS))

    def loss(outputs: Floats, chosen: NDArray[np.int64]) -> Floats:
        return np.concatenate(
            [
                allowed_slope(outputs[:, :KINDS], allowed[chosen]),
                BESIDE * softmax_slope(outputs[:, KINDS : KINDS + len(SCOPES)], scopes[chosen]),
                BESIDE * 4 * logistic_slope(outputs[:, KINDS + len(SCOPES) :], flags[chosen], guided[chosen]),
            ],
            axis=1,
        )

    return loss


def allowed_kinds(kinds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which kinds each clause may be of, by its label: shape (clauses, kinds)."""
    allowed: NDArray[np.bool_] = kinds[:, None] == np.arange(KINDS)
    allowed[kinds == KEPT, : len(LASTING_KINDS)] = True
    allowed[kinds == PASSED, len(LASTING_KINDS) :] = True
    return allowed


def judged(network: Network, examples: Sequence[Labelled], embedding: StaticEmbedding) -> Floats:
    """The outputs of the heads for some clauses."""
    return network.outputs(
        [[each.says for each in examples], [each.around for each in examples]], _dense(examples, embedding)
    )


def fit_boundary(features: NDArray[np.int64], begins: NDArray[np.bool_], epochs: int = 4, seed: int = 0) -> Floats:
    """Logistic regression over the features of gaps (AdaGrad, Duchi et al. 2011); the last weight is the bias."""
    rng = np.random.default_rng(seed)
    weights, seen = np.zeros(SIZE + 1), np.ones(SIZE + 1)
    rows = np.concatenate([features, np.full((len(features), 1), SIZE)], axis=1)
    for _ in range(epochs):
        order = rng.permutation(len(rows))
        for start in range(0, len(rows), 32):
            chosen = rows[order[start : start + 32]]
            error = 1.0 / (1.0 + np.exp(-weights[chosen].sum(axis=1))) - begins[order[start : start + 32]]
            flat = chosen.ravel()
            slope = np.repeat(error, rows.shape[1]) + 1e-4 * weights[flat]
            np.add.at(seen, flat, slope * slope)
            np.add.at(weights, flat, -0.2 * slope / np.sqrt(seen[flat]))
    return weights.astype(np.float32)


def fitted(
    talk: Sequence[dict[str, object]], embedding: StaticEmbedding, ordered: Sequence[dict[str, object]] = ()
) -> tuple[dict[str, NDArray[np.generic]], Network]:
    """The arrays of a clause model fitted to some sessions, as their authors cut them and as they will be cut.
    ``ordered`` are sessions that are labelled roughly; where clauses begin is not learnt from them."""
    boundary = fit_boundary(*gaps(talk))
    read = [*talk, *ordered]
    examples = clauses(read)
    cut = ClauseSplitter(boundary)
    examples += recut(read, cut.split) + recut(read, lambda sentence: [sentence])
    network = fit_clauses(examples, embedding)
    bags = [[each.says for each in examples], [each.around for each in examples]]
    packed = pack_tables(network, ("says", "around"), bags)
    return {"boundary": boundary.astype(np.float16), **packed}, network


def pack_tables(
    network: Network, names: Sequence[str], bags: Sequence[Sequence[NDArray[np.int64]]]
) -> dict[str, NDArray[np.generic]]:
    """The arrays of a network: tables as small integers, the rest in half precision. Rows that no example has were only
    drawn, and are set to zero."""
    packed: dict[str, NDArray[np.generic]] = {}
    for name, table, own in zip(names, network.tables, bags, strict=True):
        unseen = np.ones(len(table), bool)
        unseen[np.unique(np.concatenate(list(own)))] = False
        table[unseen] = 0.0
        scale = float(np.percentile(np.abs(table[~unseen]), 99.95)) / 127
        packed[name] = np.clip(np.rint(table / scale), -127, 127).astype(np.int8)
        packed[f"{name}_scale"] = np.array(scale, np.float32)
    return packed | {name: value.astype(np.float16) for name, value in network.weights.items()}


def _dense(examples: Sequence[Labelled], embedding: StaticEmbedding) -> Floats:
    return embedding.documents([each.text for each in examples]) * np.float32(4.0)


def figures(outputs: Floats, examples: Sequence[Labelled]) -> str:
    """How well the outputs agree with the labels, in a line."""
    scores = outputs[:, :KINDS]
    score = softmax(scores)[:, : len(LASTING_KINDS)].sum(axis=1)
    kinds = np.array([each.kind for each in examples])
    lasting = kinds < len(LASTING_KINDS)
    order = np.argsort(score)
    ranks = np.empty(len(score))
    ranks[order] = np.arange(1, len(score) + 1)
    area = (ranks[lasting].sum() - lasting.sum() * (lasting.sum() + 1) / 2) / (lasting.sum() * (~lasting).sum())
    kind = (scores[lasting][:, : len(LASTING_KINDS)].argmax(axis=1) == kinds[lasting]).mean()
    scopes = np.array([each.scope for each in examples])
    scope = (outputs[:, KINDS : KINDS + len(SCOPES)].argmax(axis=1) == scopes)[scopes >= 0].mean()
    message = f"n {len(examples):5d}  to keep {lasting.mean():.2f}  area {area:.3f}  kind {kind:.2f}  scope {scope:.2f}"
    for least in (0.3, 0.4, 0.5, 0.6):
        chosen = score >= least
        message += f"  at {least}: {lasting[chosen].mean():.2f}/{chosen[lasting].mean():.2f}"
    return message


def main(arguments: Sequence[str]) -> None:
    """Fit to everything and write the weights, or report by author left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--by-author", action="store_true")
    given = parser.parse_args(arguments)
    talk, ordered = sessions(), working()
    embedding = StaticEmbedding.load()
    if given.by_author:
        for author in sorted({str(each["author"]) for each in talk}):
            _, network = fitted([each for each in talk if each["author"] != author], embedding, ordered)
            own = clauses(each for each in talk if each["author"] == author)
            print(f"{author:4s} {figures(judged(network, own, embedding), own)}", flush=True)
    if given.out:
        arrays, _ = fitted(talk, embedding, ordered)
        replace_tables(given.out / WEIGHTS, arrays)


if __name__ == "__main__":
    main(sys.argv[1:])
