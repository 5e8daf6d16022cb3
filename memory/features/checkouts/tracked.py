"""What a project has approved, as Markdown that is kept in its repository: written, and read again. Pure.

A line is one rule, with its id in a comment behind it, so that a change of its words is seen to be one. Lines that
others have written, and words that somebody has changed, are theirs: writing leaves them where they stand.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.fact import FactKind

NAME: Final = "knowledge.md"
MOST: Final = 500
"""Lines that are read."""
LONGEST: Final = 1000
"""Characters of a line's words."""

HEAD: Final = (
    "# What this project knows\n\n"
    "`palimpsest export --to .palimpsest` writes here what a person has approved. To everybody else each line is\n"
    "proposed, by the name of who committed it (`palimpsest import .palimpsest`). The comment behind a line is its\n"
    "id, which stays when the words change.\n"
)
_SECTIONS: Final = {
    FactKind.DECISION: "Decisions",
    FactKind.CONVENTION: "Conventions",
    FactKind.PREFERENCE: "Conventions",
    FactKind.CORRECTION: "Conventions",
    FactKind.ANTI_PATTERN: "What does not work",
    FactKind.PATTERN: "What works",
    FactKind.HEURISTIC: "What works",
}
_REST: Final = "Facts"
_ORDER: Final = ("Decisions", "Conventions", "What works", "What does not work", _REST)
_LINE: Final = re.compile(
    r"[-*+][ \t]+(?P<said>\S(?:.*?[^ \t\n])??)[ \t]*+(?:<!--[ \t]*(?P<id>[0-9A-Fa-f-]{36})[ \t]*-->[ \t]*)?"
)
_HEADER: Final = re.compile(r"([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ \d+")
_OTHERS: Final = uuid.UUID("8d7a1f5e-2c0b-5e0a-8a55-2e6b1d0a9c41")
"""The namespace of the ids of lines that were written without one."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that was approved; ``id`` stays when its words change, ``before`` are its former words."""

    id: str
    said: str
    kind: FactKind
    before: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it stands in the file, and its number there, counted from 1."""

    id: str
    said: str
    number: int


@dataclass(frozen=True, slots=True)
class Written:
    """The file's text, and how many of its lines are others': ``left`` with ids that are not known here, ``differing``
    with other words than were approved here."""

    text: str
    left: int = 0
    differing: int = 0


def parsed(text: str) -> tuple[Line, ...]:
    """The lines of a file that hold a rule."""
    found: dict[str, Line] = {}
    for number, line in enumerate(text.splitlines(), 1):
        told = _LINE.fullmatch(line)
        said = visible(told["said"]) if told else ""
        if told is not None and said and len(said) <= LONGEST and len(found) < MOST:
            id = _id(told["id"]) or str(uuid.uuid5(_OTHERS, said.casefold()))
            found.setdefault(id, Line(id, said, number))
    return tuple(found.values())


def visible(text: str) -> str:
    """A text on one line, without what cannot be seen: nobody can approve that."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def written(rules: Sequence[Rule], ended: frozenset[str], text: str) -> Written:
    """The file with the rules that hold. ``ended`` are the ids of those that hold no longer; ``text`` is what the file
    says now, of which others' lines stay."""
    ours = {rule.id: rule for rule in rules}
    standing = dict[str, Line]()
    differing = left = 0
    kept: list[str] = []
    for number, raw in enumerate((text or HEAD).splitlines(), 1):
        line = next((each for each in parsed(raw)), None)
        rule = ours.get(line.id) if line else None
        if line is None:
            kept.append(raw)
        elif rule is not None and line.id not in standing:
            standing[line.id] = Line(line.id, line.said, number)
            same = line.said == rule.said or line.said in rule.before
            differing += not same
            kept.append(_line(rule) if same else raw)
        elif line.id not in ended and rule is None:
            left += 1
            kept.append(raw)
    for rule in sorted(rules, key=lambda each: each.id):
        if rule.id not in standing:
            _append_rule(kept, rule)
    return Written("\n".join(kept).rstrip("\n") + "\n", left, differing)


def _append_rule(kept: list[str], rule: Rule) -> None:
    """Put a new rule at the end of its section, which is made where there is none."""
    title = _SECTIONS.get(rule.kind, _REST)
    heading = f"## {title}"
    if heading not in kept:
        behind = [f"## {each}" for each in _ORDER[_ORDER.index(title) + 1 :]]
        at = next((kept.index(each) for each in behind if each in kept), len(kept))
        while at and not kept[at - 1].strip():
            at -= 1
        kept[at:at] = ["", heading, "", *([""] if at < len(kept) and kept[at].strip() else [])]
    at = kept.index(heading) + 1
    end = next((place for place in range(at, len(kept)) if kept[place].startswith("#")), len(kept))
    last = next((place for place in range(end - 1, at - 1, -1) if kept[place].strip()), -1)
    if last < 0:
        kept[at:end] = ["", _line(rule), *([""] if end < len(kept) else [])]
    else:
        kept.insert(last + 1, _line(rule))


def _line(rule: Rule) -> str:
    return f"- {rule.said} <!-- {rule.id} -->"


def _id(text: str | None) -> str:
    try:
        return str(uuid.UUID(text)) if text else ""
    except ValueError:
        return ""


def blamed(porcelain: str) -> Mapping[str, str]:
    """By line, word for word, the commit that wrote it, as ``git blame --line-porcelain`` tells."""
    return dict(_blamed(porcelain))


def _blamed(porcelain: str) -> Iterator[tuple[str, str]]:
    commit = ""
    for line in porcelain.split("\n"):
        if line.startswith("\t"):
            yield line[1:].rstrip("\r"), commit
        elif told := _HEADER.match(line):
            commit = told[1]
