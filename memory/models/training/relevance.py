"""Make the relevance model: ``python -m memory.models.training.relevance --out memory/models/data``.

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
from memory.models.training.fitting import Bags, FittingPlan, Floats, Network, average_precision, fit, softmax_slope
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import DATA
from memory.understanding.features import SIZE
from memory.understanding.network import softmax
from memory.understanding.packaged_weights import RELEVANCE
from memory.understanding.relevance import RELATIONS, Side, inputs, shared, side

PLAN: Final = FittingPlan(
    widths=(24, 24), hidden=96, heads=len(RELATIONS), epochs=4, batch=256, drop_bags=(0.3, 0.3), drop_dense=0.2
)
WEIGHT: Final = np.array((4.0, 4.0, 0.5, 1.0), np.float32)
"""What a pair of each relation weighs: most pairs are unrelated, and those that are merely related are unclear."""


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """A memory and a request: who wrote it, the project with the request, both sides, and the place of the relation."""

    author: str
    asked: str
    request: Side
    memory: Side
    numbers: tuple[float, ...]
    relation: int


def pairs(folder: Path = DATA / "requests", embedding: StaticEmbedding | None = None) -> list[LabelledPair]:
    """All pairs of a project's memories and requests; what no one listed is unrelated."""
    embedding = embedding or StaticEmbedding.load()
    found = []
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            project = orjson.loads(line)
            known = {
                name: (side(text, "m", embedding.documents([text])[0]), *_kind(label))
                for name, (label, text) in project["memories"].items()
            }
            for text, relations in project["requests"]:
                request = side(text, "r", embedding.documents([text])[0])
                for name, (memory, kind, personal) in known.items():
                    found.append(
                        LabelledPair(
                            project["author"],
                            f"{project['author']} {project['id']} {text}",
                            request,
                            memory,
                            tuple(shared(request, memory, kind, personal, "?" in text)),
                            RELATIONS.index(relations.get(name, "unrelated")),
                        )
                    )
    return found


def fit_relevance(examples: Sequence[LabelledPair], plan: FittingPlan = PLAN) -> Network:
    """The network fitted to pairs."""
    relations = np.array([each.relation for each in examples])
    weights = WEIGHT[relations]

    def loss(outputs: Floats, chosen: NDArray[np.int64]) -> Floats:
        own = weights[chosen]
        return softmax_slope(outputs, relations[chosen], own / own.mean())

    return fit(_bags(examples), _dense(examples), loss, plan, SIZE)


def judged(network: Network, examples: Sequence[LabelledPair]) -> Floats:
    """How likely each pair's memory applies to its request or answers it."""
    share: Floats = softmax(network.outputs(_bags(examples), _dense(examples)))[:, :2].sum(axis=1)
    return share


def _bags(examples: Sequence[LabelledPair]) -> list[Bags]:
    return [
        [np.array(each.request.rows or (0,), np.int64) for each in examples],
        [np.array(each.memory.rows or (0,), np.int64) for each in examples],
    ]


def _dense(examples: Sequence[LabelledPair]) -> Floats:
    return np.stack([inputs(each.request, each.memory, each.numbers) for each in examples])


def _kind(label: str) -> tuple[str, bool]:
    kind, *rest = label.split()
    return kind, "u" in rest


def figures(shares: Floats, examples: Sequence[LabelledPair]) -> str:
    """How well the shares agree with the labels, in a few lines: precision and recall of what is shown, and the share
    of the requests that need nothing and were given something."""
    relations = np.array([each.relation for each in examples])
    needed = relations < 2
    requests = np.array([each.asked for each in examples])
    nothing = set(requests.tolist()) - set(requests[relations < 3].tolist())
    precise = average_precision(shares, needed)
    message = f"{len(examples)} pairs, {needed.mean():.3f} needed, average precision {precise:.3f}"
    for least in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
        chosen = shares >= least
        given = set(requests[chosen].tolist()) & nothing
        precise = needed[chosen].mean() if chosen.any() else 0.0
        message += f"\n  at {least}: {precise:.2f}/{chosen[needed].mean():.2f}"
        message += f", given for nothing {len(given) / len(nothing):.2f}"
    return message


def main(arguments: Sequence[str]) -> None:
    """Fit to everything and write the weights, or report by author left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--by-author", action="store_true")
    given = parser.parse_args(arguments)
    examples = pairs()
    if given.by_author:
        for author in sorted({each.author for each in examples}):
            network = fit_relevance([each for each in examples if each.author != author])
            own = [each for each in examples if each.author == author]
            print(f"{author}: {figures(judged(network, own), own)}", flush=True)
    if given.out:
        network = fit_relevance(examples)
        replace_tables(given.out / RELEVANCE, pack_tables(network, ("requests", "memories"), _bags(examples)))


if __name__ == "__main__":
    main(sys.argv[1:])
