"""A request that asks for something *about* a conversation: its title, its summary.

Every client words it in its own way, so it is not known by a phrase but by what it says: no tools are offered, and
the system prompt (or the one message there is) tells the model that it makes titles, or that it summarizes a
conversation. A person who asks for that in the middle of a talk is somebody else: there a summary has to be asked for
at length, as only programs do. The words are rows of ``side_requests.toml``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from memory.conversation import Conversation, Message, Role
from memory.language.rule_table import any_of, table
from memory.session import RequestKind

OPENING = 600
"""Characters of a system prompt, or of a message, in which it says what it is for."""

MAX_ROLE_CHARS = 20_000
"""Characters of a system prompt that are looked through for a role: some clients put their own before it."""

AT_LENGTH = 300
"""Characters that a message asking for a summary has to have: what a program says in full, or a transcript with it."""


def side_request_kind(conversation: Conversation) -> RequestKind | None:
    """What is asked for about a conversation; None where it is an ordinary request."""
    instructed = list(_system_prompt(conversation))
    last = conversation.last
    message = last if last is not None and last.role is Role.USER else None
    if not conversation.tools:
        roles = {_role_of_model(text[:MAX_ROLE_CHARS]) for text in instructed}
        for role in (RequestKind.SIDE, RequestKind.COMPACTION):
            if role in roles:
                return role
        if message is not None and any(map(_title, _request_sentences(message))):
            return RequestKind.SIDE
    if message is None or len(message.text) < AT_LENGTH or not any(map(_summary, _request_sentences(message))):
        return None
    # With tools, or in a talk, it is the client's own only where there is something to summarize.
    return RequestKind.COMPACTION if not conversation.tools or talked(conversation) else None


def talked(conversation: Conversation) -> bool:
    """Whether a request carries a history: an assistant has spoken in it."""
    return any(message.role is Role.ASSISTANT for message in conversation.messages)


def _system_prompt(conversation: Conversation) -> Iterator[str]:
    """The system prompt, wherever it stands."""
    yield conversation.instructions
    for message in conversation.messages[:3]:
        if message.role in (Role.SYSTEM, Role.DEVELOPER):
            yield message.text


@lru_cache(maxsize=64)  # a session sends the same with every request
def _role_of_model(instructions: str) -> RequestKind | None:
    """What a system prompt makes of the model: a writer of titles, or of summaries."""
    sentences = _sentences(instructions[:OPENING])
    if _MAKES_TITLES.search(instructions) or any(map(_title, sentences)):
        return RequestKind.SIDE
    summarizes = _SUMMARIZER.search(instructions) or any(map(_summary, sentences))
    return RequestKind.COMPACTION if summarizes else None


def _request_sentences(message: Message) -> list[str]:
    """The sentences in which a message says what it wants: its first ones, and its last, behind a transcript."""
    text = message.text
    return [*_sentences(text[:OPENING])[:3], *_sentences(text[-OPENING:])[-4:]]


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _END.split(text) if sentence.strip()]


def _title(sentence: str) -> bool:
    return _asks(sentence) and bool(_TITLE.search(sentence) and _TALK.search(sentence))


def _summary(sentence: str) -> bool:
    begun = _IMPERATIVE.match(sentence)
    if begun is None or not _TALK.search(sentence):
        return False
    verb = begun.end()
    return bool(_SUMMARIZE.match(sentence, verb) or (_MAKE.match(sentence, verb) and _SUMMARY.search(sentence)))


def _asks(sentence: str) -> bool:
    begun = _IMPERATIVE.match(sentence)
    return begun is not None and bool(_MAKE.match(sentence, begun.end()))


_END = re.compile(r"(?<=[.!?:])\s+|\n+")
_IMPERATIVE = re.compile(
    r"(?i)(?:[#*>\-\s]{0,6})"
    r"(?:(?:based on|given|for|from|using|after reading)\b[^,.\n]{0,100},\s*)?"
    r"(?:please\s+|now\s+|carefully\s+|briefly\s+)*"
    r"(?:(?:your|the)\s+(?:only\s+|main\s+|current\s+)?(?:task|job|goal|role|objective)(?:\s+is)?(?:\s+to|:)?\s*)?"
    r"(?:you\s+(?:are|will|must|should|need|have)(?:\s+be)?(?:\s+(?:asked|tasked|instructed|responsible|required))?"
    r"(?:\s+(?:to|with|for))?\s+)?"
    r"(?:an?\s+[^,.\n]{0,60}?\b(?:assistant|agent|expert|model|system|ai)\s+"
    r"(?:that|who|tasked with|specialized in)\s+)?"
)
"""What may stand before the verb of an order: "Please", "Your task is to", "Based on the messages above,"."""

_ROWS = table(__file__)


def _any(group: str) -> re.Pattern[str]:
    return any_of(_ROWS[group], re.IGNORECASE)


_MAKE = _any("make")
_SUMMARIZE = _any("summarize")
_TITLE = _any("title")
_SUMMARY = _any("summary")
_TALK = _any("talk")
_MAKES_TITLES = _any("makes_titles")
_SUMMARIZER = _any("summarizer")
