"""What a person has changed in a file of the page: lines that are new, that say something else, that are gone.

The file is compared with the marks of the lines that were written into it last, so that it does not matter what has
become of the facts meanwhile. What cannot be understood is told with its line, and is nobody's to throw away.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from memory.context.page import EARLIER, UNSETTLED
from memory.language.terms import words_of

MAX_LINE_CHARS: Final = 600
"""Characters of a line that can become a fact."""
MOST: Final = 100
"""Lines that are taken at once; whatever pastes more did not mean a page."""
ROWS: Final = 100
"""Rows that something of ours may have to be known again as one."""
SPARED: Final = 4
"""So many lines may go at once, however few there are."""

_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s{1,8}")
_EARLIER_ONCE: Final = " (said earlier; the line above is newer and says otherwise)"
"""What stands behind such lines in files that were written by a release before this wording."""
_NOT = re.compile(r" \(not: [^()]*\)$")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffd]")
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]{4}")
"""Some words of a script that puts no spaces between them: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of a file: its number, from 1, and what it says, free of its marker."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line that cannot be taken, and why; it is kept as text."""

    number: int
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class PageDiff:
    """What was changed. ``changed`` and ``gone`` name the facts; ``accident`` says why nothing of it is believed."""

    added: tuple[NumberedLine, ...] = ()
    changed: tuple[tuple[str, NumberedLine], ...] = ()
    gone: tuple[str, ...] = ()
    odd: tuple[RejectedLine, ...] = ()
    accident: str = ""

    @property
    def nothing(self) -> bool:
        """Whether the file is as it was written."""
        return not (self.added or self.changed or self.gone or self.odd or self.accident)


def mark_of(line: str) -> str:
    """What is kept of a line that was written, to know it again: 16 hexadecimal digits."""
    return hashlib.blake2b(" ".join(line.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()


def edited(written: Sequence[tuple[str, str]], text: str, current: Mapping[str, str]) -> PageDiff:
    """What a person has changed in a file. ``written`` are the ids and marks of the lines that were written into it, in
    order; ``told`` are the facts' texts by id, as far as there are."""
    lines, odd = _lines(text, frozenset(mark for _, mark in written))
    marks, now = [mark for _, mark in written], [mark_of(f"- {line.text}") for line in lines]
    if marks == now and not odd:
        return PageDiff()
    added: list[NumberedLine] = []
    changed: list[tuple[str, NumberedLine]] = []
    gone: list[str] = []
    matcher = SequenceMatcher(None, marks, now, autojunk=False)
    apart = [each for each in matcher.get_opcodes() if each[0] != "equal"]
    moved = _moved_line_counts(
        [mark for _, a, b, _, _ in apart for mark in marks[a:b]], [mark for *_, c, d in apart for mark in now[c:d]]
    )
    was, came = moved.copy(), moved.copy()
    for _, a, b, c, d in apart:
        old = [id for id, mark in written[a:b] if not _take_one(was, mark)]
        new = [line for line, mark in zip(lines[c:d], now[c:d], strict=True) if not _take_one(came, mark)]
        for id in old:
            like = [line for line in new if _may_be_changed_from(current.get(id, ""), line.text)]
            if like:
                changed.append((id, like[0]))
                new.remove(like[0])
            else:
                gone.append(id)
        added += new
    if gone and any(_CONTROL.search(each.text) for each in odd):
        return PageDiff(accident=f"{len(gone)} lines are gone, and what stands there is no text")
    if len(gone) > SPARED and 2 * len(gone) > len(written):
        return PageDiff(accident=f"{len(gone)} of {len(written)} lines are gone at once")
    if len(added) > MOST:
        return PageDiff(accident=f"{len(added)} lines are new at once, and {MOST} are taken at most")
    return PageDiff(tuple(added), tuple(changed), tuple(gone), tuple(odd))


def _moved_line_counts(was: Sequence[str], now: Sequence[str]) -> Counter[str]:
    """How many lines of each mark are only elsewhere, and so are neither gone nor new."""
    return Counter(was) & Counter(now)


def _take_one(left: Counter[str], mark: str) -> bool:
    """Whether there is one of them left, which is then taken."""
    left[mark] -= 1
    return left[mark] >= 0


def statement_of_line(line: str) -> str:
    """What a line of the page says, free of what we put behind it."""
    for mark in (EARLIER, _EARLIER_ONCE, UNSETTLED):
        line = line.strip().removesuffix(mark)
    return _NOT.sub("", line).strip()


def _lines(text: str, known: frozenset[str]) -> tuple[list[NumberedLine], list[RejectedLine]]:
    """The lines that say something, each with what continues it, and those that are none. What we wrote ourselves,
    whose marks are ``known``, is what it was, however odd it is and whatever the lines in it look like."""
    rows = text.split("\n")
    numbered: list[tuple[int, str, str]] = []
    comment = False
    at = 0
    while at < len(rows):
        raw, body, end = rows[at], rows[at].strip(), _end_of_ours(rows, at, known)
        at, number = max(end, at + 1), at + 1
        if end:
            comment = False
            whole = rows[number - 1 : end]
            numbered.append((number, "\n".join(whole), _unmarked(" ".join(" ".join(whole).split()))))
            continue
        comment = comment or (body.startswith("<!--") and _closed(rows, number - 1))
        if comment or not body or body.startswith("#"):
            comment = comment and "-->" not in body
        elif raw.startswith("  ") and numbered and not (_ITEM.match(raw) or body.startswith("<!--")):
            first, before, line_text = numbered[-1]
            numbered[-1] = (first, f"{before}\n{raw.rstrip()}", f"{line_text} {body}")
        else:
            numbered.append((number, raw.rstrip(), _unmarked(raw)))
    odd = [
        RejectedLine(number, whole, why)
        for number, whole, line_text in numbered
        if mark_of(f"- {line_text}") not in known and (why := _why_odd(line_text))
    ]
    strange = {each.number for each in odd}
    return [NumberedLine(number, line_text) for number, _, line_text in numbered if number not in strange], odd


def _closed(rows: Sequence[str], at: int) -> bool:
    """Whether the comment that begins with a row has an end. One without hides nothing: a slip of the hand would else
    take every line below it for deleted. Another that begins before the end tells that this one was never closed."""
    for place in range(at, len(rows)):
        row = rows[place] if place > at else rows[at].strip().removeprefix("<!--")
        end, begin = row.find("-->"), row.find("<!--")
        if end >= 0 or begin >= 0:
            return end >= 0 and (begin < 0 or end < begin)
    return False


def _end_of_ours(rows: Sequence[str], at: int, known: frozenset[str]) -> int:
    """Where something of ours that begins with a row and has several of them ends; 0 where nothing does. What is
    indented belongs to it, though it begins like an item, a heading or a comment."""
    end, most = at + 1, min(len(rows), at + ROWS)
    while end < most and (rows[end].startswith("  ") or not rows[end].strip()):
        end += 1
    if end == at + 1 or not _ITEM.match(rows[at]):
        return 0
    ends = [each for each in range(end, at + 1, -1) if rows[each - 1].strip()]
    texts = {each: " ".join([_unmarked(rows[at]), *rows[at + 1 : each]]) for each in ends}
    return next((each for each in ends if mark_of(f"- {texts[each]}") in known), 0)


def _unmarked(row: str) -> str:
    marker = _ITEM.match(row)
    return (row[marker.end() :] if marker else row).strip()


def _why_odd(text: str) -> str:
    if text.startswith("<!--"):
        return "it begins a comment that has no end (`-->`)"
    if _CONTROL.search(text):
        return "it holds characters that are no text"
    if len(text) > MAX_LINE_CHARS:
        return f"it has {len(text)} characters; a line has {MAX_LINE_CHARS} at most"
    if len(_WORD.findall(text)) < 2 and not _UNSPACED.search(text):
        return "it says nothing that could be remembered"
    return ""


def _may_be_changed_from(old: str, new: str) -> bool:
    """Whether a line may be what another one was changed to: they have a third of the shorter one's words in common."""
    one, other = words_of(old), words_of(new)
    return bool(one and other) and 3 * len(one & other) >= min(len(one), len(other))
