"""The rules by which texts are made shorter, imported when the first text is.

They are patterns and grammars of all kinds of text, and Python takes some sixty milliseconds to read them. A server
that starts does not need them: who does reads them in a thread.
"""

from __future__ import annotations

import asyncio
import importlib
import sys

from memory.tiers.shape import Hint, Tiers

_RULES = "memory.tiers.tier_choice"
"""What imports all the others."""


async def at_hand() -> None:
    """Have the rules at hand, so that what asks for them from then on does not hold up the loop."""
    # Importing in a thread what is being imported already waits there until it is whole.
    if not hasattr(sys.modules.get(_RULES), "line"):
        await asyncio.to_thread(importlib.import_module, _RULES)


def tiers(text: str, hint: Hint) -> Tiers:
    """The lower tiers of a text (:func:`memory.tiers.tier_choice.tiers`)."""
    from memory.tiers import tier_choice

    return tier_choice.tiers(text, hint)


def line(text: str, hint: Hint) -> str:
    """The lowest tier of a text (:func:`memory.tiers.tier_choice.line`)."""
    from memory.tiers import tier_choice

    return tier_choice.line(text, hint)


def arguments(name: str, given: str, most: int, handle: str) -> str | None:
    """A call's arguments in short (:func:`memory.tiers.calls.arguments`)."""
    from memory.tiers import calls

    return calls.arguments(name, given, most, handle)
