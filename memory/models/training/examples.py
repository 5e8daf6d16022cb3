"""What the encoder is fitted to: labelled messages and pairs of statements, as word pieces."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson
from tokenizers import Tokenizer

from memory.models.training.talk import BREAK, DATA, Spanned
from memory.models.training.talk import messages as labelled
from memory.understanding.encoder import BEFORE, READ, RELATIONS, STATEMENT, unpointed

STRANGERS: Final = 4
"""Newer statements of other subjects that are paired with each older one."""
MESSY: Final = 0.45
"""The share of statements in pairs that are read with something else around them, as people say things in passing."""
NEIGHBOURS: Final = 5
"""Pairs of statements of one session that tell different things of one project, at most."""
BESIDE_CHANGES: Final = 6
"""Earlier statements of one person that a newer one is read beside which changes another, at most: it sounds like a
change to any of them."""
BESIDE_OTHERS: Final = 3
"""The same of a newer one that changes none."""
LENGTHS: Final = (32, 48, 64, 96, 128, 192, 288)
"""Texts are padded to one of these."""


@dataclass(frozen=True, slots=True)
class Example:
    """Word pieces with what is to be said of them: of a message its clauses as (pieces, kind, scope, flags), of a pair
    of statements their relation."""

    author: str
    ids: list[int]
    before: int
    clauses: tuple[tuple[list[int], int, int, tuple[bool, ...]], ...] = ()
    relation: int = -1


def groups(name: str) -> list[dict[str, Any]]:
    """What lies in one of the folders of labelled data, in the order of the files."""
    return [
        orjson.loads(line) for file in sorted((DATA / name).glob("*.jsonl")) for line in file.read_bytes().splitlines()
    ]


def of_message(message: Spanned, tokenizer: Tokenizer, start: int, end: int) -> Example | None:
    """A labelled message as word pieces; nothing where it is too long or no clause is left."""
    said = tokenizer.encode(message.before[-600:]).ids[-BEFORE:] if message.before else []
    read = tokenizer.encode(message.text)
    head = len(said) + 2
    places = list(enumerate(read.offsets[:READ]))
    clauses = tuple(
        (own, kind, scope, flags)
        for first, last, kind, scope, flags in message.clauses
        if (own := [head + at for at, (begin, until) in places if begin < last and until > first])
    )
    ids = [start, *said, end, *read.ids[:READ], end]
    return Example(message.author, ids, head, clauses) if clauses and len(ids) <= LENGTHS[-1] else None


def asides(talk: Iterable[dict[str, object]]) -> dict[str, list[str]]:
    """What people say around a statement, by language: short clauses of the labelled talk, of all kinds."""
    found: dict[str, list[str]] = defaultdict(list)
    for session, _, rows in labelled(talk):
        for label, text in rows:
            if label not in (BREAK, "none.quote") and 2 <= len(text.split()) <= 14:
                found[str(session["lang"])].append(unpointed(text))
    return found


def in_passing(text: str, others: Sequence[str], rng: np.random.Generator) -> str:
    """A statement with one of some other clauses before it, behind it, or both."""
    before, behind = (others[at] for at in rng.integers(len(others), size=2))
    joint = (", ", ". ", " ", " and ")[rng.integers(4)]
    where = rng.integers(4)
    if where == 0:
        return f"{before}{joint}{text}"
    return f"{before}{joint}{text}{joint}{behind}" if where == 1 else f"{text}{joint}{behind}"


@dataclass(frozen=True, slots=True)
class StatementPair:
    """Two statements, as they are read, with the newer one's relation to the older one."""

    author: str
    older: str
    newer: str
    relation: int


def related(around: Mapping[str, Sequence[str]]) -> list[StatementPair]:
    """The authors' pairs of statements; ``around`` is what may stand around them, by language. These pairs share a
    subject; most pairs that are ever read do not, so each older statement is also paired with newer ones that belong to
    others."""
    statements = groups("statements")
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for group in statements:
        said[group["lang"]] += [(group["older"], text) for _, text in group["newer"]]
    drawn = np.random.default_rng(0)

    def read(text: str, beside: Sequence[str]) -> str:
        messy = beside and drawn.random() < MESSY
        return in_passing(unpointed(text), beside, drawn) if messy else text

    found = []
    for group in statements:
        others = said[group["lang"]]
        chosen = [others[at] for at in drawn.integers(len(others), size=STRANGERS)]
        strangers = [("unrelated", text) for belongs, text in chosen if belongs != group["older"]]
        for label, text in [*group["newer"], *strangers]:
            beside = around.get(group["lang"], ())
            older = read(group["older"], beside)
            found.append(StatementPair(group["author"], older, read(text, beside), RELATIONS.index(label)))
    return found + told_in_passing()


def told_in_passing() -> list[StatementPair]:
    """Pairs whose newer statement stands in a message about something else: with all of the message, and with the
    stretch alone that tells it."""
    return [
        StatementPair(group["author"], group["older"], text, RELATIONS.index(label))
        for group in groups("passing")
        for label, *texts in group["newer"]
        for text in texts
    ]


def told_over_weeks() -> list[StatementPair]:
    """Pairs out of what somebody says of one project over some weeks: each statement with those that it changes, says
    again or adds to, and with others before it, which it leaves as they are."""
    drawn = np.random.default_rng(2)
    found = []
    for history in groups("histories"):
        stated = history["statements"]
        for at, newer in enumerate(stated):
            to = {int(place): relation for place, relation in newer.get("to", {}).items()}
            rest = [place for place in range(at) if place not in to]
            most = BESIDE_CHANGES if to else BESIDE_OTHERS
            chosen = sorted(drawn.permutation(rest)[:most].tolist())
            for place, label in [*to.items(), *((place, "unrelated") for place in chosen)]:
                pair = (stated[place]["text"], newer["text"], RELATIONS.index(label))
                found.append(StatementPair(history["author"], *pair))
    return found


def neighbours(talk: Iterable[dict[str, Any]]) -> list[StatementPair]:
    """Pairs of statements that one person made in one session: they share the project, the people and the manner, and
    yet tell different things. Left out is what its author marked as leaning on something before it, and corrections,
    which may well be about what was just said."""
    drawn = np.random.default_rng(1)
    unrelated = RELATIONS.index("unrelated")
    found = []
    for session in talk:
        stated = _statements([row for _, _, rows in labelled([session]) for row in rows])
        chosen = [(older, newer) for at, (newer, alone) in enumerate(stated) if alone for older, _ in stated[:at]]
        picked = (chosen[at] for at in drawn.permutation(len(chosen))[:NEIGHBOURS].tolist())
        found += [StatementPair(str(session["author"]), older, newer, unrelated) for older, newer in picked]
    return found


def _statements(rows: Sequence[Sequence[str]]) -> list[tuple[str, bool]]:
    """The statements among labelled clauses, each with whether it stands alone: what goes on with one is joined to
    it."""
    found: list[tuple[str, bool]] = []
    for label, text in rows:
        if label == BREAK or label.startswith("none."):
            continue
        kind, _, rest = label.partition(" ")
        if "+" in rest and found:
            found[-1] = (f"{found[-1][0]} {text}", found[-1][1])
        else:
            found.append((text, kind != "corr" and not {"^", "<"} & set(rest)))
    return found


def pairs(stated: Iterable[StatementPair], tokenizer: Tokenizer, start: int, end: int) -> list[Example]:
    """Pairs of statements as word pieces."""
    found = []
    for pair in stated:
        older, newer = (tokenizer.encode(unpointed(text)).ids[:STATEMENT] for text in (pair.older, pair.newer))
        found.append(Example(pair.author, [start, *older, end, *newer, end], len(older) + 2, relation=pair.relation))
    return found
