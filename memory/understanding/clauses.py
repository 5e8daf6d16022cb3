"""A message as clauses, each with what the model says of it.

A clause asks or tells; a message rarely does only one of them. Where clauses begin is learnt as well: a sentence ends
one for certain, and inside a sentence each gap between two words is judged by the words on its sides. Two models judge
a clause: a bag of features, which takes a fraction of a millisecond, and, where that does not rule out that something
is worth keeping, an encoder that reads the whole message. They err in different places, so both count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from memory.language.sentences import BlockShape, TextBlock, blocks, own_words, sentences, without_tags
from memory.understanding.cores import core
from memory.understanding.dependence import ALONE, Dependence, DependenceHead, shape
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

DOUBT: Final = 0.02
"""How likely a clause must be worth keeping by the bag of features for the encoder to read it."""

ENCODED: Final = 0.6
"""What the encoder counts beside the bag of features."""

HANGS: Final = 0.3
"""The probability from which on a clause is told with what stands before it: to say more than is
needed costs little."""

HANGS_SURELY: Final = 0.5
"""The probability from which on a clause is judged by what stands before it, too."""

PASSES: Final = 0.1
"""How likely a clause is worth keeping at most for what hangs on it to be judged by both."""

SECOND: Final = 0.33
"""What the head that tells which orders settle something counts beside both."""

Embed = Callable[[Sequence[str]], Floats]
"""Texts to their vectors in the embedding table, shape (n, d)."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of a message that says, asks or orders one thing. ``sentence`` and ``block`` count the message's
    sentences and blocks from 0; ``marker`` is the number of a list item, where it is one. So many characters at its
    start and end, ``idle_start`` and ``idle_end``, are worth nothing beside the rest of it. ``needs`` tells what it
    needs to be understood."""

    text: str
    sentence: int
    block: int
    marker: str
    judged: Judgement
    idle_start: int = 0
    idle_end: int = 0
    needs: Dependence = ALONE


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


class _Read(NamedTuple):
    """What was read of a clause: its judgement, how much at its ends is idle, and what it needs."""

    judged: Judgement
    idle: tuple[int, int] = (0, 0)
    needs: Dependence = ALONE


class _Places:
    """From where to where each clause stands in a message that is its clauses joined by spaces."""

    def __init__(self, texts: Sequence[str]) -> None:
        ends = np.cumsum([len(each) + 1 for each in texts]) - 1
        self._spans = [(int(end) - len(each), int(end)) for each, end in zip(texts, ends, strict=True)]

    def of(self, at: int) -> tuple[int, int]:
        """The place of a clause."""
        return self._spans[at]

    def with_before(self, at: int) -> tuple[int, int]:
        """The place of a clause and the one before it."""
        return self._spans[at - 1][0], self._spans[at][1]

    def beside(self, at: int) -> list[tuple[int, int]]:
        """The places that are read to judge a clause."""
        return [self.of(at), self.of(at - 1), self.with_before(at)] if at else [self.of(at)]

    def parts(self, at: int, pieces: Sequence[str]) -> list[tuple[int, int]]:
        """The places of the pieces of a clause."""
        ends = self._spans[at][0] + np.cumsum([len(each) + 1 for each in pieces]) - 1
        return [(int(end) - len(each), int(end)) for each, end in zip(pieces, ends, strict=True)]


@dataclass(frozen=True, slots=True)
class ClauseReader:
    """The models with the embedding table that they were trained on; the encoder is got when it is first needed.
    ``settled`` tells, by what it reads, what settles something, and ``dependence`` what a clause needs to be
    understood."""

    splitter: ClauseSplitter
    model: ClauseModel
    embed: Embed
    encoder: Callable[[], Encoder] | None = None
    settled: SettledHead | None = None
    dependence: DependenceHead | None = None

    def read(self, text: str, reply: str = "") -> list[Clause]:
        """The clauses of a person's message, in order; ``reply`` is the assistant's text that it answers."""
        places = [
            (piece, number, at, block.marker if first else "")
            for at, block in enumerate(spoken_blocks(text))
            for first, number, piece in _numbered_pieces(self._pieces(block.text))
        ][:MOST]
        texts = [piece[:MAX_CLAUSE_CHARS] for piece, *_ in places]
        says = [of_text(piece) for piece in texts]
        beside = [around(texts, at, reply) for at in range(len(texts))]
        read = self._judge(texts, says, beside, reply) if texts else []
        sentence, found, last = -1, [], (-1, -1)
        for (piece, number, at, marker), each in zip(places, read, strict=True):
            if (at, number) != last:
                sentence, last = sentence + 1, (at, number)
            found.append(Clause(piece, sentence, at, marker, each.judged, *each.idle, each.needs))
        return found

    def core(self, statement: str) -> str:
        """The core of a statement; empty where all of it is, or where that is not told."""
        return core(statement, *self.encoder().core_odds(unpointed(statement))) if self.encoder is not None else ""

    def _judge(
        self, texts: Sequence[str], says: Sequence[list[int]], beside: Sequence[list[int]], reply: str
    ) -> list[_Read]:
        outputs = self.model.outputs(says, beside, self.embed(texts))
        doubted = np.flatnonzero(keeping(outputs) >= DOUBT).tolist()
        if self.encoder is None or not doubted:
            return [_Read(each) for each in judgements(outputs)]
        message, places = " ".join(texts), _Places(texts)
        parts = {at: own for at in doubted if len(own := places.parts(at, self.splitter.parts(texts[at]))) > 1}
        spans = {span for at in doubted for span in places.beside(at)} | {
            span for own in parts.values() for span in own
        }
        ordered = sorted(spans)
        states = dict(zip(ordered, self.encoder().clause_states(message, ordered, reply), strict=True))
        stated = self.encoder().clause_outputs(message, np.stack([states[span] for span in ordered]))
        read = dict(zip(ordered, stated, strict=True))
        for at in doubted:
            encoded = _most_telling(read[places.of(at)], [read[span] for span in parts.get(at, ())])
            outputs[at] = ENCODED * encoded + (1 - ENCODED) * outputs[at]
        needs = self._needs_of_clauses(texts, doubted, places, states, bool(reply))
        judged = judgements(outputs)
        self._weigh_decisions(judged, doubted, np.stack([states[places.of(at)] for at in doubted]))
        self._weigh_what_hangs(judged, needs, places, read)
        idle = {
            at: _idle_ends(message, own, keeping(np.stack([read[span] for span in own]))) for at, own in parts.items()
        }
        return [_Read(each, idle.get(at, (0, 0)), needs.get(at, ALONE)) for at, each in enumerate(judged)]

    def _needs_of_clauses(
        self,
        texts: Sequence[str],
        doubted: Sequence[int],
        places: _Places,
        states: Mapping[tuple[int, int], Floats],
        replied: bool,
    ) -> dict[int, Dependence]:
        if self.dependence is None:
            return {}
        own = np.stack([states[places.of(at)] for at in doubted])
        before = np.stack([states[places.of(at - 1)] if at else np.zeros_like(own[0]) for at in doubted])
        shapes = np.array([shape(texts, at, replied) for at in doubted], np.float32)
        needs = zip(doubted, self.dependence(own, before, shapes), strict=True)
        return {at: each if at else each._replace(before=0.0) for at, each in needs}

    @staticmethod
    def _weigh_what_hangs(
        judged: list[Judgement],
        needs: Mapping[int, Dependence],
        places: _Places,
        read: Mapping[tuple[int, int], Floats],
    ) -> None:
        """Judge what is understood only with the clause before it, which is not worth keeping, by both together: "write
        a test for it. just the money path" is an order of the moment, however much its end sounds like a rule."""
        for at, each in needs.items():
            if each.before >= HANGS_SURELY and judged[at - 1].worth_keeping < PASSES <= judged[at].worth_keeping:
                [both] = judgements(read[places.with_before(at)][None])
                if both.worth_keeping < judged[at].worth_keeping:
                    judged[at] = judged[at].weighed(both.worth_keeping, each.before)

    def _weigh_decisions(self, found: list[Judgement], places: Sequence[int], states: Floats) -> None:
        """Judge anew those at these places that settle something; ``states`` is what was read of each.
        What the head that tells so finds worth keeping counts :data:`SECOND` beside what the reader finds, but of how
        things stand: that is no order, and not what it was fitted to."""
        if self.settled is not None:
            for at, outcome in zip(places, self.settled(states), strict=True):
                if (found[at].kind, found[at].passing) != ("fact", "state"):
                    found[at] = found[at].weighed(outcome.settles + outcome.lasting, SECOND)
                if outcome.settles >= max(SETTLES, found[at].worth_keeping):
                    found[at] = found[at].settling(outcome.settles)

    def _pieces(self, text: str) -> list[list[str]]:
        """The clauses of each sentence of a block."""
        return [
            [piece for half in halves(sentence) for piece in self.splitter.split(half)] for sentence in sentences(text)
        ]


def _most_telling(whole: Floats, parts: Sequence[Floats]) -> Floats:
    """What is said of a clause: of one part of it, where that alone is worth something and more than all of it, as of
    an order with a rule behind it."""
    if not parts:
        return whole
    worth = keeping(np.stack([whole, *parts]))
    alone = np.flatnonzero(worth[1:] >= IDLE)
    return parts[alone[0]] if len(alone) == 1 and worth[1 + alone[0]] > worth[0] else whole


def _idle_ends(text: str, spans: Sequence[tuple[int, int]], worth: Floats) -> tuple[int, int]:
    """How many characters before the first and behind the last part that is worth something, or says when the others
    hold."""
    telling = [
        place
        for place, ((start, end), each) in enumerate(zip(spans, worth.tolist(), strict=True))
        # A number may be the value that all of it is about: "it runs on 7000 no longer, it's 7100 now".
        if each >= IDLE or limits(text[start:end]) or any(letter.isdigit() for letter in text[start:end])
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


def _numbered_pieces(pieces: Sequence[Sequence[str]]) -> list[tuple[bool, int, str]]:
    """Each piece with whether it is its block's first and the number of its sentence."""
    found: list[tuple[bool, int, str]] = []
    for number, sentence in enumerate(pieces):
        for piece in sentence:
            if piece:
                found.append((not found, number, piece))
    return found
