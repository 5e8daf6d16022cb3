"""A message as clauses, each with what the model says of it.

A clause asks or tells; a message rarely does only one of them. Where clauses begin is learnt as well: a sentence ends
one for certain, and inside a sentence each gap between two words is judged by the words on its sides. Two models judge
a clause: a bag of features, which takes a fraction of a millisecond, and, where that does not rule out that something
is worth keeping, an encoder that reads the whole message. They err in different places, so both count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory.language.prose import own_words, without_tags
from memory.language.sentences import BlockShape, TextBlock, blocks, sentences
from memory.understanding.encoder import Encoder
from memory.understanding.features import around, of_gap, of_text
from memory.understanding.network import ClauseModel, Floats, Judgement, judgements, keeping
from memory.understanding.tokens import located

MOST = 80
"""Clauses of a message that are judged: who says more has pasted it."""

MAX_CLAUSE_CHARS = 600
"""Characters of a clause that are read."""

BEGINS = 0.0
"""The log-odds from which on a clause begins. What is cut too often is joined again, as one statement."""

DOUBT: Final = 0.1
"""How likely a clause must be worth keeping by the bag of features for the encoder to read it."""

ENCODED: Final = 0.6
"""What the encoder counts beside the bag of features."""

Embed = Callable[[Sequence[str]], Floats]
"""Texts to their vectors in the embedding table, shape (n, d)."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A piece of a message that says, asks or orders one thing. ``sentence`` and ``block`` count the message's
    sentences and blocks from 0; ``marker`` is the number of a list item, where it is one."""

    text: str
    sentence: int
    block: int
    marker: str
    judged: Judgement


@dataclass(frozen=True, slots=True)
class ClauseSplitter:
    """Where clauses begin: one weight for each feature of a gap between two words, the last is the bias."""

    weights: Floats

    def split(self, sentence: str) -> list[str]:
        """A sentence cut where clauses begin; the pieces joined by spaces are the sentence."""
        found = located(sentence[: MAX_CLAUSE_CHARS * 3])
        words = [token.text for token in found]
        pieces, start = [], 0
        for at, token in enumerate(found):
            if at == 0 or token.is_mark or not sentence[token.start - 1].isspace():
                continue
            if float(self.weights[of_gap(words, at)].sum() + self.weights[-1]) > BEGINS:
                pieces.append(sentence[start : token.start].rstrip())
                start = token.start
        return [*pieces, sentence[start:].strip()]


@dataclass(frozen=True, slots=True)
class ClauseReader:
    """The models with the embedding table that they were trained on; the encoder is got when it is first needed."""

    splitter: ClauseSplitter
    model: ClauseModel
    embed: Embed
    encoder: Callable[[], Encoder] | None = None

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
        judged = self._judged(texts, says, beside, reply) if texts else []
        sentence, found, last = -1, [], (-1, -1)
        for (piece, number, at, marker), each in zip(places, judged, strict=True):
            if (at, number) != last:
                sentence, last = sentence + 1, (at, number)
            found.append(Clause(piece, sentence, at, marker, each))
        return found

    def _judged(
        self, texts: Sequence[str], says: Sequence[list[int]], beside: Sequence[list[int]], reply: str
    ) -> list[Judgement]:
        outputs = self.model.outputs(says, beside, self.embed(texts))
        doubted = np.flatnonzero(keeping(outputs) >= DOUBT).tolist()
        if self.encoder is not None and doubted:
            starts = np.cumsum([0, *(len(each) + 1 for each in texts)]).tolist()
            spans = [(starts[at], starts[at] + len(texts[at])) for at in doubted]
            encoded = self.encoder().clauses(" ".join(texts), spans, reply)
            outputs[doubted] = ENCODED * encoded + (1 - ENCODED) * outputs[doubted]
        return judgements(outputs)

    def _pieces(self, text: str) -> list[list[str]]:
        """The clauses of each sentence of a block."""
        return [self.splitter.split(sentence) for sentence in sentences(text)]


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
