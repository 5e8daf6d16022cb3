"""Whether a memory should be shown for a request: it applies to it, answers it, is merely related, or has nothing to do
with it.

A sum of shared words and a cosine cannot say that a rule applies to an order ("install a date library" and "we moved to
bun" share nothing), so this is learnt from pairs of memories and requests. Both sides are read by themselves (a bag of
words, a vector of the embedding table), so that what a memory says is read once; what they have in common is the
product of their vectors, the words that both have, and the memory's kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory.language.words import stems
from memory.understanding.features import number
from memory.understanding.network import KEPT, Floats, Layer, Table, softmax
from memory.understanding.tokens import tokens

RELATIONS: Final = ("applies", "answers", "related", "unrelated")
CACHED: Final = 8192
"""Memories whose features are at hand."""
LONGEST: Final = 400
"""Characters of a text that are read."""
PRODUCT: Final = np.float32(40.0)
"""What the product of two unit vectors is multiplied by, so that its parts are about as large as the other inputs."""
VECTOR: Final = np.float32(4.0)


class Remembered(NamedTuple):
    """A memory as the model reads it: its text, its kind (one of :data:`KEPT`), whether it is about the person."""

    text: str
    kind: str
    personal: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One text: the rows of its words, its stems, its vector."""

    rows: tuple[int, ...]
    stems: frozenset[str]
    vector: Floats


def side(text: str, prefix: str, vector: Floats) -> Side:
    """A text as one side of a pair; ``prefix`` keeps requests (``r``) and memories (``m``) apart."""
    words = tokens(text[:LONGEST])
    rows = {number(f"{prefix}={word}") for word in words}
    if words:
        rows.add(number(f"{prefix}1={words[0]}"))
    return Side(tuple(sorted(rows)), frozenset(stems(text[:LONGEST])), vector)


def shared(request: Side, memory: Side, kind: str, personal: bool, asks: bool) -> list[float]:
    """The inputs that are numbers: what the two have in common, how long they are, the kind of the memory."""
    both = len(request.stems & memory.stems)
    return [
        4.0 * float(request.vector @ memory.vector),
        3.0 * both / (len(request.stems) + 1),
        3.0 * both / (len(memory.stems) + 1),
        both / 2,
        float(asks),
        min(len(request.stems), 20) / 10,
        min(len(memory.stems), 30) / 15,
        float(personal),
        *(2.0 * (kind == each) for each in KEPT),
    ]


def inputs(request: Side, memory: Side, numbers: Sequence[float]) -> Floats:
    """All inputs of the hidden layer beside the two bags, shape (d,)."""
    product = request.vector * memory.vector * PRODUCT
    found: Floats = np.concatenate(
        [np.asarray(numbers, np.float32), product, request.vector * VECTOR, memory.vector * VECTOR]
    ).astype(np.float32)
    return found


class Relevance:
    """The model. ``embed`` gives texts their vectors in the table that it was trained on. Deterministic; safe to share
    between threads."""

    def __init__(
        self,
        requests: Table,
        memories: Table,
        hidden: Layer,
        out: Layer,
        embed: Callable[[Sequence[str]], Floats],
    ) -> None:
        self._requests = requests
        self._memories = memories
        self._hidden = hidden
        self._out = out
        self._embed = embed
        self._read = lru_cache(maxsize=CACHED)(self._remembered)

    def judge(self, request: str, memories: Sequence[Remembered]) -> NDArray[np.float32]:
        """The probability of each of :data:`RELATIONS` for some memories, shape (n, 4)."""
        if not memories:
            return np.zeros((0, len(RELATIONS)), np.float32)
        text = request[:LONGEST]
        asked = side(text, "r", self._embed([text])[0])
        bag, asks = self._requests.bag(asked.rows), "?" in text
        rows = []
        for each in memories:
            known, own = self._read(each.text)
            numbers = shared(asked, known, each.kind, each.personal, asks)
            rows.append(np.concatenate([bag, own, inputs(asked, known, numbers)]))
        found: NDArray[np.float32] = softmax(self._out(np.maximum(self._hidden(np.stack(rows)), 0.0)))
        return found

    def shown(self, request: str, memories: Sequence[Remembered]) -> list[float]:
        """How likely each of some memories applies to a request or answers it."""
        judged = self.judge(request, memories)
        return [float(share) for share in judged[:, 0] + judged[:, 1]]

    def _remembered(self, text: str) -> tuple[Side, Floats]:
        known = side(text, "m", self._embed([text[:LONGEST]])[0])
        return known, self._memories.bag(known.rows)
