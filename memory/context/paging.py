"""Paging in: when the talk turns to something that was shed, the lines that it turns to come back at the tail.

Of what was shed the lines are known on which a name stands for the last time in the session
(:mod:`memory.context.entity_coverage` says why those). The newest message and the call that led to it are the question:
a line answers by the rare words that it shares with it, times what the names at home on it are worth. Lines that are
still in the request are not given again.

What a client has wrapped into one line of JSON, by its own lines: Cline does so with what its tools printed.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from memory.context.entity_coverage import names, rows, shortened
from memory.conversation import Conversation, Role
from memory.edits import handle

LONGEST: Final = 400_000
"""Characters of a text that is looked into."""


def lines_of(text: str) -> str:
    """A text as lines: where it is JSON that wraps a text of several lines, as some clients wrap what a tool printed,
    those lines."""
    if len(text) > LONGEST or not text.startswith(("{", "[")) or "\\n" not in text or text.count("\n") > 1:
        return text
    try:
        told = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    wrapped = "\n".join(_long_strings(told))
    return wrapped if 2 * len(wrapped) > len(text) else text


def _long_strings(told: Any) -> Iterator[str]:
    open_ = [told]
    while open_:
        each = open_.pop()
        if isinstance(each, str):
            if "\n" in each:
                yield each
        elif isinstance(each, dict | list):
            open_.extend(reversed(tuple(each.values()) if isinstance(each, dict) else each))


OPENS, CLOSES = "<earlier-context>", "</earlier-context>"
"""The frame of what comes back."""

PER_CONTENT = 400_000
"""Characters of one content that are looked at."""

SPOKEN_WEIGHT, TOOL_OUTPUT_WEIGHT = 1.5, 0.5
"""What a word weighs that was said or called, and one that stands in a tool's answer."""

LOOKED_AT = 20_000
"""Characters of a text of the question that are looked at."""

REACH = 4
"""Messages before the newest in which the call is looked for that led to it."""

RUN = 6
"""So many known messages in a row, and all before them are known."""

TERMS = 96
"""Words of a question that are looked up: the rarest."""

COMMON = 12
"""A word that stands in more than this part of the lines leads nowhere."""

LEAST = 16
"""Tokens below which no further line is looked for."""

FRAME = 4
"""Tokens that a line costs beside its text."""

HEARD, NAMED, LINE, TERM = 100, 180, 300, 45
"""Bytes, about, of a content that was heard, of a name that has a home, of a line, and of a word on it."""

SPECIFIC = 3
"""A name that was said and stands in no more places than these is meant: what follows it there comes back with it."""

BLOCK = 8
"""Lines of such a place, at most; a place ends at an empty line."""


@dataclass(frozen=True, slots=True)
class _Row:
    handle: str
    number: int
    text: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Lines that come back, by their numbers, of one content."""

    handle: str
    label: str
    lines: tuple[tuple[int, str], ...]


@dataclass
class ShedContents:
    """What a session said, by names, and what was shed of it, by lines. Each content is taken in once."""

    _homes: dict[str, tuple[str, int]] = field(default_factory=dict)
    _times: Counter[str] = field(default_factory=Counter)
    _said: set[str] = field(default_factory=set)
    _heard: set[str] = field(default_factory=set)
    _labels: dict[str, str] = field(default_factory=dict)
    _texts: dict[str, tuple[str, str]] = field(default_factory=dict)
    _rows: list[_Row] = field(default_factory=list)
    _at: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    size: int = 0
    """Bytes that it takes in memory, about."""

    def __contains__(self, name: str) -> bool:
        return name in self._labels

    def __len__(self) -> int:
        return len(self._labels)

    def heard_messages(self, conversation: Conversation) -> int:
        """How many messages of a conversation are surely known, from its beginning on.

        One message alone proves nothing ("continue" is said again and again); a run of several does.
        """
        messages, run = conversation.messages, 0
        for index in range(len(messages), 0, -1):
            run = run + 1 if handle(messages[index - 1].digest, 0) in self._heard else 0
            if run == RUN:
                return index - 1
        return 0

    def hear(self, name: str, text: str, spoken: bool) -> None:
        """A content of the session, in their order: where it names something, that has its newest place. ``said``: by
        the assistant or a person."""
        if name in self._heard:
            return
        text = lines_of(text)
        self._heard.add(name)
        self.size += HEARD
        for each, row in rows(text[:PER_CONTENT]).items():
            if each not in self._homes:
                self.size += NAMED
            self._homes[each] = name, row
            self._times[each] += 1
            if spoken:
                self._said.add(each)

    def add(self, name: str, label: str, text: str) -> None:
        """A content was shed; ``label`` says what it is (a path, a command)."""
        if name in self._labels:
            return
        text = lines_of(text)
        self._labels[name] = label
        self._texts[name] = text[:PER_CONTENT], text[:PER_CONTENT].lower()
        self.size += HEARD + 2 * len(text[:PER_CONTENT])
        for number, line in enumerate(text[:PER_CONTENT].split("\n")):
            at_home = tuple(each for each in dict.fromkeys(names(line)) if self._homes.get(each) == (name, number))
            if at_home:
                row = _Row(name, number, shortened(line.strip(), at_home), at_home)
                terms = set(words(row.text))
                self.size += LINE + len(row.text) + TERM * len(terms)
                for term in terms:
                    self._at[term].append(len(self._rows))
                self._rows.append(row)

    def excerpts(
        self,
        weights: Mapping[str, float],
        tokens: int,
        gone: Collection[str],
        stands: Callable[[str], str],
        floor: float,
    ) -> list[Excerpt]:
        """The lines that a question turns to, at most ``tokens`` in all.

        ``weights`` weighs the question's words (:func:`question`), ``gone`` are the contents that are absent *now*,
        ``stands`` says what of one is still in the request, ``floor`` is how much a line must share with the question.
        """
        chosen: dict[str, dict[int, str]] = {}
        for name, block in self._rare_mentions(weights, gone):
            lines = {number: line for number, line in block.items() if line not in stands(name)}
            heading = 0 if name in chosen else len(_heading(name, self._labels[name]))
            cost = (heading + sum(len(line) + 1 for line in lines.values())) // 4 + 1
            if lines and cost <= tokens:
                tokens -= cost
                chosen.setdefault(name, {}).update(lines)
        for row in self._ranked(weights, gone, floor):
            heading = 0 if row.handle in chosen else len(_heading(row.handle, self._labels[row.handle]))
            cost = (heading + len(row.text)) // 4 + 1
            if cost <= tokens and row.text not in stands(row.handle):
                tokens -= cost
                chosen.setdefault(row.handle, {})[row.number] = row.text
            if tokens < LEAST:
                break
        return [Excerpt(name, self._labels[name], tuple(sorted(found.items()))) for name, found in chosen.items()]

    def _rare_mentions(
        self, weights: Mapping[str, float], gone: Collection[str]
    ) -> Iterable[tuple[str, dict[int, str]]]:
        """The places of names that were said and hardly stand elsewhere, the rarest first."""
        names = [
            name
            for name, weight in weights.items()
            if weight >= SPOKEN_WEIGHT and len(name) > 5 and _COMPOUND.search(name)
        ]
        found = []
        for name in names[:TERMS]:
            places: list[tuple[str, int]] = []
            for handle_, (_, lowered) in self._texts.items():
                at = lowered.find(name) if handle_ in gone else -1
                while at >= 0 and len(places) <= SPECIFIC:
                    places.append((handle_, at))
                    at = lowered.find(name, at + 1)
                if len(places) > SPECIFIC:
                    break
            if 0 < len(places) <= SPECIFIC:
                found.append((len(places), -len(name), places))
        for _, _, places in sorted(found):
            for handle_, at in places:
                yield handle_, _block_at(self._texts[handle_][0], at)

    def _ranked(self, weights: Mapping[str, float], gone: Collection[str], floor: float) -> list[_Row]:
        rare = {
            term: weight * math.log(len(self._rows) / len(self._at[term]))
            for term, weight in weights.items()
            if term in self._at and len(self._at[term]) <= max(4, len(self._rows) // COMMON)
        }
        shared: dict[int, float] = defaultdict(float)
        for term in sorted(rare, key=lambda term: (-rare[term], term))[:TERMS]:
            for index in self._at[term]:
                shared[index] += rare[term]
        scored = []
        for index, score in shared.items():
            row = self._rows[index]
            if score >= floor and row.handle in gone and (worth := self._worth(row, weights)):
                scored.append((-worth * score / (len(row.text) // 4 + FRAME), index))
        return [self._rows[index] for _, index in sorted(scored)]

    def _worth(self, row: _Row, weights: Mapping[str, float]) -> float:
        """What a line's names are worth: those that have not been said anew since, and those that are asked for."""
        return sum(
            (2.0 if name in self._said else 1.0) * math.log1p(self._times[name])
            for name in row.names
            if self._homes[name] == (row.handle, row.number)
            or weights.get(name.lower().strip("./-:"), 0.0) >= SPOKEN_WEIGHT
        )


def _block_at(text: str, at: int) -> dict[int, str]:
    """The line at a place of a text, and those behind it that belong to it, by their numbers."""
    start = text.rfind("\n", 0, at) + 1
    number = text.count("\n", 0, start)
    block: dict[int, str] = {}
    for line in text[start : start + BLOCK * 400].split("\n")[:BLOCK]:
        if not line.strip():
            break
        block[number + len(block)] = line[:400]
    return block


def question(parts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The words of a question, each with the weight of the weightiest text that it stands in."""
    weights: dict[str, float] = {}
    for text, weight in parts:
        for term in words(text):
            weights[term] = max(weight, weights.get(term, 0.0))
    return weights


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
    """The text that is added: each content's lines under its handle and what it is, gaps between them marked."""
    if not excerpts:
        return ""
    blocks = []
    for excerpt in excerpts:
        blocks.append(_heading(excerpt.handle, excerpt.label))
        last = None
        for number, line in excerpt.lines:
            if last is not None and number != last + 1:
                blocks.append("…")
            blocks.append(line)
            last = number
    body = _CLOSING.sub("[end]", "\n".join(blocks))
    return f"\n\n{OPENS}\n{body}\n{CLOSES}"


def _heading(handle: str, label: str) -> str:
    return f"[{label or handle}]"


def turned_to(conversation: Conversation) -> list[tuple[str, float]]:
    """What the talk turns to now: the newest message, and what the assistant said and called before it, weighed. A
    person's words and the assistant's own lead on; a tool's answer names much in passing."""
    messages = conversation.messages
    if not messages:
        return []
    index = conversation.newest
    newest = messages[index]
    spoken = [(newest.spoken[:LOOKED_AT], SPOKEN_WEIGHT)] if newest.spoken else []
    spoken += [(result.text[:LOOKED_AT], TOOL_OUTPUT_WEIGHT) for result in newest.results]
    # In the Responses format each call and each result is a message of its own: what was said stands a little before.
    for message in reversed(messages[max(index - REACH, 0) : index]):
        if message.spoken:
            break
        spoken += [(result.text[:LOOKED_AT], TOOL_OUTPUT_WEIGHT) for result in message.results]
        if message.role is Role.ASSISTANT:
            spoken += [
                (text[:LOOKED_AT], SPOKEN_WEIGHT)
                for text in (message.text, *(call.arguments for call in message.calls))
            ]
            if message.text or message.calls:
                break
    return [(text, weight) for text, weight in spoken if text]


_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:-]*")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]{2,}(?![a-z])|\d+")
_COMPOUND = re.compile(r"[_./:-]|[a-z][A-Z]")
_CLOSING = re.compile(re.escape(CLOSES), re.IGNORECASE)
