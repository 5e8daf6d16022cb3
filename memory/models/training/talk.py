"""The labelled talk: sessions as JSON lines, and what the models are fitted to out of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import orjson
from numpy.typing import NDArray

from memory.language.sentences import sentences
from memory.understanding.features import around, of_gap, of_text
from memory.understanding.network import LASTING_KINDS, PASSING_KINDS
from memory.understanding.tokens import located

DATA: Final = Path(__file__).parent / "data"
BREAK: Final = "//"
"""Stands between clauses where the person began a new line."""
_NAMED: Final = re.compile(r"I\b|[A-Z]\w*[A-Z]")
"""What keeps its capital anywhere: oneself, and what is spelt with several."""
_ACTIONS: Final = re.compile(
    r"\s*\[(?:ran|edited|wrote|read|created|deleted|opened|asked|searched|moved|renamed)[^\]]*\]"
)
_LABELS: Final = (*LASTING_KINDS, *(f"none.{name}" for name in PASSING_KINDS))
KEPT: Final = -2
PASSED: Final = -3
UNKNOWN: Final = -1
"""The kind of a clause of which the labels of ``settling``, ``working`` and ``choosing`` tell only that it is worth
keeping, that it is of the moment, or neither."""
_ROUGH: Final = dict.fromkeys(("choice", "spec", "drop", "plan", "lasting"), KEPT) | {"reason": UNKNOWN}
_STEPS: Final = ("none.step", "none.check", "none.bug", "none.paste")
"""Labels of what is of the moment that the talk does not have; the others tell the same there and here."""
_LETTERS: Final = {letter: place for place, letter in enumerate("upo")}
_FLAGS: Final = "~+^<"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A clause with its labels: the place of its kind, of its scope (-1 for none), and its flags."""

    author: str
    language: str
    text: str
    kind: int
    scope: int
    flags: tuple[bool, bool, bool, bool]
    says: NDArray[np.int64]
    around: NDArray[np.int64]


def sessions(folder: Path = DATA / "talk") -> list[dict[str, object]]:
    """All sessions, in the order of the files."""
    return [orjson.loads(line) for file in sorted(folder.glob("*.jsonl")) for line in file.read_bytes().splitlines()]


WORKING: Final = ("working", "choosing")
"""The folders in which work is ordered as people order it who have work done."""


def working() -> list[dict[str, object]]:
    """All sessions of those, in the order of the files."""
    return [each for folder in WORKING for each in sessions(DATA / folder)]


def messages(talk: Iterable[dict[str, object]]) -> Iterator[tuple[dict[str, object], str, list[list[str]]]]:
    """Each message of a person with its session and the assistant's text that it answers: rows of label and text."""
    for session in talk:
        reply = ""
        for turn in session["turns"]:  # type: ignore[attr-defined]
            if "agent" in turn:
                reply = _ACTIONS.sub("", turn["agent"])
            else:
                yield session, reply, turn["clauses"]


def clauses(talk: Iterable[dict[str, object]]) -> list[Labelled]:
    """The labelled clauses of some sessions."""
    found = []
    for session, reply, rows in messages(talk):
        own = [(label, text.replace("\\n", "\n")) for label, text in rows if label != BREAK]
        texts = [text[:600] for _, text in own]
        found += [_labelled(session, label, texts, place, reply) for place, (label, _) in enumerate(own)]
    return found


def recut(talk: Iterable[dict[str, object]], split: Callable[[str], Sequence[str]]) -> list[Labelled]:
    """The same talk as it will be read: in the pieces that ``split`` makes of a sentence, each labelled by what most of
    it is. Pieces that are authors' clauses already, and those that are mostly but not wholly of the moment, are left
    out."""
    found = []
    for session, reply, rows in messages(talk):
        text, spans = _joined(rows)
        cut = _cut(text, split)
        texts = [text[start:end][:600] for start, end in cut]
        labels = {(start, end): label for start, end, label in _pieces(text, spans, split)}
        found += [
            _labelled(session, labels[place], texts, at, reply) for at, place in enumerate(cut) if place in labels
        ]
    return found


def _cut(text: str, split: Callable[[str], Sequence[str]]) -> list[tuple[int, int]]:
    """Where the pieces that ``split`` makes of a text's sentences stand in it."""
    pieces, at = [], 0
    for sentence in sentences(text):
        begin = at = max(text.find(sentence, at), at)
        for piece in split(sentence):
            begin = max(text.find(piece, begin), begin)
            pieces.append((begin, begin + len(piece)))
            begin += len(piece)
        at += len(sentence)
    return pieces


def _pieces(
    text: str, spans: Sequence[tuple[int, int, str]], split: Callable[[str], Sequence[str]]
) -> Iterator[tuple[int, int, str]]:
    """The pieces of a text that are not clauses already, each with the label of most of it; without those that are
    mostly but not wholly of the moment."""
    clauses = {(start, end) for start, end, _ in spans}
    for start, end in _cut(text, split):
        parts = [(min(end, y) - max(start, x), label) for x, y, label in spans if min(end, y) > max(start, x)]
        if (start, end) in clauses or not parts:
            continue
        size_kept = sum(size for size, label in parts if not label.startswith("none."))
        whole = sum(size for size, _ in parts)
        if 0.25 * whole < size_kept < 0.5 * whole:
            continue
        yield start, end, max(part for part in parts if part[1].startswith("none.") == (size_kept < 0.5 * whole))[1]


@dataclass(frozen=True, slots=True)
class Spanned:
    """A message with its clauses as places in its text: (start, end, kind, scope, flags). Clauses may overlap, where
    the same words were cut in several ways. ``before`` is the assistant's text that it answers."""

    author: str
    text: str
    before: str
    clauses: tuple[tuple[int, int, int, int, tuple[bool, ...]], ...]


def spanned(talk: Iterable[dict[str, object]], *cuts: Callable[[str], Sequence[str]]) -> list[Spanned]:
    """Every message with its authors' clauses, and with the pieces that each of ``cuts`` makes of its sentences (see
    :func:`recut`)."""
    found = []
    for session, reply, rows in messages(talk):
        text, spans = _joined(rows)
        own = {(start, end): label for start, end, label in spans}
        for cut in cuts:
            own |= {(start, end): label for start, end, label in _pieces(text, spans, cut) if (start, end) not in own}
        clauses = tuple((start, end, *_meant(label)) for (start, end), label in own.items())
        found.append(Spanned(str(session["author"]), text, reply, clauses))
    return found


def gaps(talk: Iterable[dict[str, object]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The features of each gap between two words inside a line, and whether a clause begins there; of each line also
    as somebody types it who parts sentences with commas."""
    features: list[Sequence[int]] = []
    begins: list[bool] = []
    for _, _, rows in messages(talk):
        for line in (variant for own in _lines(rows) for variant in _typed(own)):
            text, starts, at = " ".join(line), set(), 0
            for piece in line:
                starts.add(at)
                at += len(piece) + 1
            found = located(text)
            words = [token.text for token in found]
            for place, token in enumerate(found):
                if place and not token.is_mark and text[token.start - 1].isspace():
                    features.append(of_gap(words, place))
                    begins.append(token.start in starts)
    return np.array(features, np.int64), np.array(begins)


def _labelled(session: dict[str, object], label: str, texts: Sequence[str], place: int, reply: str) -> Labelled:
    kind, scope, flags = _meant(label)
    return Labelled(
        author=str(session["author"]),
        language=str(session["lang"]),
        text=texts[place],
        kind=kind,
        scope=scope,
        flags=flags,
        says=np.array(of_text(texts[place]), np.int64),
        around=np.array(around(texts, place, reply), np.int64),
    )


def _meant(label: str) -> tuple[int, int, tuple[bool, bool, bool, bool]]:
    """The place of a label's kind (or how much of it is known), that of its scope (-1 for none), and its flags."""
    kind, *rest = label.split()
    scope = next((_LETTERS[part[0]] for part in rest if part[0] in _LETTERS), -1)
    marks = "".join(part for part in rest if part[0] in _FLAGS)
    flags = ("~" in marks, "+" in marks, "^" in marks, "<" in marks)
    known = _LABELS.index(kind) if kind in _LABELS else PASSED if kind in _STEPS else _ROUGH[kind]
    return known, scope if kind in LASTING_KINDS else -1, flags


def _joined(rows: Sequence[Sequence[str]]) -> tuple[str, list[tuple[int, int, str]]]:
    """A message as it was typed, and where each clause stands in it with its label."""
    text, spans = "", []
    for label, piece in rows:
        if label == BREAK:
            text = text.rstrip() + "\n"
            continue
        own = piece.replace("\\n", "\n")
        if text and not text.endswith("\n"):
            text += " "
        spans.append((len(text), len(text) + len(own), label))
        text += own
    return text, spans


def _typed(line: list[str]) -> list[list[str]]:
    """A line as it is, and where some of its clauses end in a full stop, with commas in their places."""
    run = [f"{piece[:-1]}," if piece.endswith(".") and at + 1 < len(line) else piece for at, piece in enumerate(line)]
    if run == line:
        return [line]
    joined = [
        piece if at == 0 or not line[at - 1].endswith(".") or _NAMED.match(piece) else piece[:1].lower() + piece[1:]
        for at, piece in enumerate(run)
    ]
    return [line, joined]


def _lines(rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """The clauses of each line of a message, without what was pasted."""
    line: list[str] = []
    for label, text in [*rows, (BREAK, "")]:
        if label == BREAK or label == "none.quote":
            if line:
                yield line
            line = []
        else:
            line.append(text)


def labelled_clauses(
    talk: Iterable[dict[str, object]],
) -> Iterator[tuple[str, list[str], list[tuple[int, int, tuple[bool, ...]]]]]:
    """Of each message the assistant's text that it answers, its clauses, and of each of these the place of its kind,
    that of its scope (-1 for none), and its flags."""
    for _, reply, rows in messages(talk):
        own = [(label, text) for label, text in rows if label != BREAK]
        if own:
            yield reply, [text for _, text in own], [_meant(label) for label, _ in own]
