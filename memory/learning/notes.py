"""A person's notes for their agents (CLAUDE.md, AGENTS.md, MEMORY.md) → what stands in them, a line or bullet each.

Code, tables, quotes and headings are no notes; a bullet of a few words takes its heading along, since it says nothing
without. What orders is an instruction, and stays one, in the person's own words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory.language.sentences import BlockShape, blocks

RUNTIME = "notes"
"""The program as which a folder of a person's own Markdown comes: nobody spoke there, and headings have no mood."""

MAX_NOTE_CHARS = 1200
"""Characters of a note; what is longer is cut at the end of a word."""

_SHORT = 3
"""Words up to which a bullet says nothing without its heading."""

_WORD = re.compile(r"\w")
_MARKUP = re.compile(r"\*\*(\S(?:[^*\n]{0,300}\S)?)\*\*|__(\S(?:[^_\n]{0,300}\S)?)__")
_GENERATED_BLOCK = re.compile(r"<!-- palimpsest: what follows.*?(?:<!-- palimpsest: end -->|\Z)", re.DOTALL)
"""What we have put on a page of ours ourselves."""
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_BEGUN = re.compile(r"^[ \t]*<!--[^\n]*", re.MULTILINE)
"""A comment without an end, which hides its own row."""
_IMPORT = re.compile(r"@[\w~./-]{2,300}")
_HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t][^\n]*)?$")
_FENCE = re.compile(r"^ {0,12}(`{3,}+|~{3,}+)[^`]*$")
_FENCED_OR_UNDERLINED = re.compile(
    r"(?P<fenced>^ {0,12}(?P<mark>`{3,}+|~{3,}+)[^`\n]*+(?:\n.*?)?(?:^ {0,12}(?P=mark)[`~]*[ \t]*$|\Z))|"
    r"(?:\A|(?<=\n\n))[ ]{0,3}(?![-*+>|#=\s]|\d{1,3}[.)])(?P<title>[^\n]{1,100}[^\s.!?:;,])[ \t]*"
    r"\n[ ]{0,3}(?:={2,}|-{3,})[ \t]*(?=\n|\Z)",
    re.MULTILINE | re.DOTALL,
)
"""Code between fences, or a heading that a row of signs below it makes one."""
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_ORDERS = re.compile(
    r"^(?:please |always |never |only |just |do not |don't |must |avoid |prefer |ensure |make sure )|"
    r"\b(?:must(?: not)?|should(?: not|n't)?|always|never|do not|don't|shall|required?|forbidden|mandatory)\b|"
    r"^(?:use|run|write|add|keep|put|follow|ask|check|update|include|start|stop|call|tell|create|be|commit|format|"
    r"test|explain|show|name|document|read|treat|place|store|set|pin|install|build|deploy|import|export|return|"
    r"throw|handle|log|validate|verify|review|push|merge|rebase|branch|sign|squash|leave|answer|reply|respond|"
    r"refer|look|consult|remember|respect|stick|limit|mock|wrap|extend|define|declare|group|split|work|speak) ",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Note:
    """One line or bullet; ``orders`` says that it tells the agent what to do."""

    text: str
    orders: bool


def notes(text: str) -> list[Note]:
    """What stands in a file of notes, in order, each once."""
    found: dict[str, Note] = {}
    heading = lead = ""
    own = _with_atx_headings(_GENERATED_BLOCK.sub(" ", _FRONT.sub("", text.replace("\r\n", "\n"))))
    for block in blocks(_BEGUN.sub(" ", _COMMENT.sub(" ", own))):
        plain = _plain(block.text)
        if block.shape is BlockShape.HEADING:
            heading, lead = plain.rstrip(":"), ""
            continue
        if (
            block.shape not in (BlockShape.PROSE, BlockShape.ITEM)
            or not _WORD.search(plain)
            or _IMPORT.fullmatch(plain)
        ):
            continue
        if plain.endswith(":"):
            # What it leads up to stands in the bullets that follow.
            lead = plain.rstrip(":")
            continue
        if block.shape is BlockShape.PROSE:
            lead = ""
        around = lead or heading
        if around and len(plain.split()) <= _SHORT:
            plain = f"{around}: {plain}"
        plain = _cut(plain)
        found.setdefault(plain.casefold(), Note(plain, bool(_ORDERS.search(_without_label(plain)))))
    return list(found.values())


def without_headings(text: str) -> str:
    """Markdown without its headings: they say what something is about, and nothing of it. Code stays as it is."""
    kept: list[str] = []
    fence = ""
    for line in _with_atx_headings(text).split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif _HEADING.match(line):
            line = ""
        kept.append(line)
    return "\n".join(kept)


def _with_atx_headings(text: str) -> str:
    """Markdown whose headings all begin with their signs. Code stays as it is."""
    return _FENCED_OR_UNDERLINED.sub(lambda found: found["fenced"] or f"# {found['title']}", text)


def _plain(text: str) -> str:
    """On one line, without marks of emphasis."""
    return " ".join(_MARKUP.sub(lambda found: found[1] or found[2], text).split())


def _without_label(text: str) -> str:
    """The words behind a label: "Tests: run them all" orders."""
    label, colon, rest = text.partition(": ")
    return rest if colon and len(label.split()) <= _SHORT else text


def _cut(text: str) -> str:
    return text if len(text) <= MAX_NOTE_CHARS else text[:MAX_NOTE_CHARS].rsplit(" ", 1)[0] + " …"
