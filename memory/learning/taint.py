"""Whose text an assistant's words may be: what it has read since a person last spoke, the least trusted of it.

What it says then carries that origin for ever, and no order, decision or preference is taken from it.

What a person has pasted begins behind a line that announces it ("Here is a page I found:") and goes on to the end of
the message. It is kept like what the web says, and what reads like an order in it is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memory.conversation import Message, Role
from memory.fact import Origin
from memory.learning.spawning import is_spawner

_LEAD = re.compile(
    r"^(?=[^\n]{0,160}:[ \t]{0,4}$)"
    r"(?=[^\n]{0,160}\b(?:here(?:'s|’s| is| are)|found|pasted?|copied|read|saw|from|keep|save)\b)"
    r"[^\n]{0,160}\b(?:(?:web ?)?(?:page|site)s?|website|article|blog|(?:blog |forum )?posts?|documents?|newsletter|"
    r"press release|paper|chapter|wiki|handbook|guide|tutorial|leaflet|flyer|advert|spam)\b[^\n]{0,160}:[ \t]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST_QUESTION = 240
"""Characters of a last paragraph in which the person may ask something about it."""


def split_pasted(text: str) -> tuple[str, str]:
    """A message as its person's own words and what they found elsewhere, which is empty in nearly every message."""
    lead = _LEAD.search(text)
    if lead is None:
        return text, ""
    own, found = text[: lead.end()], text[lead.end() :]
    paragraph, _, asks = found.rstrip().rpartition("\n")
    body = paragraph.rstrip()
    between = paragraph[len(body) :]
    if "\n" in between and 1 < len(asks) <= _LONGEST_QUESTION + 1 and asks.endswith("?"):
        return f"{own}\n\n{asks}", body + between[: between.index("\n")]
    return own, found


_WEB = ("web", "fetch", "search_the", "browser", "browse", "navigate", "http", "url", "google", "crawl", "scrape")


def taint_of(messages: Iterable[Message], taint: Origin | None = None) -> Origin | None:
    """The lowest trust of what has been read since a person last spoke, behind messages that had this ``taint``; None
    where nothing was."""
    before: Message | None = None
    for message in messages:
        if message.role is Role.USER and message.spoken:
            taint = Origin.WEB if split_pasted(message.spoken)[1] else None
        else:
            taint = lowered(taint, message, before)
        before = message
    return taint


def lowered(taint: Origin | None, message: Message, before: Message | None) -> Origin | None:
    """The trust of what has been read up to a message in which no person spoke, by that of what was read ``before``."""
    read = _read(message, before)
    if taint is None or read is None:
        return taint or read
    return taint if read.counts_as(taint) else read


def reads_web(tool: str) -> bool:
    """Whether a tool of this name reads the web."""
    name = tool.lower()
    return any(mark in name for mark in _WEB)


def _read(message: Message, before: Message | None) -> Origin | None:
    names = [call.name for call in message.calls]
    if any(map(is_spawner, names)):
        return Origin.SUBAGENT
    if any(map(reads_web, names)):
        return Origin.WEB
    if message.role is Role.TOOL or message.results or names:
        return Origin.TOOL
    # What a runtime says behind an assistant's words is often what a sub-agent reports at last.
    unasked = message.role is Role.USER and before is not None and before.role is Role.ASSISTANT
    return Origin.TOOL if unasked and message.text.strip() else None
