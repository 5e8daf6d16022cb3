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


def _pieces_of(text: str, around: Sequence[str], tokenizer: Tokenizer, drawn: np.random.Generator) -> list[int]:
    """The word pieces of a statement, now and then with something else around it."""
    if around and drawn.random() < MESSY:
        text = in_passing(unpointed(text), around, drawn)
    own: list[int] = tokenizer.encode(unpointed(text)).ids[:STATEMENT]
    return own


def pairs(
    tokenizer: Tokenizer,
    start: int,
    end: int,
    around: Mapping[str, Sequence[str]],
) -> list[Example]:
    """The pairs of statements as word pieces; ``around`` is what may stand around them, by language. The authors'
    pairs share a subject; most pairs that are ever read do not, so each older statement is also paired with newer ones
    that belong to others."""
    statements = groups("statements")
    said: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for group in statements:
        said[group["lang"]] += [(group["older"], text) for _, text in group["newer"]]
    drawn = np.random.default_rng(0)

    found = []
    for group in statements:
        others = said[group["lang"]]
        chosen = [others[at] for at in drawn.integers(len(others), size=STRANGERS)]
        strangers = [("unrelated", text) for belongs, text in chosen if belongs != group["older"]]
        for label, text in [*group["newer"], *strangers]:
            beside = around.get(group["lang"], ())
            older = _pieces_of(group["older"], beside, tokenizer, drawn)
            ids = [start, *older, end, *_pieces_of(text, beside, tokenizer, drawn), end]
            found.append(Example(group["author"], ids, len(older) + 2, relation=RELATIONS.index(label)))
    return found
