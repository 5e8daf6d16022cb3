"""Make what tells what settles something: ``python -m memory.models.training.settled --out memory/models/data``.

It reads the states of the encoder that is in the package, so it is made after that. With ``--by-author`` nothing is
written: authors are left out of training in turn, and what is said of their clauses is compared with their labels.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.models.training.fitting import FittingPlan, Floats, Network, average_precision, fit, softmax_slope
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import BREAK, DATA, messages, sessions
from memory.understanding.encoder import Encoder
from memory.understanding.features import SIZE
from memory.understanding.network import LASTING_KINDS, softmax
from memory.understanding.packaged_weights import SETTLED, encoder
from memory.understanding.settled import OUTCOMES, SETTLES

PLAN: Final = FittingPlan(widths=(), hidden=48, heads=len(OUTCOMES), epochs=8, batch=128, drop_dense=0.3)
FOLDERS: Final = {"settling": 1.0, "working": 1.0, "choosing": 1.0, "talk": 0.1}
"""What a clause of each folder counts. In the talk what settles something is labelled an order of the moment where it
is said as one; beside the others it tells what rules and facts look like."""
OUTCOME_OF: Final = (
    {"dec": "settles"}
    | dict.fromkeys(("choice", "spec", "drop", "plan", "reason"), "settles")
    | dict.fromkeys(("lasting", *(kind for kind in LASTING_KINDS if kind != "dec")), "lasting")
)
"""What the labels of what is not of the moment say, by their first word."""


class LabelledClauses(NamedTuple):
    """The clauses of all messages: what the encoder reads of each, its outcome, who wrote it and what it counts."""

    states: Floats
    outcomes: NDArray[np.int64]
    authors: NDArray[np.str_]
    counts: Floats

    def of(self, chosen: NDArray[np.bool_]) -> LabelledClauses:
        """Those of some of them."""
        return LabelledClauses(self.states[chosen], self.outcomes[chosen], self.authors[chosen], self.counts[chosen])


def labelled(read: Encoder, talk: Sequence[dict[str, Any]], counts: float = 1.0) -> LabelledClauses:
    """The labelled clauses of some sessions, each of which ``counts`` so much."""
    states, outcomes, authors = [], [], list[str]()
    for session, reply, rows in messages(talk):
        own = [(label, text.replace("\\n", "\n")[:600]) for label, text in rows if label != BREAK]
        starts = np.cumsum([0, *(len(text) + 1 for _, text in own)]).tolist()
        spans = [(start, start + len(text)) for start, (_, text) in zip(starts, own, strict=False)]
        states.append(read.clause_states(" ".join(text for _, text in own), spans, reply))
        outcomes += [OUTCOMES.index(OUTCOME_OF.get(label.split()[0], "passing")) for label, _ in own]
        authors += [str(session["author"])] * len(own)
    shares = np.full(len(outcomes), counts, np.float32)
    return LabelledClauses(np.concatenate(states), np.array(outcomes), np.array(authors), shares)


def fitted(clauses: LabelledClauses) -> Network:
    """The network fitted to some clauses."""

    def loss(outputs: Floats, chosen: NDArray[np.int64]) -> Floats:
        return softmax_slope(outputs, clauses.outcomes[chosen], clauses.counts[chosen])

    return fit([], clauses.states, loss, PLAN, SIZE)


def _settles(network: Network, states: Floats) -> Floats:
    settles: Floats = softmax(network.outputs([], states))[:, OUTCOMES.index("settles")]
    return settles


def report(clauses: LabelledClauses) -> str:
    """How well what is said of the clauses of authors left out in turn agrees with their labels; those of the talk only
    help to fit."""
    likely = np.zeros(len(clauses.outcomes), np.float32)
    counted = clauses.counts == max(FOLDERS.values())
    for author in np.unique(clauses.authors[counted]):
        own = clauses.authors == author
        likely[own] = _settles(fitted(clauses.of(~own)), clauses.states[own])
    likely, clauses = likely[counted], clauses.of(counted)
    wanted = clauses.outcomes == OUTCOMES.index("settles")
    precise = average_precision(likely, wanted)
    lines = [f"{len(wanted)} clauses, {wanted.mean():.2f} of them settle something; average precision {precise:.3f}"]
    for least in (0.3, 0.5, SETTLES, 0.9):
        told = likely >= least
        lines.append(f"  from {least}: precision {wanted[told].mean():.2f}, recall {told[wanted].mean():.2f}")
    passing = clauses.outcomes == OUTCOMES.index("passing")
    lines.append(f"  of what is of the moment {(likely[passing] >= SETTLES).mean():.4f} is taken for settled")
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> None:
    """Fit to everything and write the weights, or report by author left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--by-author", action="store_true")
    given = parser.parse_args(arguments)
    parts = [labelled(encoder(), sessions(DATA / folder), counts) for folder, counts in FOLDERS.items()]
    clauses = LabelledClauses(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    if given.by_author:
        print(report(clauses))
    if given.out:
        weights = fitted(clauses).weights
        replace_tables(given.out / SETTLED, {name: value.astype(np.float16) for name, value in weights.items()})


if __name__ == "__main__":
    main(sys.argv[1:])
