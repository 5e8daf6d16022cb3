"""How a shared fact stands in a file that people read."""

from __future__ import annotations

from memory.fact import Fact
from memory.language.words import words


def line(fact: Fact) -> str:
    """A shared fact as it stands in its file, with what it is not where it does not say so itself."""
    has_both = set(words(fact.text)) >= set(words(fact.wrong))
    return plain(fact.text if has_both else f"{fact.text} (not: {fact.wrong})")


def plain(text: str) -> str:
    """A text as one bullet holds it: one line, in which nothing looks like a mark."""
    return " ".join(text.replace("<!--", "‹!--").replace("-->", "--›").split())
