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

from memory.language.terms import words_of
from memory.understanding.features import number
from memory.understanding.network import LASTING_KINDS, DenseLayer, Floats, Table, softmax
from memory.understanding.tokens import tokens

RELATIONS: Final = ("applies", "answers", "related", "unrelated")
CACHED: Final = 2048
"""Memories whose features are at hand."""
MAX_TEXT_CHARS: Final = 400
"""Characters of a text that are read."""
PRODUCT: Final = np.float32(40.0)
"""What the product of two unit vectors is multiplied by, so that its parts are about as large as the other inputs."""
VECTOR: Final = np.float32(4.0)
NUMBERS: Final = 8 + len(LASTING_KINDS)
"""How many of the inputs are numbers, see :func:`shared`."""
_KIND: Final = {kind: tuple(2.0 * (kind == each) for each in LASTING_KINDS) for kind in LASTING_KINDS}
_NO_KIND: Final = (0.0,) * len(LASTING_KINDS)


class ReadableMemory(NamedTuple):
    """A memory as the model reads it: its text, its kind (one of :data:`LASTING_KINDS`), whether it is about the
    person."""

    text: str
    kind: str
    personal: bool


@dataclass(frozen=True, slots=True)
class Side:
    """One text: the rows of its words, the numbers of its stems, its vector."""

    rows: tuple[int, ...]
    stems: frozenset[int]
    vector: Floats


def side(text: str, prefix: str, vector: Floats) -> Side:
    """A text as one side of a pair; ``prefix`` keeps requests (``r``) and memories (``m``) apart."""
    words = tokens(text[:MAX_TEXT_CHARS])
    rows = {number(f"{prefix}={word}") for word in words}
    if words:
        rows.add(number(f"{prefix}1={words[0]}"))
    return Side(tuple(sorted(rows)), words_of(text[:MAX_TEXT_CHARS]), vector)


def shared(request: Side, memory: Side, kind: str, personal: bool, asks: bool) -> list[float]:
    """The inputs that are numbers: what the two have in common, how long they are, the kind of the memory."""
    return _numbers(request.stems, memory.stems, float(request.vector @ memory.vector), kind, personal, asks)


def _numbers(
    request_stems: frozenset[int], known: frozenset[int], cosine: float, kind: str, personal: bool, asks: bool
) -> list[float]:
    both, many, more = len(request_stems & known), len(request_stems), len(known)
    return [
        4.0 * cosine,
        3.0 * both / (many + 1),
        3.0 * both / (more + 1),
        both / 2,
        float(asks),
        min(many, 20) / 10,
        min(more, 30) / 15,
        float(personal),
        *_KIND.get(kind, _NO_KIND),
    ]


def inputs(request: Side, memory: Side, numbers: Sequence[float]) -> Floats:
    """All inputs of the hidden layer beside the two bags, shape (d,)."""
    product = request.vector * memory.vector * PRODUCT
    found: Floats = np.concatenate(
        [np.asarray(numbers, np.float32), product, request.vector * VECTOR, memory.vector * VECTOR]
    ).astype(np.float32)
    return found


class _ReadMemory(NamedTuple):
    """A memory's text as it was read: the numbers of its stems, which ranking has at hand as well, its vector, and what
    it gives to the hidden layer by itself."""

    stems: frozenset[int]
    vector: Floats
    given: Floats


class Relevance:
    """The model. ``embed`` gives texts their vectors in the table that it was trained on. Deterministic; safe to share
    between threads. What one side gives to the hidden layer by itself is worked out once, and all memories are held
    against a request in a few products of matrices."""

    def __init__(
        self,
        requests: Table,
        memories: Table,
        hidden: DenseLayer,
        out: DenseLayer,
        embed: Callable[[Sequence[str]], Floats],
    ) -> None:
        self._requests = requests
        self._memories = memories
        self._out = out
        self._embed = embed
        self._bias = hidden.bias
        widths = (requests.rows.shape[1], memories.rows.shape[1], NUMBERS)
        rest = (len(hidden.weights) - sum(widths)) // 3
        edges = np.cumsum([*widths, rest, rest])
        self._of_request, self._of_memory, self._numbers, self._product, self._asked, self._known = np.split(
            hidden.weights, edges
        )
        self._read = lru_cache(maxsize=CACHED)(self._remembered)

    def judge(self, request: str, memories: Sequence[ReadableMemory]) -> NDArray[np.float32]:
        """The probability of each of :data:`RELATIONS` for some memories, shape (n, 4)."""
        if not memories:
            return np.zeros((0, len(RELATIONS)), np.float32)
        text = request[:MAX_TEXT_CHARS]
        request_side, asks = side(text, "r", self._embed([text])[0]), "?" in text
        known = [self._read(each.text) for each in memories]
        vectors = np.stack([each.vector for each in known])
        cosines = (vectors @ request_side.vector).tolist()
        numbers = np.array(
            [
                _numbers(request_side.stems, each.stems, cosine, already_known.kind, already_known.personal, asks)
                for each, already_known, cosine in zip(known, memories, cosines, strict=True)
            ],
            np.float32,
        )
        own = (
            self._requests.bag(request_side.rows) @ self._of_request
            + (request_side.vector * VECTOR) @ self._asked
            + self._bias
        )
        both = vectors @ (request_side.vector[:, None] * PRODUCT * self._product)
        before = own + np.stack([each.given for each in known]) + numbers @ self._numbers + both
        found: NDArray[np.float32] = softmax(self._out(np.maximum(before, 0.0)))
        return found

    def shown(self, request: str, memories: Sequence[ReadableMemory]) -> list[float]:
        """How likely each of some memories applies to a request or answers it."""
        return [min(applies + answers, 1.0) for applies, answers in self.of_use(request, memories)]

    def of_use(self, request: str, memories: Sequence[ReadableMemory]) -> list[tuple[float, float]]:
        """How likely each of some memories applies to a request, and how likely it answers it. Of a long one the
        beginning and the end are read, each by itself: what is wanted stands in one of them."""
        judged = self.judge(request, memories)
        if len(request) > MAX_TEXT_CHARS:
            judged = np.maximum(judged, self.judge(request[-MAX_TEXT_CHARS:], memories))
        return [(applies, answers) for applies, answers, *_ in judged.tolist()]

    def clear_cache(self) -> None:
        """Keep nothing of any memory at hand: some were forgotten."""
        self._read.cache_clear()

    def _remembered(self, text: str) -> _ReadMemory:
        read = side(text, "m", self._embed([text[:MAX_TEXT_CHARS]])[0])
        given = self._memories.bag(read.rows) @ self._of_memory + (read.vector * VECTOR) @ self._known
        return _ReadMemory(read.stems, read.vector, np.asarray(given, np.float32))
