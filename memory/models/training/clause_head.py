"""Fit what tells clauses apart, on the states of an encoder that is there:
``python -m memory.models.training.clause_head --out memory/models/data``.

Talk is mostly long, and what was fitted to it misses a plain rule that stands alone; fitted to those as well, it misses
more of the long ones. So long and short messages have a head each. Both begin as the head that was fitted with the
encoder, and take minutes where that takes an hour.
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
from memory.models.training.clauses import KINDS, clause_slopes, fit_boundary
from memory.models.training.examples import groups
from memory.models.training.fitting import Floats, adam
from memory.models.training.packing import packed_linear
from memory.models.training.replacing import replace_tables
from memory.models.training.talk import Spanned, gaps, sessions, spanned, working
from memory.understanding.clauses import ClauseSplitter
from memory.understanding.encoder import encoder_of, is_short
from memory.understanding.packaged_weights import ENCODER

EPOCHS: Final = 6
BATCH: Final = 256
RATE: Final = 1e-3
HELD: Final = 1e-5
"""How strongly each weight is drawn back to where it began, for each step."""
SHORT: Final = ("plain", "aside", "findings", "life")
"""The folders that hold messages which were written short: plain rules that stand alone, something told in one breath
with a request or in a finding about code, and what people tell of their lives."""
OFTEN: Final = 3
"""How often each of those is read: they are few, and unlike the rest."""
WORKING: Final = 2
"""How often each message is read that was written in the manner of people who have work done."""
Arrays = Mapping[str, NDArray[Any]]


def states_of(arrays: Arrays, messages: Sequence[Spanned]) -> Floats:
    """What the encoder reads of each clause of some messages: shape (clauses, 2 * width)."""
    encoder = encoder_of(arrays)
    return np.concatenate(
        [
            encoder.clause_states(each.text, [(start, end) for start, end, *_ in each.clauses], each.before)
            for each in messages
            if each.clauses
        ]
    )


def fitted(
    arrays: Arrays, messages: Sequence[Spanned], states: Floats, often: Mapping[str, int]
) -> tuple[Floats, Floats]:
    """The matrix and bias of a head; ``often`` says how often what each author wrote is read, where that is not
    once."""
    weights = arrays["clause.rows"].astype(np.float32) * arrays["clause.scales"].astype(np.float32)
    bias = arrays["clause.bias"].astype(np.float32)
    began = weights.copy()
    labels = [(each.author, *clause[2:]) for each in messages for clause in each.clauses]
    rows = np.repeat(np.arange(len(labels)), [often.get(author, 1) for author, *_ in labels])
    slopes = clause_slopes(
        np.array([kind for _, kind, _, _ in labels]),
        np.array([scope for _, _, scope, _ in labels]),
        np.array([flags for *_, flags in labels], np.float32),
    )
    moments = {name: (np.zeros_like(own), np.zeros_like(own)) for name, own in (("w", weights), ("b", bias))}
    rng = np.random.default_rng(0)
    steps = EPOCHS * (len(rows) // BATCH)
    step = 0
    for _ in range(EPOCHS):
        order = rng.permutation(rows)
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            step += 1
            rate = RATE * (1.0 - (step - 1) / steps)
            slope = slopes(states[chosen] @ weights + bias, chosen)
            # How far a rule reaches they rarely tell: that stays as the long talk has it.
            slope[:, KINDS:] = 0.0
            adam(weights, moments["w"], states[chosen].T @ slope, rate, 0.0, step)
            adam(bias, moments["b"], slope.sum(0), rate, 0.0, step)
            weights -= HELD * (weights - began)
    return weights, bias


def main(arguments: Sequence[str]) -> None:
    """Write the encoder with its heads for long and for short messages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args(arguments)
    with np.load(DATA / ENCODER) as stored:
        arrays = dict(stored)
    talk, ordered = sessions(), working()
    plain = [each for folder in SHORT for each in groups(folder)]
    cut = ClauseSplitter(fit_boundary(*gaps(talk)))
    read = spanned([*talk, *plain, *ordered], cut.split, lambda sentence: [sentence])
    often = {str(each["author"]): OFTEN for each in plain} | {str(each["author"]): WORKING for each in ordered}
    heads: dict[str, NDArray[Any]] = {}
    for name, short in (("long", False), ("short", True)):
        own = [each for each in read if is_short(each.text) is short]
        heads |= packed_linear(name, fitted(arrays, own, states_of(arrays, own), often))
    replace_tables(given.out / ENCODER, arrays | heads)


if __name__ == "__main__":
    main(sys.argv[1:])
