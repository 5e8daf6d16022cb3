"""Whether a sentence that a model wrote says no more than what it was made of.

Rules, not a second model: names, numbers and code must stand in a source, nearly all other words too, and nothing may
speak of the assistant, of memory itself, or give an order to whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory.language.words import invented, stems

MAX_FACT_CHARS = 400
"""Characters of a fact."""
FROM_SOURCES = 0.6
"""The least share of a sentence's stems that its sources have too: the rest is what joins them."""
_SELF = re.compile(
    r"\b(?:as an ai|language model|(?:the|this) (?:assistant|model|ai|agent|memory|note|fact|summary|conversation)|"
    r"memory system|i (?:was|am|have|will|can|cannot)|you (?:asked|told|should|must|are))\b",
    re.IGNORECASE,
)


def unfaithful(text: str, sources: Sequence[str]) -> str:
    """Why a text may not stand for its sources; empty where it may."""
    sentence = text.strip()
    if not 8 <= len(sentence) <= MAX_FACT_CHARS or "\n" in sentence:
        return "it is no single sentence"
    if _SELF.search(sentence):
        return "it speaks of the assistant, of memory or to the reader"
    together = "\n".join(sources)
    if invented(sentence, together):
        return "it has a name or a number that no source has"
    words, known = set(stems(sentence)), set(stems(together))
    if words and len(words & known) < FROM_SOURCES * len(words):
        return "it says what no source says"
    return ""
