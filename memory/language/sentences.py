"""Text into blocks, and blocks into sentences.

A *block* is a stretch of one shape: prose, a list item, a heading, a quote, code, a table. What people type to an
agent is loose Markdown, so a line break ends a sentence unless the line was plainly wrapped. One pass over the
lines, one over the characters; knows nothing of what the sentences mean.

What of a message is its speaker's own prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from memory.language.words import vocabulary


class BlockShape(StrEnum):
    """What a block of text is."""

    PROSE = "prose"
    ITEM = "item"
    HEADING = "heading"
    QUOTE = "quote"
    CODE = "code"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class TextBlock:
    """A stretch of one shape. ``text`` is free of its marker; ``marker`` is ``2`` or ``b`` of a numbered item, ``-``
    of another, the language of a fence, and empty otherwise."""

    shape: BlockShape
    text: str
    marker: str = ""


_FENCE = re.compile(r" {0,12}(`{3,20}|~{3,20})\s{0,8}([\w+#.-]{0,30})")
_ITEM = re.compile(r"\s{0,16}(?:([-*•+–]|\d{1,3}(?=[.):])|[A-Za-z](?=\)))[.):]{0,1}|\((\d{1,2}|[a-z])\))\s{1,8}(?=\S)")
_HEADING = re.compile(r" {0,3}#{1,6}\s{1,4}")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")

# An end: marks of the end, what closes behind them, and then a space or the text's end.
_END = re.compile(r"[.!?…]{1,8}[\"'”’)\]*_`]{0,4}(?=\s)|[。！？]{1,4}[”’）」』]{0,2}|[:;](?=\s{0,2}\n)")
_BEFORE = re.compile(r"([A-Za-z.]{1,12})\.[\"'”’)\]]{0,4}$")
_ORDINAL = re.compile(
    r"(?:\b(?:am|zum|vom|den|der|dem|des|ab|bis|seit|und|oder|im|jede[nmrs]?)\s+|[:,(–-]\s*)\d{1,2}\.\s+"
    r"(?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember|quartal|halbjahr|woche)\b",
    re.IGNORECASE,
)
"""In German a full stop behind a number makes it the third of something."""
_ABBREVIATIONS = vocabulary(
    "e.g i.e etc vs mr mrs ms dr prof sr jr st no nr inc ltd co corp approx dept est fig cf al ca resp incl excl "
    "jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m u.s u.k z.b d.h bzw usw ggf evtl bspw sog"
)
_ASKS = re.compile(r"\?[\"'”’)\]*_`]{0,4}$")
WRAPPED = 60
"""A line at least this long, without an end, before a line in lower case, was wrapped by an editor."""


def blocks(text: str) -> list[TextBlock]:
    """The blocks of a text in order; blank lines and markers are in none of them."""
    found: list[TextBlock] = []
    lines: list[str] = []
    shape, marker = BlockShape.PROSE, ""
    fence = ""
    blank = True

    def close() -> None:
        joined = "\n".join(lines).strip("\n") if shape is BlockShape.CODE else _join_wrapped_lines(lines)
        if joined.strip():
            found.append(TextBlock(shape, joined, marker))
        lines.clear()

    for line in text.splitlines():
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not line[opened.end(1) :].strip():
                close()
                shape, marker, fence, blank = BlockShape.PROSE, "", "", True
            else:
                lines.append(line)
            continue
        # An inline span of three backticks on one line is no fence.
        if opened and "`" not in line[opened.end(1) :]:
            close()
            shape, marker, fence = BlockShape.CODE, opened[2], opened[1]
            continue
        if not line.strip():
            if shape is not BlockShape.CODE:
                close()
                shape, marker = BlockShape.PROSE, ""
            blank = True
            continue
        new_shape, new_marker, body = _line_shape(line, shape, blank)
        if new_shape is not shape or new_marker or new_shape is BlockShape.HEADING:
            close()
            shape, marker = new_shape, new_marker
        lines.append(body)
        blank = False
    close()
    return found


def _line_shape(line: str, shape: BlockShape, blank: bool) -> tuple[BlockShape, str, str]:
    """The shape of one line outside a fence, its marker, and the line without it."""
    stripped = line.lstrip()
    if stripped.startswith(">"):
        return BlockShape.QUOTE, "", stripped.lstrip("> ")
    if _HEADING.match(line):
        return BlockShape.HEADING, "", stripped.lstrip("#").strip()
    if stripped.startswith("|") and stripped.count("|") > 1:
        return BlockShape.TABLE, "", stripped
    if item := _ITEM.match(line):
        return BlockShape.ITEM, item[1] or item[2], line[item.end() :]
    if _INDENTED.match(line) and (shape is BlockShape.CODE or (blank and shape is BlockShape.PROSE)):
        return BlockShape.CODE, "", line
    if shape is BlockShape.ITEM and not blank:
        return BlockShape.ITEM, "", line.strip()
    return BlockShape.PROSE, "", line.strip()


def _join_wrapped_lines(lines: list[str]) -> str:
    """The lines of a block; wrapped ones run on, others stay apart."""
    joined = ""
    for line in lines:
        body = line.strip()
        if not joined:
            joined = body
        elif len(joined) - joined.rfind("\n") > WRAPPED and body[:1].islower() and joined[-1] not in ".!?:;":
            joined += " " + body
        else:
            joined += "\n" + body
    return joined


def sentences(text: str) -> list[str]:
    """The sentences of a piece of prose, trimmed, in order. Line breaks end a sentence.

    A full stop inside a name, a number, an abbreviation or a path is no end. A sentence may begin in lower case,
    as people type it.
    """
    found: list[str] = []
    for line in text.splitlines():
        start = 0
        for end in _END.finditer(line):
            if _is_end(line, start, end):
                _add(found, line[start : end.end()])
                start = end.end()
        _add(found, line[start:])
    return found


def asks(sentence: str) -> bool:
    """Whether a sentence ends with a question mark."""
    return _ASKS.search(sentence) is not None


def _is_end(line: str, start: int, end: re.Match[str]) -> bool:
    mark = end[0]
    if mark[0] != "." or mark.startswith(".."):
        return True
    before = _BEFORE.search(line[max(start, end.start() - 12) : end.end()])
    if before is None and any(each.start() < end.start() < each.end() for each in _ORDINAL.finditer(line)):
        return False
    if before is None:
        # "1. First": a number that only counts.
        return not line[start : end.start()].strip().isdigit()
    word = before[1].lower().strip(".")
    if word in _ABBREVIATIONS:
        # "etc." may end a sentence: then the next one starts with a capital.
        return word in ("etc", "usw") and line[end.end() :].lstrip()[:1].isupper()
    # An initial: "J. Smith".
    return not (len(word) == 1 and word != "i" and before[1].isupper() and line[end.end() :].lstrip()[:1].isupper())


def _add(found: list[str], piece: str) -> None:
    if (piece := piece.strip()) and any(c.isalnum() for c in piece):
        found.append(piece)


LIMIT = 20_000
"""Characters of a message that are read at most: what a person types is shorter, what is longer was pasted."""
_LONG, _HEAD, _TAIL = 4000, 1200, 800

_LEVEL = r"(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)"
_MACHINE = re.compile(
    rf"""\s{{0,40}}(?:
      \d{{4}}-\d\d-\d\d[T\s]\d\d:\d\d                      # a log's time stamp
    | [A-Z][a-z]{{2}}\s{{1,2}}\d{{1,2}}\s\d\d:\d\d:\d\d
    | \[?\d\d:\d\d:\d\d
    | \[?{_LEVEL}\b[\]:|\s]
    | \|{_LEVEL}\|
    | at\s[\w$.<>/]{{1,120}}\s?\(                          # stack traces
    | File\s"[^"]{{1,200}}",\sline\s\d
    | Traceback\s\(
    | (?:---|===)\s?(?:FAIL|PASS|RUN|NAME|SKIP)\b
    | (?:panic|fatal|error|warning|hint|note|npm\sERR!|make):?\s?(?:\[|:|!)
    | (?:Error|[A-Z]\w{{2,40}}(?:Error|Exception)):\s
    | (?:diff\s--git|index\s[0-9a-f]{{7}}|@@\s-|\+\+\+\s|---\s[ab]/)
    | [-+]{{1}}(?:\s{{2,}}|\t|[\w.]{{1,30}}\s?[({{=])       # a diff's lines
    | \d{{1,5}}\s{{1,4}}[-+|]\s?                            # numbered source or diff lines
    | [❯➜$%»⎿⏺✓✔✗✘●│┃└├╭╰─━]                             # prompts and what terminals draw
    | [\w./-]{{1,120}}\.\w{{1,5}}:\d{{1,6}}:                # file:line:
    | [{{}}\[\]]\s{{0,3}}["'{{]?\w{{0,40}}["']?:            # JSON
    | [{{}}\[\]();,]{{1,6}}\s{{0,3}}$
    | <[/!?a-zA-Z][^>]{{0,200}}>                            # markup
    )""",
    re.VERBOSE,
)
_CODE = re.compile(
    r"\s{0,40}(?:(?:def|class|func|fn|impl|struct|interface|enum)\s\w{1,60}\s?[({<:]"
    r"|(?:import|from|package|using|include)\s[\w.\"'<@{/*]{1,80}(?:\s(?:import|from|as)\s.{1,80})?;?\s{0,4}$"
    r"|(?:const|let|var|val|static|public|private|export|return|await|async)\s[^.!?]{1,120}(?:[=({;]|=>)"
    r"|(?:if|for|while|switch|elif|else|try|catch|except)\b[^.!?]{0,120}[{:]\s{0,4}$"
    r"|[\w.\[\]>*&-]{1,80}\s?(?::=|[+*/|-]?=(?!=)|=>)\s?\S"
    r"|[\w.:>-]{1,80}\([^)\n]{0,120}\);?\s{0,4}$"
    r"|//\s|/\*|\*\s@|#!|SELECT\s.{1,80}\sFROM\s)"
)
# What leads a paste in: "I got this feedback:", "the raw log:", "another agent says".
_LEAD = re.compile(
    r"(?:\b(?:feedback|comment|comments|message|review|report|log|logs|output|trace|error|errors|warning|failure|"
    r"failures|following|this|that|says?|said|wrote|shows?|prints?|get|got|getting|saw|seeing|happens?|text|mail|"
    r"email|ticket|issue|description|prompt|quote)\b[^:\n]{0,80})[:>]\s{0,4}$",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:message|feedback|comments?|review|reply|text|output|report|finding|findings)\s(?:is\s)?(?:from|by|of)\s"
    r"(?:another|the|a|an|my|our)\b|\b(?:got|have|received|there'?s)\s(?:this|the|a|another|some|more|following)\s"
    r"(?:\w{1,15}\s){0,2}(?:feedback|comments?|suggestions?|findings?)\b",
    re.IGNORECASE,
)
# What only review tools write.
_TICKET = re.compile(
    r"^\s{0,4}\W{0,4}(?:high|medium|low|critical|minor|major)\s(?:severity|priority)\W{0,4}$", re.I | re.M
)
_PERSONAL = re.compile(
    r"\b(?:i|i'?m|i'?d|i'?ve|i'?ll|me|my|mine|we|we'?re|we'?d|we'?ve|we'?ll|us|our|ours|let'?s|you|your|please|pls|"
    r"ich|wir|mir|mein\w{0,2}|unser\w{0,2}|bitte|lass)\b",
    re.IGNORECASE,
)
_NAME_OF_CODE = re.compile(
    r"\b(?:[a-z][a-z0-9]{1,40}[A-Z]\w{1,40}|[A-Z][a-z0-9]{1,30}[A-Z][a-z]\w{0,40}|\w{1,40}_\w{1,40}|\w{1,40}\(\))"
    r"|[\w-]{1,40}/[\w./-]{2,80}|\b\w{1,40}\.(?:go|py|ts|js|rs|java|rb|c|h|cpp|json|ya?ml|toml|md|sh)\b"
)
_OURS = re.compile(r"<(palimpsest[\w-]{0,40})\b[^>]{0,400}>", re.IGNORECASE)
_TAG = re.compile(r"^\s{0,8}<([a-zA-Z][\w]{0,30}[-_:][\w:-]{0,40})\b[^>\n]{0,400}>", re.MULTILINE)


def own_words(text: str) -> tuple[TextBlock, ...]:
    """The blocks of a message that its speaker wrote: prose, list items and headings, free of what was pasted."""
    return _own_words(text[:LIMIT])


@lru_cache(maxsize=32)  # one message is looked at for several things
def _own_words(text: str) -> tuple[TextBlock, ...]:
    text = without_tags(text)
    if _TICKET.search(text[:2000]):
        return ()
    own_blocks: list[TextBlock] = []
    quoting = False
    for block in blocks(text):
        if block.shape in (BlockShape.CODE, BlockShape.QUOTE, BlockShape.TABLE):
            # A fence or a quote *is* what the lead promised; what comes after it is the speaker again.
            quoting = False
            continue
        if quoting:
            if not (_PERSONAL.search(block.text) and len(block.text) < 240 and not _NAME_OF_CODE.search(block.text)):
                continue
            quoting = False
        body = "\n".join(_prose_lines(block.text))
        if body:
            own_blocks.append(TextBlock(block.shape, body, block.marker))
        quoting = bool(_LEAD.search(block.text)) or (
            bool(_OTHERS.search(block.text)) and not block.text.rstrip().endswith("?")
        )
    return () if _reads_like_ticket(own_blocks) else tuple(_beginning_and_end(own_blocks))


def prose(text: str) -> str:
    """:func:`own_words` as one text, a paragraph for each block."""
    return "\n\n".join(block.text for block in own_words(text))


def without_tags(text: str) -> str:
    """The text without blocks of ours and without those that a runtime puts in tags (``<some-name>…</some-name>``)."""
    if "<" not in text:
        return text
    for pattern in (_OURS, _TAG):
        cut: list[str] = []
        at = 0
        unclosed: set[str] = set()
        while opened := pattern.search(text, at):
            closing = f"</{opened[1]}>"
            end = -1 if closing in unclosed else text.find(closing, opened.end())
            if end < 0:
                unclosed.add(closing)
            cut.append(text[at : opened.start()])
            # Without its end only the tag itself goes: a person may write one without meaning it.
            at = opened.end() if end < 0 else end + len(closing)
        cut.append(text[at:])
        text = "".join(cut)
    return text


def is_machine_output(line: str) -> bool:
    """Whether a line was printed by a program or is source code, by its form alone."""
    if _MACHINE.match(line) or _CODE.match(line):
        return True
    if len(line) < 30:
        return False
    plain = sum(map(str.isalpha, line)) + line.count(" ")
    return plain < 0.7 * len(line) and not _PERSONAL.search(line)


def _prose_lines(body: str) -> Iterator[str]:
    """The lines of a block that are no log and no code."""
    return (line for line in body.splitlines() if not is_machine_output(line))


def _beginning_and_end(blocks: list[TextBlock]) -> list[TextBlock]:
    """Of a message that is long and full of code's names only its beginning and its end: between them is a paste."""
    whole = sum(len(block.text) for block in blocks)
    if whole <= _LONG or len(_NAME_OF_CODE.findall("\n".join(block.text for block in blocks)[:_LONG])) < 5:
        return blocks
    own: list[TextBlock] = []
    at = 0
    for block in blocks:
        if at + len(block.text) <= _HEAD or at >= whole - _TAIL:
            own.append(block)
        at += len(block.text)
    return own


def _reads_like_ticket(blocks: list[TextBlock]) -> bool:
    """Whether all that is left reads like a ticket: long, full of code's names, and nobody speaks in it."""
    words = sum(len(block.text) for block in blocks)
    if words < 200:
        return False
    whole = "\n".join(block.text for block in blocks)
    names = len(_NAME_OF_CODE.findall(whole[:4000]))
    personal = len(_PERSONAL.findall(whole[:4000]))
    return names >= 2 and personal * 400 < min(words, 4000)
