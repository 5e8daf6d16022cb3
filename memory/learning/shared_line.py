"""How a shared fact stands in a file that people read."""

from __future__ import annotations

from memory.fact import Fact
from memory.language.polarity import unsaid


def line(fact: Fact) -> str:
    """A shared fact as it stands in its file, with what it is not where it does not say so itself."""
    wrong = unsaid(fact.wrong, fact.text)
    return plain(f"{fact.text} (not: {wrong})" if wrong else fact.text)


def plain(text: str) -> str:
    """A text as one bullet holds it: one line, in which nothing looks like a mark."""
    return " ".join(text.replace("<!--", "‹!--").replace("-->", "--›").split())
