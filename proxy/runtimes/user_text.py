"""A text in the user's role → what a person said in it.

Runtimes speak in the user's role, too: reminders, environment blocks, boot files, notices of background tasks,
summaries of compacted histories, canned examples, instructions behind the person's words. None of it was said by
a person, and memory must not learn it as if it were. One function serves every runtime, because a body is read
before its sender is known.

Every rule needs words or tags that a client writes and a person hardly would; what no rule knows is kept. They
lie in ``user_text.toml``. The work is linear in the text.

Agents that are scripts send no system prompt worth the name: what their program tells the model stands in the user's
role, and a person's words in the midst of it. No phrase of theirs can be known beforehand. But they all speak to a
model about its replies, in several ways at once, as a person who asks for something hardly does; and what a person said
stands before the first of it, or behind a label of its own ("Task:").
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

LEAST = 150
"""Characters of a text that may have a frame."""

MAX_FRAMED_CHARS = 100_000
"""Characters of a text that may have one."""

ENDS = 6000
"""Characters of its beginning, and of its end, in which a frame shows itself: what stands within may be long, and every
stream waits while it is looked through."""

_CUES = ("answer", "respon", "reply", "output", "nothing else", "tool", "command")
"""Whoever speaks to a model about its replies or its means uses one of these: most texts are done with here."""

MARKS = 3
"""Ways of speaking to a model about its replies that make a text a program's."""


def without_frame(words: str) -> str:
    """What a person said in a text; the text itself where no program speaks in it, empty where nobody else does."""
    if not LEAST <= len(words) <= MAX_FRAMED_CHARS or not _is_framed(words):
        return words
    paragraphs = [paragraph.strip() for paragraph in _PARAGRAPH.split(words)]
    text = _before_marks(paragraphs)
    if text:
        return text
    for index, paragraph in enumerate(paragraphs):
        if labelled := _LABEL.search(paragraph):
            text = _before_marks([paragraph[labelled.end() :].strip(), *paragraphs[index + 1 :]])
            return text.removeprefix("```").removesuffix("```").strip()
    return ""


def _is_framed(words: str) -> bool:
    """Whether a program speaks in a text, by its ends."""
    ends = words if len(words) <= 2 * ENDS else f"{words[:ENDS]}\n{words[-ENDS:]}"
    lower = ends.lower()
    if not any(cue in lower for cue in _CUES):
        return False
    return sum(mark.search(ends) is not None for mark in _MARKS) >= MARKS


def _before_marks(paragraphs: list[str]) -> str:
    """The paragraphs before the first in which a program speaks, without a heading or a line that leads to it."""
    lines: list[str] = []
    for paragraph in paragraphs:
        if any(mark.search(paragraph) for mark in _MARKS):
            break
        lines.append(paragraph)
    while lines and (not lines[-1] or _HEADING.fullmatch(lines[-1])):
        lines.pop()
    return "\n\n".join(lines)


_PARAGRAPH = re.compile(r"\n[ \t]*\n|\n(?:---+|===+)[ \t]*(?:\n|$)")
_HEADING = re.compile(r"#{1,6} [^\n]*|\*\*[^\n]*\*\*:?|<[\w-]+>")
_LABEL = re.compile(
    r"(?im)^[ \t#*]{0,6}(?:(?:new|current|your|the|user'?s?|original|initial) )?"
    r"(?:task|question|issue|problem|request|query|input|message|goal|objective)(?: (?:is|description))?"
    r"[*\s]{0,3}:[*]{0,2}"
)
_MARKS = tuple(
    re.compile(pattern)
    for pattern in (
        # what the reply has to be
        r"(?i)\b(?:your|each|every) (?:final |next )?(?:answer|response|reply|output|message)s?"
        r" (?:should|must|shall|has to|have to|needs? to|will)\b"
        r"|\b(?:criteria|format|structure) (?:for|of) (?:your|the) (?:final )?(?:answer|response|reply|output)\b",
        r"(?i)\bfinal[_ ]answer\b",
        r"(?i)\b(?:respond|reply|answer|output|return) (?:with )?(?:only|just|exactly|nothing but)\b|\bnothing else\b",
        r"(?i)\b(?:the|this) (?:following|below|exact) (?:format|structure|headings?|template|json)\b"
        r"|\b(?:format|headings?|template|structure) (?:below|above|shown)\b",
        r"(?i)['\"`]<?/?[a-z_]{2,40}>['\"`]? tags?\b|<[a-z_]{2,40}>['\"`]? (?:tags?|blocks?)\b"
        r"|\btags? <[a-z_]{2,40}>",
        # how it has to be come by
        r"(?i)\byou (?:can|may|must|should|will) (?:only )?(?:now )?(?:execute|call|issue|invoke|use)\b[^.\n]{0,40}"
        r"\b(?:commands?|tools?|functions?|actions?)\b|\b(?:tool|function) calls?\b",
        r"(?i)\byou (?:have been|are|were|will be) (?:given|submitted|tasked|provided)\b|\byou have access to\b"
        r"|\bnow begin!|\bhere is (?:your|the) task\b",
        r"(?im)^you(?:'re| are) (?:an? |the )?[^.\n]{0,60}\b(?:agent|assistant|expert|model|ai|engineer|manager)\b",
        r"(?im)^[#*\s]{0,6}(?:[a-z]+ ){0,2}(?:rules|guidelines|requirements|instructions|workflow)\b[*:\s]{0,4}$",
        r"\b(?:MUST|NEVER|ALWAYS|ONLY|SHOULD|NOT|ALL|WILL|CRITICAL|IMPORTANT)\b",
        r"(?i)\bexamples? of (?:an? )?(?:correct|good|bad|valid|invalid)\b"
        r"|<(?:example|important|rules|instructions)\w*>",
    )
)
"""Ways of speaking to a model about its replies and its means."""


MAX_SPOKEN_CHARS = 2**20
"""Characters beyond which a text is a file, whoever put it there: nobody says so much."""


def user_text(text: str) -> str:
    """What a person said in a text of the user's role; empty where no person spoke. Never raises."""
    if len(text) > MAX_SPOKEN_CHARS:
        return ""
    words = (_without_blocks(text) if "<" in text or "--- C" in text else text).strip()
    words = _without_leads(words)
    if (
        words.startswith(_MACHINE_TEXTS)
        or words in _CANNED
        or _ENDS_A_SUMMARY in words[-400:]
        or _BOOT_FILE.match(words)
    ):
        return ""
    if _SEEN.match(words):
        task = _NEW_TASK.search(words)
        words = words[task.end() :].strip() if task else ""
    if words.startswith(_EDITOR_CONTEXT):
        words = words.partition(_EDITOR_REQUEST)[2]
    if cut := _SUFFIX.search(words):
        words = words[: cut.start()]
    words = without_frame(_NOTE.sub("", words).strip())
    if "\n\n\n" in words:
        words = _GAP.sub("\n\n", words)
    return _unquoted(words)


_WORDS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _any_of(group: str) -> str:
    return "|".join(_WORDS[group])


_BLOCK = re.compile(
    rf"<(?P<tag>{_any_of('blocks')}|(?:file|skill|image|attached_files?)(?=\s{{1,9}}(?:name|path|location)=))(?=[\s>])"
    r"|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>|--- Content from referenced files ---"
)
_CLOSING = {
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>": "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>",
    "--- Content from referenced files ---": "--- End of content ---",
}
_WRAPPER = re.compile(rf"</?(?:{_any_of('wrappers')})(?:\s[^<>\n]{{0,200}})?>")
_MACHINE_TEXTS = tuple(_WORDS["machine_texts"])
_CANNED = frozenset(_WORDS["canned"])
_ENDS_A_SUMMARY = "Resume the prior task using the summary above."
_BOOT_FILE = re.compile(_any_of("boot_files"))
_SEEN = re.compile(
    r"(?i)(?:\[?observations?\]?:|\[?(?:tool|function|command|execution|code)[ _-](?:call[ _-])?"
    r"(?:results?|outputs?|response|logs)\b[^\n:]{0,80}(?::|\]|\n)|<(?:observation|tool_response|tool_results?"
    r"|function_results?|function_response|execution_result|command_output|returncode)\b)"
)
"""How a text begins in which an agent whose tools are words is shown what one of them printed."""
_NEW_TASK = re.compile(r"(?m)^(?:New|Next|Current) (?:task|request|instruction|message):\s")
_EDITOR_CONTEXT, _EDITOR_REQUEST = "# Context from my IDE setup:", "## My request for Codex:"

_LEADS = re.compile(_any_of("leads"))
_MOST_LEADS = 8
_SUFFIX = re.compile(rf"(?m)^(?:{_any_of('suffixes')})")
_NOTE = re.compile(_any_of("notes"))
_GAP = re.compile(r"\n{3,}")


def _without_blocks(text: str) -> str:
    """The text without the blocks that a client wrote, and without the tags around a person's words."""
    return _WRAPPER.sub("", "".join(_between_blocks(text)))


def _between_blocks(text: str) -> Iterator[str]:
    """What stands between the blocks. A block that is never closed is one only at the text's beginning."""
    at = 0
    unclosed: set[str] = set()
    for opened in _BLOCK.finditer(text):
        closing = f"</{opened['tag']}>" if opened["tag"] else _CLOSING[opened[0]]
        if opened.start() < at or closing in unclosed:
            continue
        end = text.find(closing, opened.end())
        if end < 0:
            unclosed.add(closing)
            if not text[at : opened.start()].strip():
                return
            continue
        yield text[at : opened.start()]
        at = end + len(closing)
    yield text[at:]


def _without_leads(words: str) -> str:
    """The text without what a client put before a person's words."""
    for _ in range(_MOST_LEADS):
        lead = _LEADS.match(words)
        if lead is None:
            break
        words = words[lead.end() :].lstrip()
    return words


def _unquoted(words: str) -> str:
    """The text without the quotation marks that a shell's arguments were joined in."""
    if len(words) >= 2 and words[0] == words[-1] == '"' and '"' not in words[1:-1].replace('\\"', ""):
        return words[1:-1].replace('\\"', '"').strip()
    return words
