"""How likely two messages of a person push back on the same thing that an agent keeps doing.

Whoever corrects an agent again and again hardly says the same sentence twice, and some of what they say names nothing
("I can read a diff"). What recurs is what the agent does. So both sides of the talk are compared: what was said, what
the agent had said right before, and each with the other, by what their words mean, by rare words and by rare groups of
four letters (they know ``println!`` in "a println again"). A logistic regression weighs these likenesses; it was fitted
to people who push back for weeks, and to talk in which nothing recurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memory.language.polarity import without_aside
from memory.language.sentences import sentences
from memory.language.words import FUNCTION_WORDS, stem, words
from memory.understanding.clauses import Clause
from memory.understanding.network import Floats

SIDES: Final = ("said", "replies", "across")
"""What was said in both; the agent's words before both; and what was said in one with the words before the other."""
LIKENESSES: Final = (
    "both meaning",
    *(f"{side} {what}" for what in ("meaning", "shared", "letters", "words") for side in SIDES),
)
"""What two messages are compared by, in the order of the weights: the cosine of what they mean; how rare the words are
that they share, summed; the cosine of their groups of letters and of their words, by rarity."""
REPLY: Final = 600
"""Characters of the agent's words that are read."""
SAID: Final = 600
"""Characters of a message that are read."""
STOCK: Final = 3
"""Messages from which on a sentence before them is one that the agent says again and again."""
ALIKE: Final = 0.6
"""The share of their words that two sentences must have in common to be nearly the same."""
_NAMES: Final = re.compile(r"`[^`]*`|\S*[\d._/\\]\S*\w|\d+")
BACKGROUND: Final = 10
"""Messages about something else that are taken to stand beside those that are compared: where a person says but one
thing, its words are not common."""
MOST_WORDS: Final = 0.25
"""The cosine of words that is counted at most: few pairs have more of it, so that nothing was learnt of those."""
LETTERS: Final = 4
BUCKETS: Final = 8192
"""Groups of letters that are told apart."""
FEWEST: Final = 3
"""Messages that make a group."""
MOST_OF: Final = 0.6
"""The share of them that must push back."""
TOGETHER: Final = -0.75
"""The log-odds, on the average, from which on messages belong together."""
WIDER: Final = 0.75
"""How much less they may be between two groups of several messages."""

Embed = Callable[[Sequence[str]], Floats]
"""Texts to their unit vectors without what all texts have in common, shape (n, d)."""


class Pushback(NamedTuple):
    """What a person ``said``, and the agent's words right ``before``, empty where it had said nothing."""

    said: str
    before: str = ""


@dataclass(frozen=True, slots=True)
class RecurrenceModel:
    """A weight for each of :data:`LIKENESSES`, and the log-odds where all of them are zero: first of two messages that
    both answer the agent, then of others. ``weights`` has the shape (2, likenesses), ``bias`` (2,)."""

    weights: Floats
    bias: Floats

    def log_odds(self, messages: Sequence[Pushback], embed: Embed) -> Floats:
        """How likely each two of some messages of one project push back on the same: shape (n, n), symmetrical."""
        told = without_stock_sentences(messages)
        return self.of(likenesses(told, embed), both_answer(told))

    def of(self, compared: Floats, answering: NDArray[np.bool_]) -> Floats:
        """The same of messages that were compared already, and of which ``answering`` tells which two both answer."""
        both, others = (compared @ weights + bias for weights, bias in zip(self.weights, self.bias, strict=True))
        return np.asarray(np.where(answering, both, others), np.float32)


def without_stock_sentences(messages: Sequence[Pushback]) -> list[Pushback]:
    """Some messages with the agent's words before them, without the sentences that it says in nearly the same words
    again and again, whatever it has done ("All 41 tests pass.", "I've updated api.ts.")."""
    told = [(at, each) for at, message in enumerate(messages) for each in sentences(message.before[:REPLY])]
    if not told:
        return list(messages)
    terms = _Terms([frozenset(_form(each).split()) for _, each in told])
    alike = terms.jaccard() >= ALIKE
    places = np.array([at for at, _ in told])
    having = np.zeros((len(messages), len(told)))
    np.maximum.at(having, places, alike.astype(np.float64))
    stock = having.sum(axis=0) >= STOCK
    own: list[list[str]] = [[] for _ in messages]
    for (at, each), again in zip(told, stock, strict=True):
        if not again:
            own[at].append(each)
    return [Pushback(message.said, " ".join(each)) for message, each in zip(messages, own, strict=True)]


def _form(text: str) -> str:
    """A text without what differs from one time to the next: names of files and code, numbers."""
    return " ".join(_NAMES.sub("0", text).casefold().split())


def both_answer(messages: Sequence[Pushback]) -> NDArray[np.bool_]:
    """Which two of some messages both answer something: shape (n, n)."""
    answering = np.array([bool(each.before) for each in messages], np.bool_)
    return answering[:, None] & answering[None, :]


PUSHES_BACK: Final = 0.15
"""How likely a clause must be pushback, or guide the agent, for its message to push back: what is terse is read with
doubt."""


def pushes_back(clauses: Iterable[Clause]) -> bool:
    """Whether a message, as it was read, may push back on what the agent did, or tell it what to do from now on."""
    return any(each.judged.answers_back >= PUSHES_BACK for each in clauses)


def likenesses(messages: Sequence[Pushback], embed: Embed) -> Floats:
    """Each two of some messages by :data:`LIKENESSES`: shape (n, n, likenesses), symmetrical."""
    count = len(messages)
    said = [without_aside(each.said)[:SAID] for each in messages]
    before = [each.before[:REPLY] for each in messages]
    meaning = embed([*said, *before])
    both = embed([f"{reply} {text}" for text, reply in zip(said, before, strict=True)])
    found = _Rarities([_stems(text) for text in [*said, *before]], count)
    letters = _Rarities([_letter_groups(text) for text in [*said, *before]], count)
    tables = [both @ both.T]
    for each in (meaning @ meaning.T, found.shared(), letters.cosines(), np.minimum(found.cosines(), MOST_WORDS)):
        across = each[:count, count:]
        tables += [each[:count, :count], each[count:, count:], (across + across.T) / 2]
    return np.stack(tables, axis=-1).astype(np.float32)


class _Terms:
    """Which terms some texts have."""

    def __init__(self, texts: Sequence[Iterable[int | str]]) -> None:
        places: dict[int | str, int] = {}
        own = [[places.setdefault(term, len(places)) for term in text] for text in texts]
        self.has = np.zeros((len(texts), max(len(places), 1)), np.float32)
        for row, terms in enumerate(own):
            self.has[row, terms] = 1.0

    def jaccard(self) -> Floats:
        """The share of the terms of each two texts that both have."""
        both = self.has @ self.has.T
        sizes = self.has.sum(axis=1)
        return np.asarray(both / np.maximum(sizes[:, None] + sizes[None, :] - both, 1.0))


class _Rarities:
    """How rare the terms of some texts are among ``count`` messages: the first half of the texts was said, the second
    half are the replies before."""

    def __init__(self, texts: Sequence[Iterable[int | str]], count: int) -> None:
        self._has = _Terms(texts).has
        having = np.maximum(self._has[:count], self._has[count:]).sum(axis=0)
        self._rarity: Floats = np.log((count + BACKGROUND) / (having + 1.0)).astype(np.float32)

    def shared(self) -> Floats:
        """How rare the terms are that each two texts share, summed."""
        weighed = self._has * np.sqrt(self._rarity)
        return np.asarray(weighed @ weighed.T)

    def cosines(self) -> Floats:
        """The cosine of each two texts by the rarity of their terms."""
        weighed = self._has * self._rarity
        weighed /= np.maximum(np.linalg.norm(weighed, axis=1, keepdims=True), 1e-9)
        return np.asarray(weighed @ weighed.T)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in FUNCTION_WORDS and len(word) > 1}


def _letter_groups(text: str) -> set[int]:
    """Groups of letters by number. Two that have the same are taken for one: there are many more numbers than groups
    in a text."""
    line = f" {text.casefold()} "
    groups = {line[at : at + LETTERS] for at in range(len(line) - LETTERS + 1)}
    return {crc32(group.encode()) % BUCKETS for group in groups}


def linked(odds: Floats, sessions: Sequence[str], least: float) -> list[list[int]]:
    """The places of messages that belong together, in groups of at least as many as make a subject, the largest first.

    The two groups that are likest on the average are joined until the likest are less than ``least``; then those that
    are large enough once more, until they are ``WIDER`` less: the more pairs an average is of, the surer it is. What
    was said in one session is mostly about one piece of work, which makes it no liker.
    """
    if len(odds) < FEWEST:
        return []
    table = odds.astype(np.float64)
    where = np.unique(np.asarray(sessions), return_inverse=True)[1]
    same = where[:, None] == where[None, :]
    table[same] = np.minimum(table[same], least)
    groups = [each for each in _joined(table, [[place] for place in range(len(table))], least) if len(each) >= FEWEST]
    groups = _joined(table, groups, least - WIDER)
    return sorted((sorted(each) for each in groups), key=lambda each: (-len(each), each))


def _joined(table: NDArray[np.float64], groups: Sequence[Sequence[int]], least: float) -> list[list[int]]:
    """Groups with the likest two joined as long as they are ``least`` on the average."""
    left = [list(each) for each in groups]
    share = np.zeros((len(left), len(table)))
    for row, group in enumerate(left):
        share[row, group] = 1 / len(group)
    apart = share @ table @ share.T
    np.fill_diagonal(apart, -np.inf)
    while len(left) > 1:
        one, other = divmod(int(apart.argmax()), len(apart))
        if apart[one, other] < least:
            break
        counts = len(left[one]), len(left[other])
        joined = (counts[0] * apart[one] + counts[1] * apart[other]) / sum(counts)
        apart[one], apart[:, one] = joined, joined
        apart[one, one] = -np.inf
        apart = np.delete(np.delete(apart, other, axis=0), other, axis=1)
        left[one] += left[other]
        del left[other]
    return left
