"""Was a memory that stood in a request used in the answer to it?

Used is what comes back in the reply, or in the calls of tools that it makes: the names and values of a memory, its
wording, or a good part of its content words. What the person had said already, or what stood earlier in the
conversation, is no sign of it: a model that repeats what it was just told has not needed memory for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from memory.conversation import Message, Reasoning, Text, ToolCall
from memory.language.entities import entities
from memory.language.terms import term, words_of
from memory.language.words import STOP, stem, stems, vocabulary, words

ENOUGH: Final = 5
"""Content words that are enough, however long a memory is."""

SHARE: Final = 0.5
"""The share of a memory's new words that must come back where it has fewer of them."""

READ: Final = 400_000
"""Characters of the conversation, the newest first, that are looked through for an echo."""

_FRAMING = vocabulary(
    "prefer preference like love hate enjoy want need use using used always never avoid instead rather decide decided "
    "agree agreed going make sure keep should must project user think believe feel thing things way work working time "
    "good great new please also said note day today year week"
)
_FRAME = frozenset(stem(word) for word in _FRAMING)
_VALUE = re.compile(r"\d.*\d|\d[^\W\d]|[^\W\d]\d|[._/:@]")
"""What only a value, a version, a path or an identifier has."""


def answered(message: Message | None) -> str:
    """What a reply says and what it calls tools with; its reasoning is not looked at."""
    if message is None:
        return ""
    texts = [part.text for part in message.parts if isinstance(part, Text)]
    return "\n".join([*texts, *(part.arguments for part in message.parts if isinstance(part, ToolCall))])


def used(memories: Mapping[str, str], reply: str, before: Sequence[Message], *, known: str = "") -> frozenset[str]:
    """Which of some memories (text by id) a reply has used.

    ``before`` are the messages that the reply answers, as the client sent them, so without the memories; ``known`` is
    what stood outside of them (instructions).
    """
    forms = _stems_with_beginnings(reply)
    if not forms:
        return frozenset()
    question = next((message.spoken for message in reversed(before) if message.spoken), "")
    theirs = frozenset(_stems_with_beginnings(question))
    echo = _EarlierTalk(before, known)
    # Most share no word with a reply, which their terms tell: those are at hand since recall compared them.
    reply_terms = frozenset(map(term, forms))
    likely = [(id, text) for id, text in memories.items() if words_of(text) & reply_terms]
    return frozenset([id for id, text in likely if _used(text, forms, theirs, echo)])


def _used(text: str, forms: Mapping[str, str], theirs: frozenset[str], echo: _EarlierTalk) -> bool:
    terms = _identifying_stems(text)
    if terms.isdisjoint(forms):
        return False
    new = terms - theirs
    # What is in the reply is little, so only that is looked for in the conversation, which may be very long.
    hits = [each for each in new if each in forms and not echo.has(forms[each])]
    if not hits:
        return False
    values = _names_and_values(text)
    if any(each in values for each in hits) and (
        len(hits) > 1 or len(new) <= 2 or _shares_another_word(terms, forms, theirs)
    ):
        return True
    if any(_is_value(each) for each in new & values):
        return False  # it is told apart by what is not in the reply: "8443" where the reply says "9000"
    return len(hits) >= max(1 if len(new) < 3 else 2, min(ENOUGH, SHARE * len(new)))


def _shares_another_word(terms: frozenset[str], forms: Mapping[str, str], theirs: frozenset[str]) -> bool:
    """Whether reply or question share another word with the memory, so that a value is not there by chance."""
    return any(each in forms or each in theirs for each in terms if len(each) > 2)


class _EarlierTalk:
    """What was said before a reply, by whomever."""

    def __init__(self, before: Sequence[Message], known: str) -> None:
        self._before = before
        self._known = known
        self._texts: list[str] | None = None
        self._found: dict[str, bool] = {}

    def has(self, word: str) -> bool:
        """Whether a word, or one that begins like it, stood there."""
        if self._texts is None:
            self._texts = list(self._newest())
        if word not in self._found:
            self._found[word] = any(_any_word_begins(word, text) for text in self._texts if word in text)
        return self._found[word]

    def _newest(self) -> Iterable[str]:
        left = READ
        for text in chain(map(_text_read_by_model, reversed(self._before)), (self._known,)):
            yield text[-left:].lower()
            left -= len(text)
            if left <= 0:
                return


def _any_word_begins(word: str, text: str) -> bool:
    """Whether a word of a text begins so. A pattern for each word would take longer to make than the look."""
    at = text.find(word)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at = text.find(word, at + 1)
    return at >= 0


def _text_read_by_model(message: Message) -> str:
    if len(message.parts) == 1 and isinstance(only := message.parts[0], Text):
        return only.text
    texts = [part.text for part in message.parts if isinstance(part, Text | Reasoning)]
    texts += [part.arguments for part in message.parts if isinstance(part, ToolCall)]
    return "\n".join([*texts, *(result.text for result in message.results)])


def _stems_with_beginnings(text: str) -> dict[str, str]:
    """The stems of a text, each with what all the forms of its word begin with."""
    found: dict[str, str] = {}
    for word in words(text):
        if word not in STOP:
            base = stem(word)
            found.setdefault(base, _beginning(word, base))
    return found


def _beginning(word: str, base: str) -> str:
    length = 0
    for one, other in zip(word, base, strict=False):
        if one != other:
            break
        length += 1
    return word[: max(length, 1)]


@lru_cache(maxsize=1024)
def _identifying_stems(text: str) -> frozenset[str]:
    return frozenset(stems(text)) - _FRAME


@lru_cache(maxsize=1024)
def _names_and_values(text: str) -> frozenset[str]:
    """Those of them that are names or values. Names are looked for in few memories: it takes the longest."""
    named = frozenset(stem(word) for name in entities(text) for word in words(name) if word not in STOP)
    return frozenset(base for base in _identifying_stems(text) if (base in named and len(base) > 2) or _is_value(base))


def _is_value(base: str) -> bool:
    """Whether it is a value by itself: a number of two digits and more, a version, a path, an identifier."""
    return len(base) > 1 and bool(_VALUE.search(base))
