"""Two memories that contradict each other."""

from __future__ import annotations

from dataclasses import replace

from tests.proxy.api.asking import Asking
from tests.running import Running

AT_ODDS = ("The deploy key lives in the vault of Rosa", "The deploy key lives in the drawer of Tom")


async def contradict(ask: Asking, proxy: Running, texts: tuple[str, str] = AT_ODDS) -> list[str]:
    """The ids of two memories that contradict each other."""
    memory = proxy.edge.memory
    assert memory is not None
    ids = [(await ask("POST", "api/remember?project=loom", {"text": text}, status=201))["id"] for text in texts]
    facts = await memory.journal.facts(ids)
    for one, other in zip(facts, reversed(facts), strict=True):
        await memory.journal.update(replace(one, contradicts=(other.id,)))
    return ids
