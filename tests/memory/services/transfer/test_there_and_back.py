"""Everything goes out of one home and into a fresh one, and what that one gives out is the same."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from memory.bootstrap import open_memory
from memory.candidate import CandidateKind, CandidateState, Proposal
from memory.fact import FactKind, MemoryTier, Origin, State
from memory.parts import Memory
from memory.scope import Layer
from memory.settings import LearningSettings, MemorySettings, NightSettings
from proxy.cli.exporting import every_sort
from tests.memory.stores.derived_facts import ANN, BOB, fact, owner, passage

T = TypeVar("T")
THEN = datetime(2026, 3, 5, tzinfo=UTC)


async def unguarded(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    return await awaitable, ""


async def opened(home: Path) -> Memory:
    settings = MemorySettings(learning=LearningSettings(), night=NightSettings(enabled=False))
    memory = await open_memory(settings, home, unguarded)
    assert memory is not None
    return memory


async def everything(memory: Memory, owners: Sequence[str]) -> list[dict[str, Any]]:
    """What ``palimpsest export`` writes, but for the number of tombstones."""
    told = await memory.exporter.inventory(ANN, owners)
    records = [
        record
        for each in told.owners
        for sort in every_sort()
        for record in await memory.exporter.records(sort, each, owners)
    ]
    return [*records, *told.pages, *told.pins]


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012}"


RULES = {20: "Deploy on Mondays", 21: "Ask Petra before a release", 22: "Use pnpm", 23: "Sign every commit"}


def rule(number: int, *evidence: int, layer: Layer = Layer.PROJECT) -> Proposal:
    ids = tuple(uuid(each) for each in evidence)
    text = RULES[number]
    return Proposal(uuid(number), CandidateKind.KNOWLEDGE, f"mark {number}", text, text, "correction", 6, 4, ids, layer)


async def lived(memory: Memory) -> None:
    """Facts in all their states, knowledge with what it was drawn from, passages, use, candidates, a page, a pin."""
    old = fact("We deploy on Fridays", id=uuid(1), state=State.SUPERSEDED, superseded_at=THEN, valid_until=THEN)
    new = fact("We deploy on Mondays", id=uuid(2), supersedes=(uuid(1),), contradicts=(uuid(3),))
    side = fact("We deploy on Tuesdays", id=uuid(3), origin=Origin.TOOL, contradicts=(uuid(2),), pinned=True)
    gist = fact(
        "Deployments begin the week",
        id=uuid(4),
        tier=MemoryTier.LONG_TERM,
        derived_from=(uuid(2), uuid(3)),
        used_at=THEN,
    )
    right = fact(
        "Use pnpm",
        id=uuid(5),
        kind=FactKind.CORRECTION,
        wrong="npm",
        entities=("pnpm",),
        device="desk",
        preview=4,
        core="pnpm",
    )
    mine = replace(fact("I am left-handed", id=uuid(6)), owner=ANN.owner(Layer.USER) or "", layer=Layer.USER)
    said = passage("The mast is made of spruce, and so is the boom.", id=uuid(7), preview=9, source=b"\x07" * 16)
    await memory.learner.remember([old, new, side, gist, right, mine], [said])
    await memory.journal.restore_uses({uuid(2): {"s1": (3, 1, 0), "s2": (1, 1, 1)}})
    proposals = [rule(20, 2), rule(21, 3, 5), rule(22, 1), rule(23, 6, layer=Layer.ORG)]
    await memory.journal.propose(owner(), proposals, THEN)
    for each in await memory.journal.candidates([owner()]):
        state = {uuid(21): CandidateState.REJECTED, uuid(22): CandidateState.DEFERRED}.get(each.id)
        if state is not None:
            await memory.journal.decide(each, state, THEN, "we think otherwise")
    await memory.pages.write(ANN, "- Ann's own words")
    await memory.journal.pin_part(ANN.owner(Layer.USER) or "", b"\x01" * 16, 2, THEN)
    await memory.learner.catch_up()


async def test_an_export_taken_in_by_a_fresh_home_gives_the_same_export(tmp_path: Path) -> None:
    first, second = await opened(tmp_path / "one"), await opened(tmp_path / "two")
    try:
        await lived(first)
        owners = await first.commands.everything_of(ANN)
        records = await everything(first, owners)
        assert {each["sort"] for each in records} == {"fact", "passage", "candidate", "page", "pin"}
        dry = await second.importer.without_writing().records(records, ANN)
        taken = await second.importer.records(records, ANN)
        assert taken.faults == [] and dry == taken and taken.features["candidates"] == 4
        await second.learner.catch_up()
        assert await second.commands.everything_of(ANN) == owners
        assert await everything(second, owners) == records
        again = await second.importer.records(records, ANN)
        assert (again.faults, again.facts, again.passages, again.features["candidates"]) == ([], 0, 0, 0)
        assert await everything(second, owners) == records
        found = {each.id for each in await second.commands.search("When do we deploy?", owners)}
        assert uuid(2) in found
    finally:
        await first.close()
        await second.close()


async def test_a_page_goes_along_where_nothing_else_is_remembered_of_its_project(tmp_path: Path) -> None:
    first, second = await opened(tmp_path / "one"), await opened(tmp_path / "two")
    try:
        await first.commands.write_page(ANN, "Ask Petra first.", None)
        records = await everything(first, await first.commands.everything_of(ANN))
        assert [(each["sort"], each["text"]) for each in records] == [("page", "Ask Petra first.")]
        await second.importer.records(records, ANN)
        assert await everything(second, await second.commands.everything_of(ANN)) == records
        assert await second.commands.everything_of(BOB) == (BOB.owner(Layer.USER),)
    finally:
        await first.close()
        await second.close()


async def test_a_line_that_was_just_written_into_a_file_of_the_page_goes_along(tmp_path: Path) -> None:
    memory = await opened(tmp_path)
    try:
        await memory.learner.remember(
            [fact("We always deploy on Mondays", id=uuid(1), kind=FactKind.CONVENTION, pinned=True)]
        )
        [file] = [path for path, text in (await memory.pages.files(ANN)).values() if "Mondays" in text]
    finally:
        await memory.close()
    file.write_text(file.read_text() + "- Ask Petra before a release\n")
    again = await opened(tmp_path)
    try:
        records = await everything(again, await again.commands.everything_of(ANN))
        assert "Ask Petra before a release" in {each.get("text") for each in records}
    finally:
        await again.close()


async def test_a_page_that_cannot_be_made_keeps_nothing_else_from_being_exported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = await opened(tmp_path)
    try:
        await memory.learner.remember([fact("We deploy on Mondays", id=uuid(1), pinned=True)])
        [file] = [path for path, text in (await memory.pages.files(ANN)).values() if "Mondays" in text]
        file.write_text(file.read_text() + "- The mast is made of spruce\n")
        file.with_name(".made.json.new").mkdir()
        records = await everything(memory, await memory.commands.everything_of(ANN))
        assert "We deploy on Mondays" in [each["text"] for each in records]
        assert "not all that was changed" in caplog.text and ".made.json.new" in caplog.text
    finally:
        await memory.close()


async def test_what_was_decided_stays_decided_in_another_home(tmp_path: Path) -> None:
    first, second = await opened(tmp_path / "one"), await opened(tmp_path / "two")
    try:
        await lived(first)
        await second.importer.records(await everything(first, await first.commands.everything_of(ANN)), ANN)
        await second.journal.propose(owner(), [rule(21, 3, 5)], THEN)
        states = {each.id: each.state for each in await second.journal.candidates([owner()])}
        assert states[uuid(21)] is CandidateState.REJECTED and states[uuid(20)] is CandidateState.WAITING
    finally:
        await first.close()
        await second.close()


async def test_a_candidate_whose_evidence_was_forgotten_does_not_come_back(tmp_path: Path) -> None:
    memory = await opened(tmp_path)
    try:
        await lived(memory)
        records = await everything(memory, await memory.commands.everything_of(ANN))
        await memory.commands.forget([uuid(5)], [owner()])
        left = {each.id for each in await memory.journal.candidates([owner()])}
        assert left == {uuid(20), uuid(22), uuid(23)}
        taken = await memory.importer.records(records, ANN)
        assert taken.faults == [] and taken.forgotten == 2
        assert {each.id for each in await memory.journal.candidates([owner()])} == left
    finally:
        await memory.close()


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"layer": "user"}, "a project or an org"),
        ({"id": "no uuid"}, "UUID"),
        ({"state": "loved"}, "state"),
        ({"sources": -1}, "no count"),
        ({"made_at": "2026-03-04T00:00:00"}, "zone"),
        ({"text": " "}, "empty"),
        ({"owner": "x:eve"}, "none that you may write to"),
    ],
)
async def test_what_is_no_candidate_is_told_and_the_rest_goes_on(
    tmp_path: Path, wrong: dict[str, Any], why: str
) -> None:
    memory = await opened(tmp_path)
    try:
        await lived(memory)
        records = await memory.exporter.records("candidate", owner(), [owner()])
        before = await memory.journal.candidates([owner()])
        taken = await memory.importer.records([records[0] | wrong, *records[1:]], ANN)
        [(place, said)] = taken.faults
        assert place == 0 and why in said and taken.known == len(records) - 1
        assert await memory.journal.candidates([owner()]) == before
    finally:
        await memory.close()


async def test_a_candidate_of_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    memory = await opened(tmp_path)
    try:
        await lived(memory)
        records = await memory.exporter.records("candidate", owner(), [owner()])
        taken = await memory.importer.records(records, BOB)
        assert taken.features["candidates"] == 0 and all("another owner" in why for _, why in taken.faults)
    finally:
        await memory.close()
