"""The overview of pages: Markdown and web pages by their headings and first sentences, tables by header and first rows.

A web page becomes Markdown first: headings, items, links with where they lead, and nothing of its markup.

The overview of prose: the lines of its most central sentences, in their own order.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain
from math import sqrt
from typing import Final

from memory.language.sentences import sentences
from memory.language.words import stems, vocabulary
from memory.tiers.lines import LEAST, clean, ends, led_by, pieces
from memory.tiers.shape import Hint

_HEADING = re.compile(r"\s{0,3}(#{1,6}) +\S|\s{0,3}\*\*[^*]{2,80}\*\*:?\s*$")
_TITLED = re.compile(r"#{1,6} +[A-Z]")
_MARK = re.compile(r"\s{0,3}(?:#{1,6} +\S|```|~~~|\|.*\|\s*$|(?:[-*+•]|\d{1,3}[.)]) +\S|>|-{3,}\s*$|\*\*\S)")
_FENCE = re.compile(r"\s{0,6}(?:```|~~~)")
_MARKDOWN_FILE = re.compile(r"\.(?:md|mdx|markdown|rst|adoc)$", re.IGNORECASE)
_PAGE = re.compile(
    r"\s{0,200}(?:<!doctype html|<html\b|<\?xml[^>]{0,200}>\s{0,20}<(?:html|!doctype html)\b)", re.IGNORECASE
)
# A tag ends at the next angle bracket whatever stands between, so that no broken page costs more than one pass.
_TAG = re.compile(
    r"<(?:(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9-]{0,30})(?P<rest>[^<>]{0,4000})>|!--[^<>]{0,4000}-->|![^<>]{0,400}>)"
)
_HREF = re.compile(r"""\bhref\s{0,4}=\s{0,4}["']?([^"'\s>]{1,300})""", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\xa0]{2,}")
_SILENT: Final = frozenset(("script", "style", "svg", "noscript", "template", "iframe", "head"))
_BLOCKS: Final = vocabulary(
    "p div br tr table ul ol section article header footer main nav pre blockquote form dl dt dd figure hr"
)

_SHARE: Final = 0.1
"""Of the room for headings, first sentences and headers: a page with hundreds of headings is more than those."""
_FIRST_ROWS: Final = 3
_MOST_COLUMN_ROWS: Final = 12


def markdown(text: str, hint: Hint, limit: int) -> str | None:
    """Headings, what follows each, the first rows of tables and what tells most; None where the text is no Markdown."""
    if limit < LEAST:
        return None
    rows = pieces(ends(clean(text)))
    if not (_MARKDOWN_FILE.search(hint.path) or is_markdown(rows)):
        return None
    return _outlined(rows, hint, limit)


def web_page(text: str, hint: Hint, limit: int) -> str | None:
    """What a page says without its markup; None where the text is no HTML page."""
    if limit < LEAST or not _PAGE.match(text[:1000]):
        return None
    rows = pieces(ends(read(text)))
    return _outlined(rows, hint, limit)


def table(text: str, hint: Hint, limit: int) -> str | None:
    """The header, the first rows, the count and the rows that tell most; None where the text is no table."""
    if limit < LEAST:
        return None
    rows = pieces(ends(clean(text)))
    if not is_table(rows):
        return None
    parts = f"[table of {sum(1 for row in rows if row.strip())} rows]"
    body = led_by(range(min(_FIRST_ROWS + 1, len(rows))), rows, hint, limit - len(parts) - 1, _SHARE)
    return f"{parts}\n{body}"


def title(text: str) -> str:
    """The first heading of a page, else its first line that says anything."""
    for row in text[:20_000].split("\n"):
        if _HEADING.match(row):
            return row.strip().strip("#* ")
    return next((row.strip() for row in text[:4000].split("\n") if any(c.isalnum() for c in row)), "")


def is_markdown(rows: Sequence[str]) -> bool:
    """Whether enough of these lines begin as Markdown does."""
    filled_rows = [row for row in rows[:400] if row.strip()]
    marked = sum(1 for row in filled_rows if _MARK.match(row))
    headings = sum(1 for row in filled_rows if _TITLED.match(row))
    return marked >= 3 and (marked >= 0.15 * len(filled_rows) or headings >= max(3, 0.03 * len(filled_rows)))


def is_table(rows: Sequence[str]) -> bool:
    """Whether the first lines have the same columns."""
    filled_rows = [row for row in rows[:40] if row.strip()][:_MOST_COLUMN_ROWS]
    if len(filled_rows) < 4:
        return False
    for mark in "\t|,;":
        counts = [row.count(mark) for row in filled_rows if set(row) - set("-+|= ")]
        if counts and min(counts) >= 2 and max(counts) == min(counts):
            return True
    return False


def _outlined(rows: Sequence[str], hint: Hint, limit: int) -> str:
    return led_by(chain(*_structural_rows(rows)), rows, hint, limit, _SHARE)


def _structural_rows(rows: Sequence[str]) -> tuple[list[int], list[int], list[int]]:
    """The numbers of the headings, of the first line behind each, and of the first rows of tables."""
    headings: list[int] = []
    openings: list[int] = []
    tables: list[int] = []
    fenced = waiting = False
    run = 0
    for number, row in enumerate(rows):
        if _FENCE.match(row):
            fenced = not fenced
            continue
        if fenced or not row.strip():
            continue
        run = run + 1 if row.lstrip().startswith("|") else 0
        if _HEADING.match(row):
            headings.append(number)
            waiting = True
        elif 0 < run <= _FIRST_ROWS:
            tables.append(number)
        elif waiting:
            openings.append(number)
            waiting = False
    return headings, openings, tables


def read(page: str) -> str:
    """A web page as plain Markdown."""
    out: list[str] = []
    silent = href = ""
    place = 0
    for tag in _TAG.finditer(page):
        if not silent:
            out.append(_text(page[place : tag.start()]))
        place = tag.end()
        name = (tag["name"] or "").lower()
        if silent:
            if (tag["close"] and name == silent) or (silent == "head" and name in ("title", "body")):
                silent = ""
            else:
                continue
        if name in _SILENT and not tag["close"]:
            silent = "" if (tag["rest"] or "").endswith("/") else name
        elif name == "a":
            out.append(f" ({href})" if tag["close"] and href else "")
            found = None if tag["close"] else _HREF.search(tag["rest"])
            href = found[1] if found and not found[1].startswith(("#", "javascript:")) else ""
        elif name[:1] == "h" and name[1:] in "123456" and len(name) == 2:
            out.append("\n" if tag["close"] else "\n" + "#" * int(name[1]) + " ")
        elif name == "li":
            out.append("" if tag["close"] else "\n- ")
        elif name in ("td", "th"):
            out.append("" if tag["close"] else " | ")
        elif name == "title":
            out.append("\n" if tag["close"] else "\n# ")
        elif name in _BLOCKS:
            out.append("\n")
    if not silent:
        out.append(_text(page[place:]))
    rows = (_BLANKS.sub(" ", row).strip() for row in clean(html.unescape("".join(out))).split("\n"))
    return "\n".join(row for row in rows if row)


def _text(text: str) -> str:
    return text.replace("\n", " ") if text else ""


_NAME = re.compile(r"[A-Za-z_][\w./:-]{0,80}[_./:0-9A-Z][\w./:-]{1,80}|\d[\d.,:/-]{0,40}|`[^`\n]{2,80}`")
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_PROSE_SHARE: Final = 0.2
"""Of the room for the most central sentences before what tells most gets its own."""
_END = re.compile(r"[.!?:…。！？][\"'”’)*_`]{0,6}\Z")
_ROUNDS: Final = 4
_MOST_READ: Final = 12_000
"""Characters of the head, and of the tail, whose sentences are weighed: that is what the work grows with."""
_SAMPLE: Final = 40
_LONG_SENTENCE: Final = 600


def prose(text: str, hint: Hint, limit: int) -> str | None:
    """The lines of the most central sentences, then what tells most; None where the text is no prose."""
    if limit < LEAST:
        return None
    rows = pieces(ends(clean(text)))
    if not is_prose(rows):
        return None
    numbered = [(number, each[:_LONG_SENTENCE]) for number in _weighed_rows(rows) for each in sentences(rows[number])]
    scores = _centrality([each for _, each in numbered])
    central = sorted(range(len(numbered)), key=lambda place: (-scores[place], place))
    return led_by((numbered[place][0] for place in central), rows, hint, limit, _PROSE_SHARE)


def is_prose(rows: Sequence[str]) -> bool:
    """Whether most of what these lines say is sentences: words, and an end."""
    filled_rows = [row for row in rows if row.strip()]
    sampled = [each for row in filled_rows[:: max(1, len(filled_rows) // _SAMPLE)] for each in sentences(row)]
    return len(sampled) >= 3 and sum(map(_is_whole, sampled)) >= 0.5 * len(sampled)


def _is_whole(sentence: str) -> bool:
    return len(_LETTERS.findall(sentence)) >= 5 and bool(_END.search(sentence))


def _weighed_rows(rows: Sequence[str]) -> list[int]:
    """The numbers of the rows whose sentences are weighed: of a long text the head and the tail."""
    total = sum(map(len, rows))
    numbers: list[int] = []
    before = 0
    for number, row in enumerate(rows):
        if before <= _MOST_READ or total - before <= _MOST_READ:
            numbers.append(number)
        before += len(row)
    return numbers


def _centrality(texts: Sequence[str]) -> list[float]:
    """How central each sentence is, for its length."""
    words = [frozenset(stems(each)) for each in texts]
    sentence = [1.0] * len(texts)
    for _ in range(_ROUNDS):
        stem: dict[str, float] = defaultdict(float)
        for score, held in zip(sentence, words, strict=True):
            for each in held:
                stem[each] += score / sqrt(len(held))
        # A stem of one sentence only joins it to nothing.
        sentence = [sum(stem[each] for each in held) / sqrt(len(held)) if held else 0.0 for held in words]
        top = max(sentence, default=0.0) or 1.0
        sentence = [score / top for score in sentence]
    return [
        (score * (1.15 if number < 3 else 1.0) + 0.12 * min(len(_NAME.findall(each)), 6)) / sqrt(len(each) + 40)
        for number, (score, each) in enumerate(zip(sentence, texts, strict=True))
    ]
