"""Whether a clause is understood by itself, and if not, whether it needs what was said before it or the reply.

A memory keeps clauses as lines that are read weeks later. "Not in a log either" says nothing then, and "every single
one of them" says it of anything. One hidden layer over what the encoder reads of a clause and of the one before it was
fitted to clauses of which people had told whether their line can be followed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from memory.understanding.network import DenseLayer, Floats, softmax

NEEDS: Final = ("alone", "before", "reply", "unclear")
"""What a clause needs to be understood: nothing; what the person said right before it in the same message; the
assistant's last message; more than either."""
_ENDS: Final = tuple(".!?…")


class Dependence(NamedTuple):
    """How likely a clause needs what was said right before it, and how likely the reply that it answers."""

    before: float
    reply: float


ALONE: Final = Dependence(0.0, 0.0)
"""What is said of a clause that nobody looks at."""


def shape(texts: Sequence[str], at: int, replied: bool) -> list[float]:
    """How a clause of a message stands in it: its place, its length in tens of words, its marks, and those of the one
    before it; ``replied`` says that the message answers a reply."""
    own, before = texts[at].strip(), texts[at - 1].strip() if at else ""
    return [
        float(at == 0),
        len(own.split()) / 10,
        float(own[:1].isupper()),
        float(before.endswith(_ENDS)),
        float(own.endswith(_ENDS)),
        len(before.split()) / 10,
        float(replied),
    ]


@dataclass(frozen=True, slots=True)
class DependenceHead:
    """The weights. Deterministic."""

    hidden: DenseLayer
    out: DenseLayer

    def __call__(self, states: Floats, before: Floats, shapes: Floats) -> list[Dependence]:
        """What each clause needs: ``states`` and ``before`` are what the encoder reads of it and of the clause before
        it (zeros where there is none), shape (clauses, 2 * width), and ``shapes`` come from :func:`shape`."""
        inputs = np.concatenate([states, before, shapes], axis=1)
        found = softmax(self.out(np.maximum(self.hidden(inputs), 0.0)))
        return [Dependence(*each) for each in found[:, 1:3].tolist()]
