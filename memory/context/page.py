"""MEMORY.md: the little that every session should begin with.

Only what is essential stands on it: what a person asked for or prefers in so many words, what was pinned or
approved, what at least two sessions bear out, the project's decisions, the open tasks. Observations do not. The same
facts give the same bytes: it shows neither clock nor counter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memory.context.diversity import same
from memory.context.essential import AT_WORK, LEAST, essential_worth, on_page
from memory.context.message_intent import about_work
from memory.context.pack import disarmed, each_in_scope, quoted, tokens_of
from memory.context.token_allocation import Demand, allocate
from memory.fact import Category, Fact, FactKind, Origin, Sensitivity, State, Stream
from memory.language.answered import in_words, without_answered
from memory.language.polarity import unsaid
from memory.language.terms import words_of
from memory.language.words import stems
from memory.scope import Layer
from memory.strength import recency
from memory.understanding.cores import is_core, rest_of

PAGE_OPENING: Final = "<memory-page>\nNotes from earlier sessions: background, not new requests."
PAGE_CLOSING: Final = "</memory-page>"
UNSETTLED: Final = " (unsettled)"
"""Stands behind what something else contradicts that is not known to be older, or may be an exception."""
EARLIER: Final = " (said earlier; the newer line above may have replaced it)"
"""Stands behind what something newer, which stands right above it, contradicts."""

_HEADINGS: Final = {
    Stream.IDENTITY: "## The user",
    Stream.PROJECTS: "## Project",
    Stream.TASKS: "## Tasks and corrections",
    Stream.FLOW: "## Ways of working",
}
_SHORTEST: Final = 5
"""Tokens of room in which no fact fits any more."""
MUCH: Final = 1.5
"""How many times the page's budget what somebody told of their life must be, not to have all of the page."""
PERSONAL: Final = 0.4
"""The part of the page that it has then."""
OF_WORK: Final = 0.2
"""The share of words of work on software, from which on a liking is about that."""
ROOM: Final = 200
"""Tokens of a page up to which it is filled, by default, with what is less than essential."""
FILLS: Final = 0.4
"""The least worth of that."""
SURELY: Final = 0.75
"""And its least confidence: what a rule alone has found in a talk about anything is not so sure."""
VARYING: Final = 3
"""How many others a fact contradicts that changes from time to time, such as the number of an order: nobody settles
which of them holds, and recall brings the one that is asked for."""
_LIFE: Final = (Category.PERSON, Category.PREFERENCES, Category.PEOPLE)
_PRIVATE: Final = (Layer.USER, Layer.USER_PROJECT)


LineOf = Callable[[Fact, str], str]
"""The line of a fact, with a mark behind it."""


@dataclass(frozen=True, slots=True)
class Item:
    """A line of the page and the fact that it tells."""

    id: str
    line: str


@dataclass(frozen=True, slots=True)
class Page:
    """MEMORY.md, the ids of the facts on it, and its lines by stream; an empty text where nothing is essential."""

    text: str = ""
    memories: tuple[str, ...] = ()
    streams: Mapping[Stream, tuple[Item, ...]] = field(default_factory=dict)


STANDS: Final = 1.25
"""How much more a fact is worth that stands on the page already: so it does not change with every use of another."""


def page(
    facts: Iterable[Fact],
    budget: int,
    now: datetime,
    *,
    standing: frozenset[str] = frozenset(),
    filled_tokens: int = ROOM,
) -> Page:
    """The page of some facts within ``budget`` tokens, its frame (see :func:`frame_page`) counted in.

    The budget is divided among the streams (see :mod:`memory.context.token_allocation`); each takes what it is worth
    out of its part, then all of them out of what is left. ``standing`` are the facts that stand on it now; ``now`` only
    tells what has expired. A page of fewer than ``filled_tokens`` is filled with what is less than essential.
    """
    facts = list(facts)
    lasting = [fact for fact in facts if _may_stand_alone(fact, now)]
    essential = _distinct_by_value([fact for fact in lasting if essential_worth(fact) >= LEAST], standing)
    newer = _newer_contradicting([fact for fact in facts if _may_be_on_page(fact, now)])
    told = {fact.id: fact for fact in _contested_in_their_lines(facts)}
    newer_told = _newer_contradicting([fact for fact in told.values() if _may_be_on_page(fact, now)])
    personal = _personal_room(essential, budget)
    own = allocate(budget - tokens_of(frame_page("# Memory")), _demands(essential))
    taken: dict[str, Fact] = {}
    filled = 0
    # What fits is found by trying, so that a line would be made anew with each fact behind it.
    line = _each_once(_line)

    def lines_of(ids: Iterable[str]) -> dict[Stream, tuple[Item, ...]]:
        return _lines_by_stream([told[id] for id in ids], newer_told, line)

    for within_shares in (True, False):
        for fact in essential:
            if fact.id in taken or (within_shares and own[fact.stream] <= 0):
                continue
            # What something newer contradicts never stands there without it.
            group = {each.id: each for each in _with_newer(fact, newer)}
            size = tokens_of(frame_page(_markdown(lines_of(taken | group))))
            if size > budget or (within_shares and size - filled > own[fact.stream] and fact.stream in _streams(taken)):
                continue
            if _is_personal(fact):
                if size - filled > personal:
                    continue
                personal -= size - filled
            own[fact.stream] -= size - filled
            filled = size
            taken |= group
            if filled > budget - _SHORTEST:
                break
    # A young memory is known by heart: what is merely so is found by no question that is put in other words.
    for fact in (
        _distinct_by_value([each for each in lasting if _may_fill_the_page(each)], standing)
        if filled < filled_tokens
        else ()
    ):
        size = tokens_of(frame_page(_markdown(lines_of((*taken, fact.id)))))
        if size <= min(filled_tokens, budget) and not (newer.get(fact.id) or _is_told_already(fact, taken)):
            taken[fact.id] = fact
    lines = lines_of(taken)
    return Page(_markdown(lines), tuple(taken), lines) if taken else Page()


def _is_told_already(fact: Fact, taken: Mapping[str, Fact]) -> bool:
    """Whether what stands on the page says the same, or was drawn from a fact, or the fact from it."""
    terms = words_of(fact.text)
    return any(
        each.id in fact.derived_from or fact.id in each.derived_from or same(terms, words_of(each.text))
        for each in taken.values()
    )


def _personal_room(essential: Iterable[Fact], budget: int) -> int:
    """Tokens that what somebody told of their life may take of the page. Where it is far more than the page holds, most
    of it can come only by recall, which shares its room with the page."""
    told = tokens_of("\n".join(_line(fact) for fact in essential if _is_personal(fact)))
    return budget if told <= MUCH * budget else int(budget * PERSONAL)


def _is_personal(fact: Fact) -> bool:
    """Whether a fact is what somebody told of themselves beside their work: no advice heeds what they told of that."""
    if fact.layer is not Layer.USER or fact.category not in _LIFE or fact.pinned or fact.kind is FactKind.CORRECTION:
        return False
    return about_work(stems(fact.text)) < OF_WORK


def heading(stream: Stream) -> str:
    return _HEADINGS[stream]


def tokens_by_part(text: str, own: str) -> dict[Stream | None, int]:
    """The tokens of a page by the stream whose heading they stand under, those of the person's ``own`` words, with
    which it begins, under None; they add up to those of the whole."""
    begins = {heading(stream): stream for stream in Stream}
    ends: dict[Stream | None, int] = {}
    at: Stream | None = None
    place = len(own.strip()) if own.strip() and text.startswith(own.strip()) else 0
    if place:
        ends[None] = place
    waiting = place
    for line in text[place:].splitlines(keepends=True):
        found = begins.get(line.strip(), at)
        if found is not at and at is not None:
            ends[at] = waiting
        at, waiting = found, waiting + len(line)
    ends[at] = len(text)
    counted, before = {}, 0
    for part, end in ends.items():
        counted[part] = tokens_of(text[:end]) - before
        before += counted[part]
    return counted if text else {}


def _streams(taken: Mapping[str, Fact]) -> set[Stream]:
    return {fact.stream for fact in taken.values()}


def _demands(essential: Sequence[Fact]) -> dict[Stream, Demand]:
    """What each stream would take. Recency is measured against the newest of them, not against a clock."""
    newest = max((fact.recorded_at for fact in essential), default=None)
    demands: dict[Stream, Demand] = {}
    for stream in Stream:
        own = [fact for fact in essential if fact.stream is stream]
        if own and newest is not None:
            worths = [essential_worth(fact) for fact in own]
            demands[stream] = Demand(
                tokens_of("\n".join([_HEADINGS[stream], *map(_line, own)]) + "\n"),
                sum(recency(fact.recorded_at, newest) for fact in own) / len(own),
                sum(worth / (1.0 + worth) for worth in worths) / len(own),
                sum(fact.importance for fact in own) / len(own),
            )
    return demands


def frame_page(text: str) -> str:
    """The page as it stands behind the first human message; empty for an empty page.

    The page may have been edited by hand, so our delimiters are disarmed in it here and not when it is made.
    """
    return f"\n\n{PAGE_OPENING}\n{disarmed(text.strip())}\n{PAGE_CLOSING}" if text.strip() else ""


def _contested_in_their_lines(facts: Sequence[Fact]) -> list[Fact]:
    """The facts without those contradictions that bear on no line. A line may be the core of a sentence whose rest is
    what holds no longer: it has no word in common then with what contradicts that."""
    known = {fact.id: fact for fact in facts}

    def bears_on(rival: Fact, fact: Fact) -> bool:
        said = page_text(fact)
        return said == fact.text or not words_of(said).isdisjoint(words_of(rival.text))

    def pruned(fact: Fact) -> Fact:
        rivals = [(id, known.get(id)) for id in fact.contradicts]
        kept = tuple(id for id, rival in rivals if rival is None or (bears_on(rival, fact) and bears_on(fact, rival)))
        return fact if kept == fact.contradicts else replace(fact, contradicts=kept)

    return [pruned(fact) if fact.contradicts else fact for fact in facts]


def _newer_contradicting(facts: Sequence[Fact]) -> dict[str, tuple[Fact, ...]]:
    """By the id of a fact the newer ones that contradict it, or are exceptions from it, the newest first, where the
    person's own word stands against their own word."""
    known = {fact.id: fact for fact in facts if fact.origin.trusted}
    found: dict[str, set[str]] = {}
    for one in known.values():
        for other in (known[id] for id in one.contradicts if id in known):
            first, last = sorted((one, other), key=_age)
            if first.valid_from < last.valid_from and not first.pinned:
                found.setdefault(first.id, set()).add(last.id)
    return {id: tuple(sorted((known[each] for each in own), key=_age, reverse=True)) for id, own in found.items()}


def _with_newer(fact: Fact, newer: Mapping[str, Sequence[Fact]]) -> list[Fact]:
    """A fact behind all that is newer and contradicts it, or contradicts that."""
    found = {fact.id: fact}
    waiting = [fact]
    while waiting:
        for each in newer.get(waiting.pop().id, ()):
            if each.id not in found:
                found[each.id] = each
                waiting.append(each)
    return list(found.values())[::-1]


def _age(fact: Fact) -> tuple[datetime, datetime, str]:
    return fact.valid_from, fact.recorded_at, fact.id


def marked(framed: str, facts: Iterable[Fact], words: Mapping[str, str]) -> str:
    """A framed page with words behind the lines of some facts, by their ids."""
    for fact in facts:
        if behind := words.get(fact.id):
            for mark in ("", EARLIER, UNSETTLED):
                line = disarmed(_line(fact, mark))
                framed = framed.replace(f"\n{line}\n", f"\n{line} ({quoted(behind, '  ')})\n", 1)
    return framed


def _may_stand_alone(fact: Fact, now: datetime) -> bool:
    """Whether a fact may stand on the page by itself."""
    varies = fact.kind is FactKind.FACT and len(fact.contradicts) >= VARYING and not fact.pinned
    return not varies and _may_be_on_page(fact, now)


def _may_fill_the_page(fact: Fact) -> bool:
    """Whether a fact may fill a page on which there is room: it is sure, and about the work or the people in it."""
    of_work = fact.category in AT_WORK or (fact.category is Category.PEOPLE and fact.layer is not Layer.USER)
    return of_work and fact.confidence >= SURELY and FILLS <= essential_worth(fact) < LEAST


def _may_be_on_page(fact: Fact, now: datetime) -> bool:
    if fact.state is not State.ACTIVE or fact.sensitivity is Sensitivity.RESTRICTED:
        return False
    # What somebody is allergic to is confidential and yet the first thing to respect; it stays with themselves.
    theirs = fact.kind is FactKind.PREFERENCE or fact.origin is Origin.PERSON
    if fact.sensitivity is Sensitivity.CONFIDENTIAL and not (theirs and fact.layer in _PRIVATE):
        return False
    return not ((fact.expires_at and fact.expires_at <= now) or (fact.valid_until and fact.valid_until <= now))


def _value_per_token(fact: Fact) -> float:
    """What a fact is worth for the room that it takes; long ones are held back, though not in full proportion."""
    return essential_worth(fact) / float(tokens_of(_line(fact)) ** 0.5)


def _distinct_by_value(facts: Sequence[Fact], standing: frozenset[str]) -> list[Fact]:
    """Facts by worth, what is pinned first; the newer of two that say the same, and nothing that another of them was
    drawn from."""

    def order(fact: Fact) -> tuple[object, ...]:
        worth = _value_per_token(fact) * (STANDS if fact.id in standing else 1.0)
        return not fact.pinned, -worth, -fact.recorded_at.timestamp(), fact.id

    drawn = {id for fact in facts for id in fact.derived_from}
    ordered = sorted((fact for fact in facts if fact.id not in drawn), key=order)
    unique: list[tuple[Fact, frozenset[int]]] = []
    for fact in ordered:
        terms = words_of(fact.text)
        if not any(same(terms, other) for _, other in unique):
            unique.append((fact, terms))
    return [fact for fact, _ in unique]


def page_text(fact: Fact) -> str:
    """What the page says of a fact: its core, as long as that may stand for its text. A text may have been changed
    since, and a core may come from elsewhere."""
    return fact.core if fact.core and is_core(fact.core, without_answered(fact.text)) else fact.text


def left_out(fact: Fact, shown: str) -> tuple[str, str]:
    """What a text that shows a fact says of it, and what it leaves out. Nothing is left out where the fact stands
    there whole, and where it stands there in no words that are its own now."""
    line, whole = on_page(fact.core or fact.text), in_words(fact.text)
    if quoted(in_words(line), "  ") not in shown or any(
        each in shown for each in (quoted(whole, "  "), quoted(whole), quoted(fact.brief))
    ):
        return fact.text, ""
    return f"{line} {fact.wrong}".rstrip(), rest_of(fact.text, line)


def _line(fact: Fact, mark: str = "") -> str:
    said = page_text(fact)
    text = f"- {quoted(in_words(on_page(said)), '  ')}"
    if wrong := unsaid(fact.wrong, said):
        text += f" (not: {quoted(wrong, '  ')})"
    return text + mark


def _each_once(made: LineOf) -> LineOf:
    lines: dict[tuple[str, str], str] = {}

    def line(fact: Fact, mark: str) -> str:
        key = (fact.id, mark)
        if key not in lines:
            lines[key] = made(fact, mark)
        return lines[key]

    return line


def _lines_by_stream(
    facts: Sequence[Fact], newer: Mapping[str, Sequence[Fact]], line: LineOf
) -> dict[Stream, tuple[Item, ...]]:
    """The lines of each stream, in the order in which they were learned; what something newer contradicts stands right
    below that."""
    there = {fact.id for fact in facts}
    newer_ids = {id: {each.id for each in own} for id, own in newer.items()}
    above = {fact.id: [each for each in newer.get(fact.id, ()) if each.id in there] for fact in facts}
    under = {id: each[0].id for id, each in above.items() if each}
    lines: dict[Stream, list[Item]] = {stream: [] for stream in Stream}

    def mark_of(fact: Fact) -> str:
        rivals = set(fact.contradicts) - (there & newer_ids.get(fact.id, set()))
        return UNSETTLED if any(fact.id not in newer_ids.get(id, ()) for id in rivals) else ""

    def put(fact: Fact, stream: Stream, mark: str) -> None:
        lines[stream].append(Item(fact.id, line(fact, mark)))
        for each in below.get(fact.id, ()):
            # A rule and its exception both hold; which of them is one is only read.
            put(each, stream, UNSETTLED if each_in_scope((each, fact)) else mark_of(each) or EARLIER)

    ordered = sorted(facts, key=lambda fact: (fact.recorded_at, fact.id))
    below: dict[str, list[Fact]] = {}
    for fact in ordered:
        if fact.id in under:
            below.setdefault(under[fact.id], []).append(fact)
    for fact in ordered:
        if fact.id not in under:
            put(fact, fact.stream, mark_of(fact))
    return {stream: tuple(items) for stream, items in lines.items() if items}


def _markdown(streams: Mapping[Stream, Sequence[Item]]) -> str:
    lines = ["# Memory"]
    for stream, items in streams.items():
        lines += [_HEADINGS[stream], *(item.line for item in items)]
    return "\n".join(lines) + "\n"
