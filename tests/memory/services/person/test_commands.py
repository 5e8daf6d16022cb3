"""What a person may ask of memory, over a real journal and a real index in a throwaway folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest
import pytest_asyncio

from memory.bootstrap import open_memory
from memory.fact import Fact, FactKind, Origin, Stability, State
from memory.hooks.feature import FeatureErasure
from memory.language.static_embedding import Floats, StaticEmbedding
from memory.parts import Memory
from memory.ports import Embedder, Forgotten, Lesson, StoreError
from memory.scope import Layer, Scope
from memory.services.person.commands import Ambiguous, Commands, NotFound
from memory.services.reindexing import ReindexInProgress
from memory.settings import MemorySettings
from tests.memory.stores.derived_facts import assistant, exchange, fact, passage, session, user
from tests.sparse_files import read_written

T = TypeVar("T")

ADA = Scope(user="ada")
BOAT = Scope(user="ada", project="boat")
BOB = Scope(user="bob", project="boat")


async def unguarded(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    """A guard that lets every fault through, so that a test sees it."""
    return await awaitable, ""


def holding(folder: Path, said: bytes) -> list[str]:
    """The names of the files that hold some bytes."""
    return [file.name for file in folder.rglob("*") if file.is_file() and said in read_written(file)]


class Down(StaticEmbedding):
    """An embedder whose provider is down."""

    def __init__(self, of: Embedder) -> None:
        self.name, self.dimensions = of.name, of.dimensions

    def documents(self, texts: Sequence[str]) -> Floats:
        raise ConnectionError("the embedder's provider is down")


@pytest_asyncio.fixture
async def memory(tmp_path: Path) -> AsyncIterator[Memory]:
    opened = await open_memory(MemorySettings(), tmp_path, unguarded)
    assert opened is not None
    yield opened
    await opened.close()


@pytest.fixture
def commands(memory: Memory) -> Commands:
    return memory.commands


async def test_a_person_is_remembered_word_for_word_and_found_at_once(commands: Commands) -> None:
    held = await commands.remember("The  mooring is\nnumber twelve", BOAT)
    assert held.text == "The mooring is number twelve" and held.origin is Origin.PERSON
    assert held.layer is Layer.USER_PROJECT and held.stability is Stability.VERIFIED and held.confidence == 1
    assert [each.id for each in await commands.search("Which mooring is ours?", BOAT.owners())] == [held.id]


async def test_without_a_project_it_holds_in_all_of_them(commands: Commands) -> None:
    held = await commands.remember("The marina closes at dusk", ADA)
    assert held.layer is Layer.USER
    assert await commands.facts(BOAT.owners()) == [held]
    assert await commands.facts(BOB.owners()) == []


async def test_the_rules_say_what_kind_it_is_unless_the_person_does(commands: Commands) -> None:
    assert (await commands.remember("I prefer rope over chain.", ADA)).kind is FactKind.PREFERENCE
    assert (await commands.remember("Rope is cheaper", ADA, kind=FactKind.DECISION)).kind is FactKind.DECISION


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We use PostgreSQL for the shop.", "We switched from PostgreSQL to CockroachDB for the shop."),
        ("We use yarn.", "We switched from yarn to pnpm."),
        ("The port of the gateway is 8000.", "The port of the gateway is now 9000."),
        ("Our CI runs on Jenkins.", "Our CI moved from Jenkins to Woodpecker."),
        ("I prefer dark mode.", "I prefer light mode now instead of dark mode."),
        ("We use snake_case for JSON keys.", "Last week we changed JSON keys from snake_case to camelCase."),
        ("Our repository is on GitLab.", "Yesterday we moved our repository from GitLab to GitHub."),
    ],
)
async def test_what_a_person_says_takes_over_from_what_it_changes(commands: Commands, before: str, after: str) -> None:
    old = await commands.remember(before, BOAT)
    new = await commands.remember(after, BOAT)
    assert new.supersedes == (old.id,) and not new.contradicts
    assert [each.id for each in await commands.search(before, BOAT.owners())] == [new.id]
    gone = await commands.memory(old.id, BOAT.owners())
    assert isinstance(gone, Fact) and gone.state is State.SUPERSEDED and gone.valid_until == new.valid_from


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The API listens on port 8080.", "The admin UI now listens on port 9090 instead of 8080."),
        ("Tests run with pytest in the api service.", "Tests no longer run with pytest in the web service."),
        ("We use Redis for the queue.", "We switched from Redis to Memcached for the cache."),
        ("We use PostgreSQL for the shop.", "As of tomorrow we use CockroachDB instead of PostgreSQL for the shop."),
        (
            "We use PostgreSQL for the shop.",
            "Starting next Monday we use CockroachDB instead of PostgreSQL for the shop.",
        ),
        ("The gate opens at 6 in the morning.", "The gate opens at 7 in the morning."),
        ("Deploys go on Fridays.", "Deploys of the docs go on Mondays."),
        ("The timeout of the gateway is 30 seconds.", "The timeout of the reports gateway is now 60 seconds."),
        ("Deploys go out on Fridays.", "We switched deploys of the docs from Fridays to Mondays."),
        ("The API uses PostgreSQL.", "The reports API no longer uses PostgreSQL."),
        ("We use npm.", "We switched the docs site from npm to pnpm."),
    ],
)
async def test_what_may_be_of_something_else_or_of_later_ends_nothing(
    commands: Commands, before: str, after: str
) -> None:
    old = await commands.remember(before, BOAT)
    new = await commands.remember(after, BOAT)
    held = await commands.memory(old.id, BOAT.owners())
    assert not new.supersedes and isinstance(held, Fact) and held.state is State.ACTIVE
    assert held.contradicts == ((new.id,) if new.contradicts else ())


async def test_what_may_be_a_contradiction_is_noted_on_both_sides(commands: Commands) -> None:
    one = await commands.remember("The gate opens at 6 in the morning.", BOAT)
    other = await commands.remember("The gate opens at 7 in the morning.", BOAT)
    assert other.contradicts == (one.id,)
    held = await commands.memory(one.id, BOAT.owners())
    assert isinstance(held, Fact) and held.contradicts == (other.id,)


async def test_what_was_pinned_is_not_taken_over_from(commands: Commands) -> None:
    pinned = await commands.remember("We use PostgreSQL for the shop.", BOAT, pinned=True)
    after = await commands.remember("We switched from PostgreSQL to CockroachDB for the shop.", BOAT)
    assert not after.supersedes and after.contradicts == (pinned.id,)


async def test_what_changes_while_others_write_is_not_written_back(commands: Commands) -> None:
    old = await commands.remember("We use PostgreSQL for the shop.", BOAT)
    new, pinned, *_ = await asyncio.gather(
        commands.remember("We switched from PostgreSQL to CockroachDB for the shop.", BOAT),
        commands.pin(old.id, BOAT.owners(), True),
        commands.remember("The marina closes at dusk.", BOAT),
    )
    assert pinned.pinned
    held = await commands.memory(old.id, BOAT.owners())
    assert isinstance(held, Fact) and held.pinned and new.id != old.id


async def test_what_is_forgotten_while_the_same_is_said_again_is_written_anew(memory: Memory) -> None:
    held = await memory.commands.remember("The marina closes at dusk.", BOAT)
    async with memory.learner.resting():
        saying = asyncio.create_task(memory.commands.remember("The marina closes at DUSK.", BOAT))
        while not memory.learner._rest_requests and not saying.done():  # noqa: ASYNC110 (nobody is told of who waits)
            await asyncio.sleep(0)
        await memory.journal.forget([held.id], held.recorded_at)
    said = await saying
    assert said.id != held.id and [each.id for each in await memory.commands.facts(BOAT.owners())] == [said.id]


async def test_what_becomes_of_a_fact_while_the_same_is_said_again_stays_so(memory: Memory) -> None:
    held = await memory.commands.remember("The marina closes at dusk.", BOAT)
    async with memory.learner.resting():
        saying = asyncio.create_task(
            memory.commands.remember("The marina closes at dusk.", BOAT, kind=FactKind.DECISION)
        )
        while not memory.learner._rest_requests and not saying.done():  # noqa: ASYNC110 (nobody is told of who waits)
            await asyncio.sleep(0)
        await memory.journal.update(replace(held, contradicts=("another",)))
    await saying
    [now] = await memory.commands.facts(BOAT.owners())
    assert (now.id, now.contradicts, now.kind) == (held.id, ("another",), FactKind.DECISION)


async def test_the_same_said_twice_at_once_is_one_fact(commands: Commands) -> None:
    said = await asyncio.gather(*(commands.remember("The marina closes at dusk.", BOAT) for _ in range(2)))
    assert len({each.id for each in said}) == 1


async def test_what_a_person_says_is_kept_though_the_embedder_is_down(memory: Memory) -> None:
    memory.recall.embedder = Down(memory.recall.embedder)
    with pytest.raises(ConnectionError):
        await memory.commands.remember("The mooring is number twelve.", BOAT)
    found = await memory.journal.find_facts(BOAT.owners(), "mooring")
    assert [each.text for each in found] == ["The mooring is number twelve."]


async def test_what_was_set_aside_and_cannot_be_read_goes_with_whatever_is_forgotten(
    memory: Memory, tmp_path: Path
) -> None:
    held = await memory.commands.remember("The mooring is number twelve.", BOAT)
    damaged = tmp_path / "aside" / "00000000000000000001-e1.broken"
    damaged.parent.mkdir()
    damaged.write_bytes(b"The mooring")
    assert (await memory.commands.forget([held.id], BOAT.owners())).damaged == 1
    assert not damaged.exists()


async def test_nothing_and_nobody_cannot_be_remembered(commands: Commands) -> None:
    with pytest.raises(ValueError, match="nothing to remember"):
        await commands.remember(" \n ", ADA)
    with pytest.raises(ValueError, match="no user"):
        await commands.remember("The marina closes at dusk", Scope())


async def test_what_a_session_taught_becomes_the_persons_own_word(memory: Memory, commands: Commands) -> None:
    taught = fact("The anchor weighs ten kilos", scope=BOAT, kind=FactKind.FACT, confidence=0.4)
    await memory.journal.learn(Lesson(0, (taught,), documents={taught.owner: 1}))
    held = await commands.remember("the anchor weighs ten kilos", BOAT, pinned=True)
    assert held.id == taught.id and held.pinned and held.confidence == 1 and held.origin is Origin.PERSON
    assert len(await commands.facts(BOAT.owners())) == 1


async def test_everything_of_a_person_is_all_their_projects_and_nobody_elses(commands: Commands) -> None:
    for scope in (ADA, BOAT, BOB, Scope(user="ada", project="house"), Scope(user="ada/boat", project="x")):
        await commands.remember(f"Said by {scope.user} about {scope.project}", scope)
    owners = await commands.everything_of(ADA)
    assert set(owners) == {"u:/ada", "up:/ada/boat", "up:/ada/house"}
    assert {each.owner for each in await commands.facts(owners)} == set(owners)
    org = await commands.everything_of(Scope("acme", "ada"))
    assert set(org) == {"u:acme/ada", "o:acme"}


async def test_facts_are_listed_by_text_kind_and_state(memory: Memory, commands: Commands) -> None:
    old = fact("The sail is red", scope=BOAT, state=State.SUPERSEDED)
    new = fact("The sail is blue", scope=BOAT, kind=FactKind.FACT)
    await memory.journal.learn(Lesson(0, (old, new), documents={old.owner: 2}))
    owners = BOAT.owners()
    assert [each.id for each in await commands.facts(owners)] == [new.id]
    assert len(await commands.facts(owners, "sail", states=frozenset(State))) == 2
    assert await commands.facts(owners, "mast") == []
    assert await commands.facts(owners, kinds=frozenset({FactKind.DECISION})) == []


async def test_ids_of_others_are_not_found(commands: Commands) -> None:
    held = await commands.remember("The mooring is number twelve", BOAT)
    assert (await commands.memory(held.id[:6], BOAT.owners())).id == held.id
    for ask in (commands.memory(held.id, BOB.owners()), commands.forget([held.id], BOB.owners())):
        with pytest.raises(NotFound):
            await ask
    with pytest.raises(NotFound):
        await commands.pin(held.id, BOB.owners(), True)
    assert await commands.facts(BOAT.owners()) == [held]


async def test_an_ambiguous_beginning_forgets_nothing(memory: Memory, commands: Commands) -> None:
    twins = tuple(fact(f"Twin {n}", id=f"aaaa0000-0000-4000-8000-00000000000{n}", scope=BOAT) for n in range(2))
    await memory.journal.learn(Lesson(0, twins, documents={twins[0].owner: 2}))
    with pytest.raises(Ambiguous) as caught:
        await commands.forget(["aaaa"], BOAT.owners())
    assert set(caught.value.ids) == {each.id for each in twins}
    assert len(await commands.facts(BOAT.owners())) == 2


async def test_only_facts_can_be_pinned(memory: Memory, commands: Commands) -> None:
    held = await commands.remember("The mooring is number twelve", BOAT)
    assert (await commands.pin(held.id, BOAT.owners(), True)).pinned
    assert "twelve" in await commands.page(BOAT)
    said = passage("We moored at dusk", scope=BOAT)
    await memory.journal.learn(Lesson(0, (), (said,), documents={said.owner: 1}))
    with pytest.raises(NotFound, match="cannot be pinned"):
        await commands.pin(said.id, BOAT.owners(), True)


async def test_what_a_query_would_forget_holds_all_of_its_words(memory: Memory, commands: Commands) -> None:
    lisa = await commands.remember("Lisa moved to Porto in May", BOAT)
    await commands.remember("Lisa likes cod", BOAT)
    said = passage("Then we were moving Lisa's things to Porto.", scope=BOAT)
    await memory.journal.learn(Lesson(0, (), (said,), documents={said.owner: 1}))
    assert await commands.learned() == 0
    found = await commands.alike("Lisa moves to Porto", BOAT.owners())
    assert {each.id for each in found} == {lisa.id, said.id}
    assert await commands.alike("Lisa", BOB.owners()) == []
    assert await commands.alike("?!", BOAT.owners()) == []


async def test_forgetting_leaves_not_a_byte_behind(memory: Memory, commands: Commands, tmp_path: Path) -> None:
    """Neither in the journal, the index, nor on a page; and the same words are not learned again."""
    said = user("My cousin Ottilie keeps the boat in Faro.")
    owner_session = session("s1", BOAT)
    await memory.journal.commit(exchange("e1", [said], "Noted: Ottilie, Faro.", of=owner_session))
    await memory.learner.catch_up()
    await commands.remember("Ottilie has the spare key", BOAT, pinned=True)
    assert "Ottilie" in await commands.page(BOAT)
    ids = [each.id for each in await commands.alike("Ottilie", BOAT.owners())]
    assert ids
    gone = await commands.forget(ids, BOAT.owners())
    assert set(ids) <= set(gone.ids)
    assert await commands.alike("Ottilie", BOAT.owners()) == []
    assert await commands.search("Ottilie Faro", BOAT.owners()) == []
    assert "Ottilie" not in await commands.page(BOAT)

    again = [said, assistant("Yes?"), user("Where is the boat kept?")]
    await memory.journal.commit(exchange("e2", again, "I do not know.", of=session("s2", BOAT)))
    await memory.learner.catch_up()
    assert await commands.alike("Ottilie", BOAT.owners()) == []

    assert holding(tmp_path, b"Ottilie") == [] and holding(tmp_path, b"SQLite format 3") == ["journal.db"]


async def test_a_new_index_is_filled_beside_the_old_one(memory: Memory, commands: Commands) -> None:
    held = await commands.remember("The mooring is number twelve", BOAT)
    before = memory.recall.index
    progress = await memory.reindexer.run("static", StaticEmbedding.load)
    assert progress.finished and progress.done == progress.total == 1 and not progress.fault
    assert memory.recall.index is not before and not memory.reindexer.running
    assert [each.id for each in await commands.search("mooring twelve", BOAT.owners())] == [held.id]
    assert len(await memory.journal.generations()) == 1
    later = await commands.remember("The buoy is yellow", BOAT)
    assert later.id in [each.id for each in await commands.search("What colour is the buoy?", BOAT.owners())]


class Broken:
    """An embedder that fails at its first text."""

    name = "broken"
    dimensions = 8
    quick = True

    def documents(self, texts: object) -> object:
        raise RuntimeError("no vectors today")

    query = documents


async def test_an_index_that_cannot_be_filled_leaves_the_old_one(memory: Memory, commands: Commands) -> None:
    held = await commands.remember("The mooring is number twelve", BOAT)
    broken: Embedder = Broken()  # type: ignore[assignment]
    with pytest.raises(RuntimeError, match="no vectors today"):
        await memory.reindexer.run("broken", lambda: broken)
    assert memory.reindexer.progress is not None and memory.reindexer.progress.fault == "no vectors today"
    assert [each.id for each in await commands.search("mooring twelve", BOAT.owners())] == [held.id]
    assert len(await memory.journal.generations()) == 1
    await memory.reindexer.run("static", StaticEmbedding.load)


async def test_one_index_is_filled_at_a_time(memory: Memory) -> None:
    first = asyncio.create_task(memory.reindexer.run("static", StaticEmbedding.load))
    await asyncio.sleep(0)
    with pytest.raises(ReindexInProgress):
        await memory.reindexer.run("static", StaticEmbedding.load)
    await first


async def test_standing_counts_what_there_is(commands: Commands) -> None:
    await commands.remember("The mooring is number twelve", BOAT)
    standing = await commands.standing()
    assert standing.counts.facts == 1 and standing.waiting == 0 and standing.learning
    assert standing.kept == standing.lost == standing.passed_over == 0


async def test_where_the_index_is_down_a_forget_does_all_the_rest_and_tells_it(
    memory: Memory, commands: Commands, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = await commands.remember("Ottilie has the spare key", BOAT, pinned=True)
    damaged = tmp_path / "aside" / "00000000000000000001-e1.broken"
    damaged.parent.mkdir()
    damaged.write_bytes(b"Ottilie")
    assert "Ottilie" in await commands.page(BOAT)
    looked = list[Forgotten]()

    async def erasure(owners: Sequence[str]) -> FeatureErasure:
        async def files(gone: Forgotten) -> tuple[list[str], list[str]]:
            looked.append(gone)
            return ["AGENTS.md"], []

        return FeatureErasure(files=files)

    async def down(ids: Sequence[str]) -> None:
        raise StoreError("the index cannot be reached")

    monkeypatch.setattr(memory.features, "forget", erasure)
    with monkeypatch.context() as without:
        without.setattr(memory.recall.index, "delete", down)
        gone = await commands.forget([held.id], BOAT.owners())
    assert gone.files == ("AGENTS.md",) and [each.ids for each in looked] == [(held.id,)]
    assert gone.damaged == 1 and not damaged.exists()
    assert [fault for fault in gone.faults if "index" in fault and "cannot be reached" in fault] == [*gone.faults]
    assert "Ottilie" not in await commands.page(BOAT)
    await memory.learner.catch_up()
    assert await memory.recall.index.count() == 0 and await memory.journal.waiting() == 0


async def test_a_step_that_fails_keeps_no_other_from_being_taken(
    memory: Memory, commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = await commands.remember("Ottilie has the spare key", BOAT, pinned=True)

    async def erasure(owners: Sequence[str]) -> FeatureErasure:
        async def failing(gone: Forgotten) -> None:
            raise OSError("no space is left")

        async def files(gone: Forgotten) -> tuple[list[str], list[str]]:
            raise ValueError

        return FeatureErasure(then=failing, files=files)

    monkeypatch.setattr(memory.features, "forget", erasure)
    gone = await commands.forget([held.id], BOAT.owners())
    assert [fault.rpartition(": ")[2] for fault in gone.faults] == ["no space is left", "ValueError"]
    assert await memory.recall.index.count() == 0
