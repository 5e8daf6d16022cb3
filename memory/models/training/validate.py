"""How well the shipped reader agrees with an author whom it was not fitted to.

python -m memory.models.training.validate [FILE]

FILE is labelled talk, by default that of ``data/validation``. What is told stands for clauses as their author cut them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
from numpy.typing import NDArray

from memory.models.training.fitting import average_precision
from memory.models.training.talk import DATA, labelled_clauses
from memory.understanding.clauses import ENCODED
from memory.understanding.features import around, of_text
from memory.understanding.network import LASTING_KINDS, PASSING_KINDS, SCOPES, keeping, softmax
from memory.understanding.packaged_weights import reader

KINDS: Final = len(LASTING_KINDS) + len(PASSING_KINDS)
LEAST: Final = (0.5, 0.75, 0.8, 0.85, 0.9, 0.95)
Array = NDArray[Any]


def outputs(path: Path) -> tuple[Array, Array, Array]:
    """What both models say of each clause of a file, the bag of features first, and its labels: kind and scope."""
    read = reader()
    assert read.encoder is not None
    encoder = read.encoder()
    bags, encoded, labels = [], [], []
    for reply, texts, meant in labelled_clauses(map(orjson.loads, path.read_bytes().splitlines())):
        says = [of_text(text) for text in texts]
        beside = [around(texts, at, reply) for at in range(len(texts))]
        starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
        spans = [(start, start + len(text)) for start, text in zip(starts, texts, strict=False)]
        bags.append(read.model.outputs(says, beside, read.embed(texts)))
        encoded.append(encoder.clauses(" ".join(texts), spans, reply))
        labels += [(kind, scope) for kind, scope, _ in meant]
    return np.concatenate(bags), np.concatenate(encoded), np.array(labels)


def report(path: Path) -> str:
    """The agreement, in a few lines."""
    bags, encoded, labels = outputs(path)
    both = (ENCODED * encoded + (1 - ENCODED) * bags).astype(np.float32)
    lasting = labels[:, 0] < len(LASTING_KINDS)
    lines = [f"{path.name}: {len(lasting)} clauses, {lasting.mean():.2f} of them worth keeping"]
    lines += [
        f"  average precision of keeping, {name}: {average_precision(keeping(each), lasting):.3f}"
        for name, each in (("bag of features", bags), ("encoder", encoded), ("both", both))
    ]
    score = keeping(both)
    lines += [
        f"  from {least}: precision {lasting[score >= least].mean():.2f}, recall {(score[lasting] >= least).mean():.2f}"
        for least in LEAST
    ]
    kinds = softmax(both[:, :KINDS])[:, : len(LASTING_KINDS)].argmax(axis=1)
    lines.append(f"  kind right: {(kinds[lasting] == labels[lasting, 0]).mean():.2f}")
    known = lasting & (labels[:, 1] >= 0)
    reach = softmax(both[:, KINDS : KINDS + len(SCOPES)]).argmax(axis=1)
    lines.append(f"  scope right: {(reach[known] == labels[known, 1]).mean():.2f}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Print the agreement for a file, or for each of the validation set."""
    for path in [Path(each) for each in arguments] or sorted((DATA / "validation").glob("*.jsonl")):
        print(report(path))


if __name__ == "__main__":
    main(sys.argv[1:])
