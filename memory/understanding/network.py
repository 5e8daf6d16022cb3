"""The clause model: a bag of features through one hidden layer, and what it says of a clause.

A bag (Joulin et al. 2016, *Bag of Tricks for Efficient Text Classification*) with a hidden layer and several heads:
what kind of thing a clause is, how far it reaches, whether it lasts, and what it leans on. It is deterministic, needs
numpy alone and takes well under a millisecond a clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

LASTING_KINDS: Final = ("rule", "pref", "dec", "corr", "fact", "person", "task", "deadline")
"""Kinds of clauses that a later session should know of."""
PASSING_KINDS: Final = ("order", "ask", "state", "fix", "feel", "quote", "suppose", "ack")
"""Kinds that are of this moment only: a work order, a question, a state of the work, pushback on the piece at hand, a
feeling, somebody else's words, a supposition, a bare yes or no."""
SCOPES: Final = ("user", "project", "other")
"""How far a clause reaches: all of the person's work, this project, another project that it names."""
FLAGS: Final = ("ends", "continues", "answers", "refers")
"""It holds for a while only; it goes on with the clause before; it needs the assistant's last message, or an earlier
clause, to be understood."""

_FIX: Final = len(LASTING_KINDS) + PASSING_KINDS.index("fix")
_DECISION: Final = LASTING_KINDS.index("dec")
_GUIDING: Final = frozenset(LASTING_KINDS.index(kind) for kind in ("rule", "pref", "corr", "dec"))

PERSONAL: Final = {"pref": 0.5, "rule": 0.75, "corr": 0.75}
"""The probability from which on what guides the agent counts as meant for all of the person's work. What they like
mostly is; a rule mostly is about the code at hand, and one that is shown in every project by mistake does more harm
than one that must be said there once more."""
ABOUT_PERSON: Final = 0.8
"""The probability from which on what is merely so counts as being about the person and not about the project: there it
would be shown in projects that it has nothing to do with."""


def reach(kind: str, scopes: Sequence[float]) -> str:
    """The scope that some probabilities, in the order of :data:`SCOPES`, speak for where a kind is concerned."""
    if scopes[0] >= PERSONAL.get(kind, ABOUT_PERSON):
        return SCOPES[0]
    return SCOPES[1 if scopes[1] >= scopes[2] else 2]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of features as small integers; a row times ``scale`` is its vector."""

    rows: NDArray[np.int8]
    scale: float

    def bag(self, features: Sequence[int]) -> Floats:
        """The sum of some rows, shrunk by the root of their number."""
        total = self.rows[np.asarray(features, np.int64)].sum(axis=0, dtype=np.int32)
        shrunk: Floats = total.astype(np.float32) * np.float32(self.scale / np.sqrt(len(features) + 1.0))
        return shrunk


@dataclass(frozen=True, slots=True)
class DenseLayer:
    """A weight matrix (inputs by outputs) and a bias."""

    weights: Floats
    bias: Floats

    def __call__(self, inputs: Floats) -> Floats:
        """What comes out."""
        out: Floats = inputs @ self.weights + self.bias
        return out


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the model says of one clause. ``kinds`` gives each of :data:`LASTING_KINDS` and :data:`PASSING_KINDS` its
    probability, ``scopes`` each of :data:`SCOPES`, ``flags`` each of :data:`FLAGS`."""

    kinds: tuple[float, ...]
    scopes: tuple[float, ...]
    flags: tuple[float, ...]

    @property
    def worth_keeping(self) -> float:
        """How likely it is worth keeping."""
        return sum(self.kinds[: len(LASTING_KINDS)])

    @property
    def answers_back(self) -> float:
        """How likely it pushes back on what the agent did, or tells it what to do from now on."""
        return sum(self.kinds[at] for at in _GUIDING) + self.kinds[_FIX]

    @property
    def kind(self) -> str:
        """The likeliest kind of those that are kept."""
        return LASTING_KINDS[max(range(len(LASTING_KINDS)), key=self.kinds.__getitem__)]

    @property
    def passing(self) -> str:
        """The likeliest kind of those that are not."""
        return PASSING_KINDS[max(range(len(PASSING_KINDS)), key=lambda at: self.kinds[len(LASTING_KINDS) + at])]

    @property
    def scope(self) -> str:
        """How far it most likely reaches."""
        return reach(self.kind, self.scopes)

    def settling(self, probability: float) -> Judgement:
        """The same where it settles something with this probability: so much of what would pass or is merely so goes to
        a decision; what guides the agent in another way goes on to do so."""
        kept = [each if at in _GUIDING else each * (1.0 - probability) for at, each in enumerate(self.kinds)]
        kept[_DECISION] += sum(self.kinds) - sum(kept)
        return replace(self, kinds=tuple(kept))

    def weighed(self, lasts: float, share: float) -> Judgement:
        """The same where something else finds it worth keeping with the probability ``lasts``, which counts ``share``
        of both."""
        own = self.worth_keeping
        worth = own + share * (lasts - own)
        keeps, passes = (worth / own, (1.0 - worth) / (1.0 - own)) if 0.0 < own < 1.0 else (1.0, 1.0)
        kinds = tuple(each * (keeps if at < len(LASTING_KINDS) else passes) for at, each in enumerate(self.kinds))
        return replace(self, kinds=kinds)

    def flag(self, name: str) -> float:
        """How likely one of :data:`FLAGS` holds."""
        return self.flags[FLAGS.index(name)]


@dataclass(frozen=True, slots=True)
class ClauseModel:
    """The weights. The bags of what a clause says and of what stands around it feed ``hidden`` together with the
    clause's vector; ``out`` are the heads."""

    says: Table
    around: Table
    hidden: DenseLayer
    out: DenseLayer

    def outputs(self, says: Sequence[Sequence[int]], around: Sequence[Sequence[int]], vectors: Floats) -> Floats:
        """What the heads say of the clauses of one message, a row for each; ``vectors`` (n, d) are what they mean by
        the embedding table."""
        bags = [
            np.concatenate([self.says.bag(one), self.around.bag(two)]) for one, two in zip(says, around, strict=True)
        ]
        inputs = np.concatenate([np.stack(bags), vectors * np.float32(4.0)], axis=1)
        return self.out(np.maximum(self.hidden(inputs), 0.0))


def judgements(outputs: Floats) -> list[Judgement]:
    """Outputs of heads, a row for each clause, as probabilities."""
    many = len(LASTING_KINDS) + len(PASSING_KINDS)
    kinds = softmax(outputs[:, :many])
    scopes = softmax(outputs[:, many : many + len(SCOPES)])
    flags = 1.0 / (1.0 + np.exp(-outputs[:, many + len(SCOPES) :]))
    return [
        Judgement(tuple(one.tolist()), tuple(two.tolist()), tuple(three.tolist()))
        for one, two, three in zip(kinds, scopes, flags, strict=True)
    ]


def keeping(outputs: Floats) -> Floats:
    """How likely each clause is worth keeping, by the outputs of its heads."""
    shares: Floats = softmax(outputs[:, : len(LASTING_KINDS) + len(PASSING_KINDS)])[:, : len(LASTING_KINDS)].sum(axis=1)
    return shares


def softmax(scores: Floats) -> Floats:
    """Rows of scores as probabilities."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = raised / raised.sum(axis=1, keepdims=True)
    return shares
