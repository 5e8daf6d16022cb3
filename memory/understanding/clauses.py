"""A message as clauses, each with what the model says of it.

A clause asks or tells; a message rarely does only one of them. Where clauses begin is learnt as well: a sentence ends
one for certain, and inside a sentence each gap between two words is judged by the words on its sides. Two models judge
a clause: a bag of features, which takes a fraction of a millisecond, and, where that does not rule out that something
is worth keeping, an encoder that reads the whole message. They err in different places, so both count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory.language.prose import own_words, without_tags
from memory.language.sentences import BlockShape, TextBlock, blocks, sentences
from memory.understanding.cores import core
from memory.understanding.encoder import Encoder, unpointed
from memory.understanding.features import around, of_gap, of_text
from memory.understanding.forms import limits
from memory.understanding.network import ClauseModel, Floats, Judgement, judgements, keeping
from memory.understanding.settled import SETTLES, SettledHead
from memory.understanding.tokens import located

MOST = 80
"""Clauses of a message that are judged: who says more has pasted it."""

MAX_CLAUSE_CHARS = 600
"""Characters of a clause that are read."""

BEGINS = 0.0
"""The log-odds from which on a clause begins. What is cut too often is joined again, as one statement."""

PARTS: Final = -1.0
"""The log-odds from which on a comma inside a clause may part what is worth keeping from what is not."""

IDLE: Final = 0.12
"""How likely a part at either end of a clause must be worth keeping for it to be told with the rest."""

DOUBT: Final = 0.1
"""How likely a clause must be worth keeping by the bag of features for the encoder to read it."""

ENCODED: Final = 0.6
"""What the encoder counts beside the bag of features."""

SECOND: Final = 0.33
"""What the head that tells which orders settle something counts beside both."""

Embed = Callable[[Sequence[str]], Floats]
"""Texts to their vectors in the embedding table, shape (n, d)."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of a message that says, asks or orders one thing. ``sentence`` and ``block`` count the message's
    sentences and blocks from 0; ``marker`` is the number of a list item, where it is one. So many characters at its
    start and end, ``idle_start`` and ``idle_end``, are worth nothing beside the rest of it."""

    text: str
    sentence: int
    block: int
    marker: str
    judged: Judgement
    idle_start: int = 0
    idle_end: int = 0


@dataclass(frozen=True, slots=True)
class ClauseSplitter:
    """Where clauses begin: one weight for each feature of a gap between two words, the last is the bias."""

    weights: Floats

    def split(self, sentence: str, begins: float = BEGINS) -> list[str]:
        """A sentence cut where clauses begin, by log-odds of ``begins``; the pieces joined by spaces are the
        sentence."""
        found = located(sentence[: MAX_CLAUSE_CHARS * 3])
        words = [token.text for token in found]
        pieces, start = [], 0
        for at, token in enumerate(found):
            if at == 0 or token.is_mark or not sentence[token.start - 1].isspace():
                continue
            if float(self.weights[of_gap(words, at)].sum() + self.weights[-1]) > begins:
                pieces.append(sentence[start : token.start].rstrip())
                start = token.start
        return [*pieces, sentence[start:].strip()]

    def parts(self, clause: str) -> list[str]:
        """A clause cut at marks, where another one may begin: wherever a semicolon stands."""
        found: list[str] = []
        for piece in [part for half in halves(clause) for part in self.split(half, PARTS)]:
            if found and found[-1][-1:] not in _MARKS:
                found[-1] = f"{found[-1]} {piece}"
            else:
                found.append(piece)
        return found


_MARKS: Final = frozenset(",;:.!?–—)")
_HALVES: Final = re.compile(r"(?<!&amp)(?<!&lt)(?<!&gt)(?<!&quot)(?<!&nbsp);\s+")
_ENOUGH: Final = 3
"""Words on either side of a semicolon that parts two statements."""
_MOST_HALVES: Final = 4
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


def halves(sentence: str) -> list[str]:
    """A sentence cut at the semicolons that part statements: not inside code, quotes or brackets, not in a list of
    single words. The pieces joined by spaces are the sentence."""
    found: list[str] = []
    start = 0
    for semicolon in _HALVES.finditer(sentence):
        before, behind = sentence[start : semicolon.start() + 1], sentence[semicolon.end() :]
        closed = not before.count("`") % 2 and not before.count('"') % 2 and before.count("(") == before.count(")")
        if closed and len(_WORD.findall(before)) >= _ENOUGH and len(_WORD.findall(behind[:200])) >= _ENOUGH:
            found.append(before)
            start = semicolon.end()
        if len(found) + 1 == _MOST_HALVES:
            break
    return [*found, sentence[start:]]


@dataclass(frozen=True, slots=True)
class ClauseReader:
    """The models with the embedding table that they were trained on; the encoder is got when it is first needed.
    ``settled`` tells, by what it reads, what settles something."""

    splitter: ClauseSplitter
    model: ClauseModel
    embed: Embed
    encoder: Callable[[], Encoder] | None = None
    settled: SettledHead | None = None

    def read(self, text: str, reply: str = "") -> list[Clause]:
        """The clauses of a person's message, in order; ``reply`` is the assistant's text that it answers."""
        places = [
            (piece, number, at, block.marker if first else "")
            for at, block in enumerate(spoken_blocks(text))
            for first, number, piece in _numbered(self._pieces(block.text))
        ][:MOST]
        texts = [piece[:MAX_CLAUSE_CHARS] for piece, *_ in places]
        says = [of_text(piece) for piece in texts]
        beside = [around(texts, at, reply) for at in range(len(texts))]
        judged, idle = self._judged(texts, says, beside, reply) if texts else ([], {})
        sentence, found, last = -1, [], (-1, -1)
        for place, ((piece, number, at, marker), each) in enumerate(zip(places, judged, strict=True)):
            if (at, number) != last:
                sentence, last = sentence + 1, (at, number)
            found.append(Clause(piece, sentence, at, marker, each, *idle.get(place, (0, 0))))
        return found

    def core(self, statement: str) -> str:
        """The core of a statement; empty where all of it is, or where that is not told."""
        return core(statement, *self.encoder().core_odds(unpointed(statement))) if self.encoder is not None else ""

    def _judged(
        self, texts: Sequence[str], says: Sequence[list[int]], beside: Sequence[list[int]], reply: str
    ) -> tuple[list[Judgement], dict[int, tuple[int, int]]]:
        """What the models say of each clause, and how much at its ends is worth nothing, where something is."""
        outputs = self.model.outputs(says, beside, self.embed(texts))
        doubted = np.flatnonzero(keeping(outputs) >= DOUBT).tolist()
        if self.encoder is None or not doubted:
            return judgements(outputs), {}
        starts = np.cumsum([0, *(len(each) + 1 for each in texts)]).tolist()
        whole = {at: (starts[at], starts[at] + len(texts[at])) for at in doubted}
        parts = {at: own for at in doubted if len(own := _placed(self.splitter.parts(texts[at]), starts[at])) > 1}
        ordered = sorted({*whole.values(), *(span for own in parts.values() for span in own)})
        message = " ".join(texts)
        states = self.encoder().clause_states(message, ordered, reply)
        read = dict(zip(ordered, self.encoder().clause_outputs(message, states), strict=True))
        encoded = np.stack([_telling(read[whole[at]], [read[span] for span in parts.get(at, ())]) for at in doubted])
        outputs[doubted] = ENCODED * encoded + (1 - ENCODED) * outputs[doubted]
        idle = {at: _idle(message, own, keeping(np.stack([read[span] for span in own]))) for at, own in parts.items()}
        chosen = states[[ordered.index(whole[at]) for at in doubted]]
        return self._with_decisions(judgements(outputs), doubted, chosen), idle

    def _with_decisions(self, found: list[Judgement], places: Sequence[int], states: Floats) -> list[Judgement]:
        """The judgements, where some of those at these places settle something; ``states`` is what was read of each.
        What the head that tells so finds worth keeping counts :data:`SECOND` beside what the reader finds, but of how
        things stand: that is no order, and not what it was fitted to."""
        if self.settled is not None:
            for at, outcome in zip(places, self.settled(states), strict=True):
                if (found[at].kind, found[at].passing) != ("fact", "state"):
                    found[at] = found[at].weighed(outcome.settles + outcome.lasting, SECOND)
                if outcome.settles >= max(SETTLES, found[at].worth_keeping):
                    found[at] = found[at].settling(outcome.settles)
        return found

    def _pieces(self, text: str) -> list[list[str]]:
        """The clauses of each sentence of a block."""
        return [
            [piece for half in halves(sentence) for piece in self.splitter.split(half)] for sentence in sentences(text)
        ]


def _placed(pieces: Sequence[str], start: int) -> list[tuple[int, int]]:
    """From where to where each of some pieces stands in a text, joined by spaces, that begins at ``start``."""
    ends = start + np.cumsum([len(each) + 1 for each in pieces]) - 1
    return [(int(end) - len(each), int(end)) for each, end in zip(pieces, ends, strict=True)]


def _telling(whole: Floats, parts: Sequence[Floats]) -> Floats:
    """What is said of a clause: of one part of it, where that alone is worth something and more than all of it, as of
    an order with a rule behind it."""
    if not parts:
        return whole
    worth = keeping(np.stack([whole, *parts]))
    alone = np.flatnonzero(worth[1:] >= IDLE)
    return parts[alone[0]] if len(alone) == 1 and worth[1 + alone[0]] > worth[0] else whole


def _idle(text: str, spans: Sequence[tuple[int, int]], worth: Floats) -> tuple[int, int]:
    """How many characters before the first and behind the last part that is worth something, or says when the others
    hold."""
    telling = [
        place
        for place, ((start, end), each) in enumerate(zip(spans, worth.tolist(), strict=True))
        if each >= IDLE or limits(text[start:end])
    ]
    if not telling:
        return 0, 0
    return spans[telling[0]][0] - spans[0][0], spans[-1][1] - spans[telling[-1]][1]


def spoken_blocks(text: str) -> tuple[TextBlock, ...]:
    """The blocks of a message in which its author may speak: neither code nor quotes, tables or machine output."""
    own = own_words(text)
    if own or len(text) > MAX_CLAUSE_CHARS:
        return own
    # What is short and looks like a program's output may still be a curt order ("pnpm, not npm").
    return tuple(block for block in blocks(without_tags(text)) if block.shape in (BlockShape.PROSE, BlockShape.ITEM))


def _numbered(pieces: Sequence[Sequence[str]]) -> list[tuple[bool, int, str]]:
    """Each piece with whether it is its block's first and the number of its sentence."""
    found: list[tuple[bool, int, str]] = []
    for number, sentence in enumerate(pieces):
        for piece in sentence:
            if piece:
                found.append((not found, number, piece))
    return found
