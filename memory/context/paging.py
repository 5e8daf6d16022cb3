"""Paging in: when the talk turns to something that was shed, the lines that it turns to come back at the tail.

What was shed is cut into short pieces of whole lines, and each piece is known by its words: names, parts of names,
numbers, paths. The newest message and the call that led to it are the question. A piece answers by the rare words
that it shares with it, and only words that are rare among what was shed count: what stands everywhere says nothing
about where to look. Lines that are still in the request are not given again.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memory.conversation import Conversation, Role

OPENS, CLOSES = "<earlier-context>", "</earlier-context>"
"""The frame of what comes back."""

LINES = 6
"""Lines of a piece at most."""

CHARACTERS = 600
"""Characters of a piece at most; a longer line is cut at its end."""

PER_CONTENT = 400_000
"""Characters of one content that are looked at."""

SAID, IN_PASSING = 1.5, 0.5
"""What a word weighs that was said or called, and one that stands in a tool's answer."""

LOOKED_AT = 20_000
"""Characters of a text of the question that are looked at."""

REACH = 4
"""Messages before the newest in which the call is looked for that led to it."""

TERMS = 96
"""Words of a question that are looked up: the rarest."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some lines of a shed content: ``start`` is the first one's number, from 0."""

    handle: str
    start: int
    lines: tuple[str, ...]
    terms: frozenset[str]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines that come back, in their order, of one content; ``score`` is that of its best piece."""

    handle: str
    label: str
    lines: tuple[tuple[int, str], ...]
    score: float


@dataclass
class Absent:
    """What was shed of a session, to be searched. Contents are added when they are shed and never change."""

    _pieces: list[Piece] = field(default_factory=list)
    _labels: dict[str, str] = field(default_factory=dict)
    _at: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def __contains__(self, handle: str) -> bool:
        return handle in self._labels

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, handle: str, label: str, text: str) -> None:
        """Take in a content under its handle; ``label`` says what it is (a path, a command). Again is once."""
        if handle in self._labels:
            return
        self._labels[handle] = label
        named = frozenset(words(label))
        for start, lines in _cut(text[:PER_CONTENT]):
            piece = Piece(handle, start, lines, frozenset(words("\n".join(lines))) | named)
            for term in piece.terms:
                self._at[term].append(len(self._pieces))
            self._pieces.append(piece)

    def rarity(self, term: str) -> float:
        """How much a word says about where to look: 0 where it stands in every piece, or in none."""
        frequency = len(self._at.get(term, ()))
        return math.log(len(self._pieces) / frequency) if frequency else 0.0

    def excerpts(
        self,
        asked: Mapping[str, float],
        characters: int,
        standing: Mapping[str, str],
        floor: float,
        back: str = "",
        most: int = 6,
    ) -> list[Excerpt]:
        """The lines that a question turns to, best content first, at most ``characters`` in all.

        ``asked`` weighs the question's words (:func:`question`), ``standing`` says for each handle that is absent
        *now* what stands in its place (others are left alone), ``back`` is what came back before, ``floor`` is the
        least score of a piece, and ``most`` how many pieces are given.
        """
        known = {term: weight * self.rarity(term) for term, weight in asked.items() if term in self._at}
        terms = sorted(known, key=lambda term: (-known[term], term))[:TERMS]
        scores: dict[int, float] = defaultdict(float)
        for term in terms:
            # A word that stands in many of the pieces is too common to lead anywhere; it would cost the most, too.
            if len(self._at[term]) <= max(4, len(self._pieces) // 12):
                for index in self._at[term]:
                    scores[index] += known[term]
        best = [index for index, score in scores.items() if score >= floor and self._pieces[index].handle in standing]
        best.sort(key=lambda index: (-scores[index], index))
        chosen: dict[str, dict[int, str]] = {}
        top: dict[str, float] = {}
        left, given = characters, 0
        for index in best:
            piece = self._pieces[index]
            lines = _news(piece, (standing[piece.handle], back), chosen.get(piece.handle, {}))
            size = sum(len(line) + 1 for line in lines.values())
            if not lines or size > left:
                continue
            chosen.setdefault(piece.handle, {}).update(lines)
            top.setdefault(piece.handle, scores[index])
            left, given = left - size, given + 1
            if given == most:
                break
        return [
            Excerpt(handle, self._labels[handle], tuple(sorted(lines.items())), top[handle])
            for handle, lines in chosen.items()
        ]


def question(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The words of a question, each with the weight of the weightiest text that it stands in."""
    asked: dict[str, float] = {}
    for text, weight in parts:
        for term in words(text):
            asked[term] = max(weight, asked.get(term, 0.0))
    return asked


def words(text: str) -> list[str]:
    """The names and numbers in a text as they are looked up: whole, and of compound ones the parts."""
    found = []
    for name in _NAME.findall(text):
        lowered = name.lower().strip("./-:")
        if len(lowered) < 3:
            continue
        found.append(lowered)
        if len(lowered) < len(name) or _COMPOUND.search(name):
            found += [part.lower() for part in _PART.findall(name) if len(part) > 3]
    return found


def rendered(excerpts: Sequence[Excerpt]) -> str:
    """The text that is added: each content under its label and handle, gaps between its lines marked."""
    if not excerpts:
        return ""
    blocks = []
    for excerpt in excerpts:
        shown, last = [], None
        for number, line in excerpt.lines:
            if last is not None and number != last + 1:
                shown.append("…")
            shown.append(line)
            last = number
        blocks.append(f"[{excerpt.handle}] {excerpt.label}\n" + "\n".join(shown))
    return "\n\n" + "\n".join((OPENS, "From earlier in this session, shortened above:", *blocks, CLOSES))


def turned_to(conversation: Conversation) -> list[tuple[str, float]]:
    """What the talk turns to now: the newest message, and what the assistant said and called before it, weighed. A
    person's words and the assistant's own lead on; a tool's answer names much in passing."""
    messages = conversation.messages
    if not messages:
        return []
    newest = messages[-1]
    told = [(newest.spoken[:LOOKED_AT], SAID)] if newest.spoken else []
    told += [(result.text[:LOOKED_AT], IN_PASSING) for result in newest.results]
    # In the Responses format each call and each result is a message of its own: what was said stands a little before.
    for message in messages[-2 : -2 - REACH : -1]:
        if message.spoken:
            break
        told += [(result.text[:LOOKED_AT], IN_PASSING) for result in message.results]
        if message.role is Role.ASSISTANT:
            told += [(text[:LOOKED_AT], SAID) for text in (message.text, *(call.arguments for call in message.calls))]
            if message.text or message.calls:
                break
    return [(text, weight) for text, weight in told if text]


_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:-]*")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}(?![a-z])|\d+")
_COMPOUND = re.compile(r"[_./:-]|[a-z][A-Z]")


def _cut(text: str) -> Iterable[tuple[int, tuple[str, ...]]]:
    """A text in pieces of whole lines, with the number of each one's first line; empty lines begin a piece."""
    start, piece, size = 0, list[str](), 0
    for number, line in enumerate(text.splitlines()):
        line = line[:CHARACTERS]
        full = len(piece) >= LINES or size + len(line) > CHARACTERS or (not line.strip() and len(piece) > LINES // 2)
        if piece and full:
            yield start, tuple(piece)
            start, piece, size = number, [], 0
        piece.append(line)
        size += len(line)
    if piece:
        yield start, tuple(piece)


def _news(piece: Piece, stands: Sequence[str], given: Mapping[int, str]) -> dict[int, str]:
    """The lines of a piece that say something and are not there already."""
    return {
        piece.start + index: line
        for index, line in enumerate(piece.lines)
        if (said := line.strip()) and piece.start + index not in given and not any(said in text for text in stands)
    }
