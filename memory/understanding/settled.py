"""Whether somebody who has work done settles something by it: which way is taken, how the product shall behave, what
goes and what is put off.

"Drop the XML export, nobody imports it" and "drop the stash" are both orders. Which of the two a later session should
know of does not stand in their form, and what the reader of clauses was fitted to calls both of them orders of the
moment. One hidden layer over what the encoder reads of a clause and of the reply before it was fitted to sessions in
which just that is labelled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from memory.understanding.network import DenseLayer, Floats, softmax

OUTCOMES: Final = ("settles", "lasting", "passing")
"""What a clause does: it settles something; it says something else that lasts, which the reader of clauses tells
better; it is of the moment."""
SETTLES: Final = 0.8
"""The probability from which on a clause counts as settling something."""


class Outcome(NamedTuple):
    """How likely a clause settles something, and how likely it says something else that lasts."""

    settles: float
    lasting: float


@dataclass(frozen=True, slots=True)
class SettledHead:
    """The weights. Deterministic."""

    hidden: DenseLayer
    out: DenseLayer

    def __call__(self, states: Floats) -> list[Outcome]:
        """What each clause does, by what the encoder reads of it, shape (clauses, 2 * width)."""
        found = softmax(self.out(np.maximum(self.hidden(states), 0.0)))
        return [Outcome(*each) for each in found[:, : len(Outcome._fields)].tolist()]
