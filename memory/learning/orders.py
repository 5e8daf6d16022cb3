"""Which sentences tell their reader what to do, by their form alone: nothing here knows whom a sentence quotes, or
whether it means well. The forms are English's."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from memory.language.imperatives import is_imperative
from memory.language.sentences import sentences
from memory.learning.addressed_orders import names_reader

_COMMIT = re.compile(
    r"[\W_]*(?:[0-9a-f]{7,40}\b[\W_]{1,6})?"
    r"(?:feat|fix|chore|docs|refactor|test|perf|ci|build)(?:\([\w/, -]{1,40}\))?!?: "
)
# Letters of other scripts that look like Latin ones.
_ALIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеіјорсуѕхһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυ’ʼ‘",
    "ABESIJKMHOPCTYXaeijopcysxhdqwABEZHIKMNOPTYXaiknopu'''",
)


def plain(text: str) -> str:
    """A text as it is compared: without what only looks different, or cannot be seen at all."""
    if not text.isascii():
        folded = unicodedata.normalize("NFKD", text)
        seen = "".join(each for each in folded if unicodedata.category(each) not in ("Cf", "Mn"))
        text = seen.translate(_ALIKE)
    return " ".join(text.split())


def is_order(sentence: str) -> bool:
    """Whether a sentence tells its reader, or an assistant, what to do, by its form, also where it quotes an order
    behind a colon."""
    return any(names_reader(part) or is_imperative(part) for part in _parts(plain(sentence)))


def gives_orders(text: str) -> bool:
    """Whether an order stands in a text."""
    return any(map(is_order, sentences(text)))


def _parts(text: str) -> Iterator[str]:
    """A sentence, and what it says behind colons, but for the title of a commit."""
    yield text
    if ": " in text and _COMMIT.match(text) is None:
        yield from text.split(": ")[1:]
