"""A text in the user's role → what a person said in it.

Runtimes speak in the user's role, too: reminders, environment blocks, boot files, notices of background tasks,
summaries of compacted histories, canned examples, instructions behind the person's words. None of it was said by
a person, and memory must not learn it as if it were. One function serves every runtime, because a body is read
before its sender is known.

Every rule needs words or tags that a client writes and a person hardly would; what no rule knows is kept. They
lie in ``user_text.toml``. The work is linear in the text.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from proxy.runtimes.prompt_frames import without_frame

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
