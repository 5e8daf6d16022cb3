"""Make what tells what a clause needs to be understood: ``python -m memory.models.training.dependence --out
memory/models/data``.

It reads the states of the encoder that is in the package, so it is made after that. The labels lie apart from the
clauses, which are those of the other folders. With ``--by-author`` nothing is written: authors of clauses are left out
of training in turn, and what is said of theirs is compared with the labels.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
import orjson
from numpy.typing import NDArray

from memory.models.training.fitting import FittingPlan, Floats, Network, average_precision, fit, softmax_slope
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import BREAK, DATA, messages, sessions
from memory.understanding.dependence import NEEDS, shape
from memory.understanding.encoder import Encoder
from memory.understanding.features import SIZE
from memory.understanding.network import softmax
from memory.understanding.packaged_weights import DEPENDENCE, encoder

PLAN: Final = FittingPlan(widths=(), hidden=48, heads=len(NEEDS), epochs=12, batch=64, drop_dense=0.3)
FOLDS: Final = 5
"""Groups of authors, one of which is left out at a time."""
_LETTERS: Final = dict(zip("SBAN", NEEDS, strict=True))


class Labels(NamedTuple):
    """The labelled clauses: what the encoder reads of each and of the one before it, its shape in the message, what it
    needs, and who wrote it."""

    dense: Floats
    needs: NDArray[np.int64]
    authors: NDArray[np.str_]


def labelled(read: Encoder) -> Labels:
    """All labelled clauses, in the order of the files."""
    needed: dict[tuple[str, str, int], dict[int, str]] = defaultdict(dict)
    for file in sorted((DATA / "dependence").glob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            row = orjson.loads(line)
            for place, letter in row["needs"].items():
                message, clause = map(int, place.split("."))
                needed[row["folder"], row["session"], message][clause] = _LETTERS[letter]
    dense, needs, authors = [], [], list[str]()
    for folder in sorted({folder for folder, _, _ in needed}):
        counts: dict[str, int] = defaultdict(int)
        for session, reply, rows in messages(sessions(DATA / folder)):
            name = str(session["id"])
            chosen = needed.get((folder, name, counts[name]), {})
            counts[name] += 1
            if not chosen:
                continue
            texts = [text.replace("\\n", "\n")[:600] for label, text in rows if label != BREAK]
            starts = np.cumsum([0, *(len(text) + 1 for text in texts)]).tolist()
            spans = [(start, start + len(text)) for start, text in zip(starts, texts, strict=False)]
            states = read.clause_states(" ".join(texts), spans, reply)
            for at, need in sorted(chosen.items()):
                before = states[at - 1] if at else np.zeros_like(states[at])
                dense.append(np.concatenate([states[at], before, shape(texts, at, bool(reply))]))
                needs.append(NEEDS.index(need))
                authors.append(str(session["author"]))
    return Labels(np.stack(dense).astype(np.float32), np.array(needs), np.array(authors))


def fitted(clauses: Labels, chosen: NDArray[np.bool_]) -> Network:
    """The network fitted to some clauses."""
    needs = clauses.needs[chosen]

    def loss(outputs: Floats, drawn: NDArray[np.int64]) -> Floats:
        return softmax_slope(outputs, needs[drawn])

    return fit([], clauses.dense[chosen], loss, PLAN, SIZE)


def report(clauses: Labels) -> str:
    """How well what is said of the clauses of authors left out agrees with their labels."""
    folds = np.array([crc32(author.encode()) % FOLDS for author in clauses.authors])
    likely = np.zeros((len(folds), len(NEEDS)), np.float32)
    for fold in range(FOLDS):
        left_out = folds == fold
        likely[left_out] = softmax(fitted(clauses, ~left_out).outputs([], clauses.dense[left_out]))
    lines = [f"{len(folds)} clauses"]
    for at, need in enumerate(NEEDS[1:3], start=1):
        wanted = clauses.needs == at
        precise = average_precision(likely[:, at], wanted)
        lines.append(f"{need}: {wanted.mean():.2f} of them; average precision {precise:.3f}")
        for least in (0.3, 0.4, 0.5, 0.6, 0.7):
            told = likely[:, at] >= least
            lines.append(f"  from {least}: precision {wanted[told].mean():.2f}, recall {told[wanted].mean():.2f}")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Fit to everything and write the weights, or report by author left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--by-author", action="store_true")
    given = parser.parse_args(arguments)
    clauses = labelled(encoder())
    if given.by_author:
        print(report(clauses))
    if given.out:
        weights = fitted(clauses, np.ones(len(clauses.needs), bool)).weights
        replace_tables(given.out / DEPENDENCE, {name: value.astype(np.float16) for name, value in weights.items()})


if __name__ == "__main__":
    main(sys.argv[1:])
