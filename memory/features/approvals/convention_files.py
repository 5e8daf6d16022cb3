"""Where the files lie that shared knowledge is written into, and what may stand in a line of them.

A section of our own in a person's file: bullets between two marks, and what a person has done to them since.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from memory.candidate import Candidate
from memory.fact import Sensitivity
from memory.features.approvals.write_plan import ApprovalRefused
from memory.learning.redact import redact
from memory.learning.sensitivity import sensitivity
from memory.scope import Layer, place_of
from memory.settings import ProjectFolder

MAX_RULE_CHARS = 1000


@dataclass(frozen=True, slots=True)
class ConventionFile:
    """The file that an owner's shared facts are written into: a name below a folder."""

    folder: Path
    name: str


def checked(text: str) -> str:
    """A rule's text, on one line and without secrets.

    Raises:
        ApprovalRefused: when it is empty, too long, or nobody else's business.
    """
    words_said = " ".join(redact(text).text.split())
    if not words_said:
        raise ApprovalRefused("a rule needs a text")
    if len(words_said) > MAX_RULE_CHARS:
        raise ApprovalRefused(f"a rule has {MAX_RULE_CHARS} characters at most; this has {len(words_said)}")
    if (how := sensitivity(words_said)) is not Sensitivity.NORMAL:
        raise ApprovalRefused(
            f"this is {how.value} and stays with you; put it in other words with --text if others shall know"
        )
    return words_said


def places(projects: Mapping[str, ProjectFolder], pages: Path) -> Callable[[str], ConventionFile | None]:
    """Where the shared facts of an owner are written: a project's file where its folder is configured (by owner), an
    organisation's page below the folder of the pages."""

    def place(owner: str) -> ConventionFile | None:
        found = place_of(owner)
        if found is not None and found[1] is Layer.ORG:
            # The @ keeps it apart from the folders of users; a key has no character that a file's name may not have.
            return ConventionFile(pages, f"@{owner.removeprefix('o:')}/ORG.md")
        project = projects.get(owner)
        return ConventionFile(project.folder, project.conventions) if project and project.folder else None

    return place


def shared_owner(candidate: Candidate) -> str:
    """The owner for whom a candidate is approved."""
    found = place_of(candidate.owner)
    owner = found[0].owner(candidate.layer) if found and candidate.layer in (Layer.PROJECT, Layer.ORG) else None
    if owner is None:
        missing = "organisation (the setting `org`)" if candidate.layer is Layer.ORG else "project"
        raise ApprovalRefused(f"there is no {missing} for whom this could be approved")
    return owner


def no_folder(candidate: Candidate) -> str:
    """That a candidate is written into no file, as a note."""
    found = place_of(candidate.owner)
    project = found[0].project if found else ""
    return f"it is written into no file: the settings name no folder for it (projects.{project}.folder)"


BEGIN = "<!-- palimpsest: approved with `palimpsest approve`; what you change or delete here stays so -->"
END = "<!-- palimpsest: end of what was approved -->"
HEADING = "## Conventions"
EDITED = 0.5
"""Likeness from which on a new line is taken for one that was written and is gone, changed by a person."""

_BEGINS = re.compile(r"^[ \t]*<!-- palimpsest: approved\b[^\n]*-->[ \t]*\r?$", re.MULTILINE)
_ENDS = re.compile(r"^[ \t]*<!-- palimpsest: end of what was approved -->[ \t]*\r?$", re.MULTILINE)
_BULLET = re.compile(r"^[-*+][ \t]+(\S(?:.*[^ \t\n])?)[ \t]*$")


class Malformed(ValueError):
    """The marks in a file do not enclose one section; the message says what is wrong, and where."""


@dataclass(frozen=True, slots=True)
class SectionEdits:
    """What a person has done to the bullets that were written: of whom they stand where they stood, what they changed
    (name → new text), what they deleted, and what they wrote themselves."""

    kept: tuple[str, ...] = ()
    edited: tuple[tuple[str, str], ...] = ()
    deleted: tuple[str, ...] = ()
    added: tuple[str, ...] = ()


def bullets(text: str) -> list[str]:
    """The bullets of our section in a file; none where there is no section.

    Raises:
        Malformed: when the marks do not enclose one section.
    """
    span = _section_bounds(text)
    return [bullet for _, bullet in _bullets_with_places(text[slice(*span)].splitlines(keepends=True))] if span else []


def has_section(text: str) -> bool:
    """Whether there is a section of ours.

    Raises:
        Malformed: when the marks do not enclose one.
    """
    return _section_bounds(text) is not None


def taken(found: Sequence[str], written: Mapping[str, str]) -> SectionEdits:
    """What has become of what was written. ``found`` are the bullets that stand there now, ``written`` those that were
    written last, by name."""
    left = list(found)
    unchanged = []
    for name, bullet in written.items():
        if bullet in left:
            left.remove(bullet)
            unchanged.append(name)
    gone = {name: bullet for name, bullet in written.items() if name not in unchanged}
    likest = sorted(
        ((_likeness(old, new), name, place) for name, old in gone.items() for place, new in enumerate(left)),
        key=lambda each: (-each[0], each[1], each[2]),
    )
    edited: dict[str, int] = {}
    for likeness, name, place in likest:
        if likeness >= EDITED and name not in edited and place not in edited.values():
            edited[name] = place
    return SectionEdits(
        tuple(unchanged),
        tuple((name, left[place]) for name, place in edited.items()),
        tuple(name for name in gone if name not in edited),
        tuple(bullet for place, bullet in enumerate(left) if place not in edited.values()),
    )


def written(text: str | None, add: Sequence[str], drop: Iterable[str], heading: str = HEADING) -> str:
    """A file with bullets added to our section and others taken out of it; a section is made where there is none and
    something is to be added. ``text`` is None where there is no file. Line ends are those of the file.

    Raises:
        Malformed: when the marks do not enclose one section.
    """
    text = text or ""
    end = "\r\n" if "\r\n" in text else "\n"
    span = _section_bounds(text)
    if span is None:
        if not add:
            return text
        body = end.join([BEGIN, heading, "", *(f"- {bullet}" for bullet in add), END, ""])
        between = "" if not text else end if text.endswith("\n") else end * 2
        return f"{text}{between}{body}"
    lines = text[slice(*span)].splitlines(keepends=True)
    dropped, free = list(drop), None
    for said_at, bullet in reversed(_bullets_with_places(lines)):
        if bullet in dropped:
            dropped.remove(bullet)
            del lines[said_at.start : said_at.stop]
            free = said_at.start
    found = _bullets_with_places(lines)
    behind = found[-1][0].stop if found else len(lines) if free is None else free
    if lines and behind and not lines[behind - 1].endswith("\n"):
        lines[behind - 1] += end
    lines[behind:behind] = [f"- {bullet}{end}" for bullet in add]
    return text[: span[0]] + "".join(lines) + text[span[1] :]


def _section_bounds(text: str) -> tuple[int, int] | None:
    begins, ends = list(_BEGINS.finditer(text)), list(_ENDS.finditer(text))
    if not begins and not ends:
        return None
    if len(begins) != 1 or len(ends) != 1 or begins[0].end() > ends[0].start():
        places = sorted(mark.start() for mark in (*begins, *ends))
        lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places)
        raise Malformed(
            f"the marks of our section stand at line {lines}: there must be one beginning and one end behind it. "
            "Mend or delete them, and try again"
        )
    return begins[0].end() + 1, ends[0].start()


def _bullets_with_places(lines: Sequence[str]) -> list[tuple[range, str]]:
    """The bullets among some lines, each with its place; indented lines behind a bullet belong to it."""
    found: list[tuple[range, str]] = []
    for number, line in enumerate(lines):
        bullet = _BULLET.match(line.rstrip("\r\n"))
        if bullet:
            found.append((range(number, number + 1), " ".join(bullet[1].split())))
        elif found and found[-1][0].stop == number and line[:1] in (" ", "\t") and line.strip():
            place, bullet_text = found[-1]
            found[-1] = (range(place.start, number + 1), f"{bullet_text} {' '.join(line.split())}")
    return found


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one.casefold(), other.casefold(), autojunk=False).ratio()
