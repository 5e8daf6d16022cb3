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

from memory.models.training.fitting import FittingPlan, Floats, Network, fit, softmax_slope
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import BREAK, DATA, messages, sessions
from memory.understanding.encoder import Encoder
from memory.understanding.features import SIZE
from memory.understanding.network import softmax
from memory.understanding.packaged_weights import SETTLED, encoder
from memory.understanding.settled import OUTCOMES, SETTLES

PLAN: Final = FittingPlan(widths=(), hidden=48, heads=len(OUTCOMES), epochs=30, batch=64, drop_dense=0.3)
OUTCOME_OF: Final = {"lasting": "lasting"} | dict.fromkeys(("choice", "spec", "drop", "plan", "reason"), "settles")
"""The labels of what is not of the moment."""


class LabelledClauses(NamedTuple):
    """The clauses of all messages: what the encoder reads of each, its outcome and who wrote it."""

    states: Floats
    outcomes: NDArray[np.int64]
    authors: NDArray[np.str_]

    def of(self, chosen: NDArray[np.bool_]) -> LabelledClauses:
        """Those of some of them."""
        return LabelledClauses(self.states[chosen], self.outcomes[chosen], self.authors[chosen])


def labelled(read: Encoder, talk: Sequence[dict[str, Any]]) -> LabelledClauses:
    """The labelled clauses of some sessions."""
    states, outcomes, authors = [], [], list[str]()
    for session, reply, rows in messages(talk):
        own = [(label, text.replace("\\n", "\n")[:600]) for label, text in rows if label != BREAK]
        starts = np.cumsum([0, *(len(text) + 1 for _, text in own)]).tolist()
        spans = [(start, start + len(text)) for start, (_, text) in zip(starts, own, strict=False)]
        states.append(read.clause_states(" ".join(text for _, text in own), spans, reply))
        outcomes += [OUTCOMES.index(OUTCOME_OF.get(label, "passing")) for label, _ in own]
        authors += [str(session["author"])] * len(own)
    return LabelledClauses(np.concatenate(states), np.array(outcomes), np.array(authors))


def fitted(clauses: LabelledClauses) -> Network:
    """The network fitted to some clauses."""

    def loss(outputs: Floats, chosen: NDArray[np.int64]) -> Floats:
        return softmax_slope(outputs, clauses.outcomes[chosen])

    return fit([], clauses.states, loss, PLAN, SIZE)


def _settles(network: Network, states: Floats) -> Floats:
    settles: Floats = softmax(network.outputs([], states))[:, OUTCOMES.index("settles")]
    return settles


def report(clauses: LabelledClauses) -> str:
    """How well what is said of the clauses of authors left out in turn agrees with their labels."""
    likely = np.zeros(len(clauses.outcomes), np.float32)
    for author in np.unique(clauses.authors):
        own = clauses.authors == author
        likely[own] = _settles(fitted(clauses.of(~own)), clauses.states[own])
    wanted = clauses.outcomes == OUTCOMES.index("settles")
    ordered = wanted[np.argsort(-likely, kind="stable")]
    precise = (np.cumsum(ordered) / np.arange(1, len(ordered) + 1))[ordered].mean()
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
    clauses = labelled(encoder(), sessions(DATA / "settling"))
    if given.by_author:
        print(report(clauses))
    if given.out:
        weights = fitted(clauses).weights
        replace_tables(given.out / SETTLED, {name: value.astype(np.float16) for name, value in weights.items()})


if __name__ == "__main__":
    main(sys.argv[1:])
