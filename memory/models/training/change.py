"""Make the model of change: ``python -m memory.models.training.change --out memory/models/data``.

With ``--by-author`` nothing is written: each author is left out of training in turn, and what the model says of their
pairs is compared with their labels. Every figure about it in the documentation comes from there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from memory.language.static_embedding import StaticEmbedding
from memory.models.training.clauses import pack_tables
from memory.models.training.fitting import Bags, Floats, Network, Plan, fit, softmax_slope
from memory.models.training.talk import DATA
from memory.understanding.change import RELATIONS, bags, inputs, statement
from memory.understanding.features import SIZE
from memory.understanding.shipped import CHANGE, CHANGE_TABLES

PLAN: Final = Plan(widths=(24, 8, 24), hidden=96, heads=len(RELATIONS), epochs=10, batch=64, drop_bags=(0.3, 0.3, 0.3))


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements: who wrote them, the rows of their words, the other inputs, and the place of the relation."""

    author: str
    bags: tuple[NDArray[np.int64], ...]
    inputs: Floats
    relation: int


def pairs(folder: Path = DATA / "statements", embedding: StaticEmbedding | None = None) -> list[Pair]:
    """All pairs of an older statement and a newer one."""
    embedding = embedding or StaticEmbedding.load()
    found = []
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            group = orjson.loads(line)
            texts = [group["older"], *(text for _, text in group["newer"])]
            older, *newer = map(statement, texts, embedding.documents(texts))
            for (label, _), each in zip(group["newer"], newer, strict=True):
                rows = tuple(np.array(bag or [0], np.int64) for bag in bags(older, each))
                found.append(Pair(group["author"], rows, inputs(older, each), RELATIONS.index(label)))
    return found


def fit_change(examples: Sequence[Pair], plan: Plan = PLAN) -> Network:
    """The network fitted to pairs."""
    relations = np.array([each.relation for each in examples])

    def loss(outputs: Floats, chosen: NDArray[np.int64]) -> Floats:
        return softmax_slope(outputs, relations[chosen])

    return fit(_bags(examples), np.stack([each.inputs for each in examples]), loss, plan, SIZE)


def judged(network: Network, examples: Sequence[Pair]) -> Floats:
    """The probabilities of the relations of some pairs."""
    scores = network.outputs(_bags(examples), np.stack([each.inputs for each in examples]))
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares


def _bags(examples: Sequence[Pair]) -> list[Bags]:
    return [[each.bags[place] for each in examples] for place in range(len(CHANGE_TABLES))]


def figures(shares: Floats, examples: Sequence[Pair]) -> str:
    """How well the probabilities agree with the labels: accuracy, and precision and recall of what replaces and of what
    says the same, from some probabilities on."""
    relations = np.array([each.relation for each in examples])
    told = f"{len(examples)} pairs, accuracy {(shares.argmax(axis=1) == relations).mean():.2f}"
    for name in ("replaces", "same"):
        place = RELATIONS.index(name)
        told += f"; {name}"
        for least in (0.5, 0.7, 0.8, 0.9):
            chosen = shares[:, place] >= least
            precise = (relations[chosen] == place).mean() if chosen.any() else 0.0
            told += f" {least}: {precise:.2f}/{chosen[relations == place].mean():.2f}"
    return told


def main(arguments: Sequence[str]) -> None:
    """Fit to everything and write the weights, or report by author left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--by-author", action="store_true")
    given = parser.parse_args(arguments)
    examples = pairs()
    if given.by_author:
        for author in sorted({each.author for each in examples}):
            network = fit_change([each for each in examples if each.author != author])
            own = [each for each in examples if each.author == author]
            print(f"{author}: {figures(judged(network, own), own)}", flush=True)
    if given.out:
        arrays = pack_tables(fit_change(examples), CHANGE_TABLES, _bags(examples))
        np.savez_compressed(given.out / CHANGE, **arrays)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1:])
