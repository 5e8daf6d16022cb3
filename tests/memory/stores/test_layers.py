"""Who sees what: every layer of every place, asked for by every caller, in every way in which stores give facts."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from itertools import product
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from memory.candidate import CandidateKind, Proposal
from memory.fact import Fact, MemoryTier, Passage
from memory.ports import Lesson
from memory.scope import Layer, Scope
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import AT, fact, open_journal

PLACES = [Scope(*each) for each in product((None, "acme", "evil"), (None, "ada", "eve"), (None, "boat", "car"))]
Ways = dict[str, Callable[[SqlJournal, list[str], list[str]], Awaitable[set[str]]]]


def sees(caller: Scope, place: Scope, layer: Layer) -> bool:
    """The rule, said once more: the organisation and whatever else a layer is of must be the caller's own."""
    of = {
        Layer.USER_PROJECT: ("user", "project"),
        Layer.USER: ("user",),
        # Without an organisation there is nobody to share a project with.
        Layer.PROJECT: ("project",) if place.org else ("user", "project"),
        Layer.ORG: (),
    }[layer]
    return caller.org == place.org and all(getattr(caller, name) == getattr(place, name) for name in of)


def everything() -> dict[str, tuple[Scope, Layer, Fact]]:
    """A fact of every layer of every place, each owner's once."""
    found: dict[str, tuple[Scope, Layer, Fact]] = {}
    for place, layer in product(PLACES, Layer):
        owner = place.owner(layer)
        if owner is not None and owner not in found:
            made = fact(
                "Use tabs", id=f"id{len(found):03}", owner=owner, layer=layer, tier=MemoryTier.SHARED, pinned=True
            )
            found[owner] = place, layer, made
    return found


async def _candidates(journal: SqlJournal, owners: list[str], ids: list[str]) -> set[str]:
    found = await journal.candidates(owners)
    assert await journal.candidates_waiting(owners) == len(found)
    return {each.id for each in found}


async def _between(journal: SqlJournal, owners: list[str], ids: list[str]) -> set[str]:
    facts, _ = await journal.between(owners, AT.replace(year=2000), AT.replace(year=2050), 1000)
    return {each.id for each in facts}


WAYS: Ways = {
    "by id": lambda journal, owners, ids: _ids(journal.facts(ids, owners)),
    "by beginning": lambda journal, owners, ids: _names(journal.begins("id", owners, 1000)),
    "for recall": lambda journal, owners, ids: _ids(journal.memories(ids, owners)),
    "listed": lambda journal, owners, ids: _ids(journal.facts_of(owners)),
    "for the page": lambda journal, owners, ids: _ids(journal.page_facts(owners, 1000)),
    "by text": lambda journal, owners, ids: _ids(journal.find_facts(owners, "tabs")),
    "of a day": _between,
    "candidates": _candidates,
}


async def _ids(found: Awaitable[list[Fact]] | Awaitable[list[Fact | Passage]]) -> set[str]:
    return {each.id for each in await found}


async def _names(found: Awaitable[list[str]]) -> set[str]:
    return set(await found)


def proposal(id: str) -> Proposal:
    return Proposal(id, CandidateKind.SKILL, id, "Use tabs", "Use tabs", "run", 3, 2, (id,))


@settings(deadline=None, max_examples=3)
@given(st.data())
def test_every_caller_sees_what_is_of_its_layers_and_nothing_else(data: st.DataObject) -> None:
    async def asked() -> None:
        with tempfile.TemporaryDirectory() as folder:
            journal = open_journal(Path(folder))
            try:
                held = everything()
                await journal.learn(Lesson(0, tuple(each for _, _, each in held.values())))
                for owner, (_, _, each) in held.items():
                    await journal.propose(owner, [proposal(each.id)], AT)
                ids = [each.id for _, _, each in held.values()]
                for caller in data.draw(st.permutations(PLACES)):
                    owners = list(caller.owners())
                    expected = {each.id for place, layer, each in held.values() if sees(caller, place, layer)}
                    for way, ask in WAYS.items():
                        assert await ask(journal, owners, ids) == (expected if owners else set()), (way, caller)
            finally:
                await journal.close()

    asyncio.run(asked())


def test_nobody_without_a_place_sees_anything() -> None:
    assert Scope().owners() == () and Scope(None, None, "boat").owners() == ()


def test_two_users_without_an_organisation_share_no_project() -> None:
    ada, eve = Scope(None, "ada", "boat"), Scope(None, "eve", "boat")
    assert not set(ada.owners()) & set(eve.owners())
    assert len(set(Scope("acme", "ada", "boat").owners()) & set(Scope("acme", "eve", "boat").owners())) == 2
