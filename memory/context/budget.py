"""How many tokens recall may take where the page stands in the same message."""

from __future__ import annotations

TOGETHER = 620
"""Tokens of the page and of what is recalled beside it, in one message."""
LEAST = 200
"""What is left for recall beside even the longest page."""


def beside_page(recall: int, page: int, together: int = TOGETHER, least: int = LEAST) -> int:
    """Tokens for recall in the message that carries a page of ``page`` tokens; never more than ``recall``.

    A first message would otherwise carry both in full, and a page that is full has told most of it already.
    """
    if page <= 0:
        return recall
    return min(recall, max(together - page, least))
