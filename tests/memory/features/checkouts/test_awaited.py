"""What is decided before it is written is a citation from the commit on that holds it."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.checkout import Citation, CitationKind, LearnedAt
from memory.features.checkouts import awaited
from memory.features.checkouts.awaited import Awaiting, awaiting, look_for, settled
from memory.features.checkouts.checking import MOST_CHECKOUTS
from memory.features.checkouts.files import CheckoutFiles
from memory.features.checkouts.finding import found
from memory.features.checkouts.looking import CheckoutView, look
from memory.features.checkouts.upkeep import MOST_LOOKED
from memory.hooks.feature import MemoryMark
from memory.lru import LruDict
from memory.ports import Lesson
from memory.scope import Layer, Scope
from memory.session import Arrival, RequestKind, Session
from tests.memory.features.checkouts.repository import Repository
from tests.memory.features.checkouts.working import Working, working
from tests.memory.stores.derived_facts import passage

LIMITER = "We decided to put the rate limiter into limiter.py, in the class TokenBucket."
SCOPE = Scope(user="local", project="loom")
OWNER = SCOPE.owner(Layer.USER_PROJECT) or ""
CODE = "class TokenBucket:\n    size = 3\n"


async def awaits(on: Working) -> list[tuple[str, bool, str]]:
    """What the decision cites: the name, whether it was seen, and the file that it is in."""
    _, learnt = (await on.facts())[LIMITER]
    return [(each.name, each.seen, each.file) for each in learnt.cites]


async def mark(on: Working) -> str:
    """What is said of the decision's code by a request, once it was looked up behind others."""
    fact, _ = (await on.facts())[LIMITER]
    for _ in range(3):
        await on.seen()
        at = datetime.now(UTC)
        session = Session("s", "s", SCOPE, "bench", at, at)
        arrival = Arrival(SCOPE, RequestKind.MAIN, "bench", "", at, checkout=str(on.repository.root))
        told = await on.feature.marks(session, arrival, [replace(fact, owner=OWNER)], 10.0)
        await on.feature.sight.run_git(lambda: None)
    return told.get(fact.id, MemoryMark()).words


async def test_it_is_decided_written_committed_seen_renamed_and_gone(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        assert await awaits(on) == [("limiter.py", False, ""), ("TokenBucket", False, "")]
        assert await mark(on) == "", "nothing that was never there is gone"
        on.repository.write("limiter.py", CODE)
        assert (await mark(on)).startswith("holds as of")
        assert await awaits(on) == [("limiter.py", False, "limiter.py"), ("TokenBucket", False, "limiter.py")]
        commit = on.repository.commit("limiter: begin")
        assert await mark(on) == f"holds as of {commit[:7]}"
        assert await awaits(on) == [("TokenBucket", True, "limiter.py")]
        on.repository.write("limiter.py", CODE.replace("TokenBucket", "LeakyBucket"))
        on.repository.commit("limiter: another name")
        assert await mark(on) == f"gone since {commit[:7]}: TokenBucket in limiter.py"
        on.repository.write("limiter.py", CODE)
        on.repository.commit("limiter: the first name again")
        assert (await mark(on)).startswith("holds as of")
        on.repository.git("mv", "limiter.py", "bucket.py")
        on.repository.commit("limiter: call the file what it holds")
        assert await mark(on) == f"moved since {commit[:7]}: TokenBucket is now in bucket.py"
        on.repository.git("rm", "-q", "bucket.py")
        on.repository.commit("limiter: without one")
        assert await mark(on) == f"gone since {commit[:7]}: TokenBucket in limiter.py"
        assert f"{LIMITER} (gone since {commit[:7]}: TokenBucket in limiter.py)" in await on.say(
            "Where do we put the rate limiter?"
        )


async def test_what_lay_there_uncommitted_and_was_dropped_is_not_gone(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        on.repository.write("limiter.py", CODE)
        assert (await mark(on)).startswith("holds as of")
        (on.repository.root / "limiter.py").unlink()
        assert await mark(on) == ""
        on.repository.commit("something else")
        assert await mark(on) == ""
        assert await awaits(on) == [("limiter.py", False, ""), ("TokenBucket", False, "")]


async def test_what_came_on_a_branch_is_gone_nowhere_before_it_was_merged(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        on.repository.checkout("limiter", new=True)
        on.repository.write("limiter.py", CODE)
        commit = on.repository.commit("limiter: begin")
        assert (await mark(on)).startswith("holds as of")
        on.repository.checkout("main")
        assert await mark(on) == ""
        on.repository.git("merge", "-q", "--no-ff", "-m", "Merge limiter", "limiter")
        assert (await mark(on)).startswith("holds as of")
        on.repository.git("rm", "-q", "limiter.py")
        on.repository.commit("limiter: without one")
        assert await mark(on) == f"gone since {commit[:7]}: TokenBucket in limiter.py"


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("how", ["amended", "rebased", "squashed"])
async def test_what_came_with_a_commit_that_was_written_anew_is_gone_once_removed(
    tmp_path: Path, how: str, kept: bool
) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        if how != "amended":
            on.repository.checkout("limiter", new=True)
        on.repository.write("limiter.py", CODE)
        commit = on.repository.commit("limiter: begin")
        assert (await mark(on)).startswith("holds as of")
        if how == "amended":
            on.repository.git("commit", "-q", "--amend", "-m", "limiter: begin, in other words")
        else:
            on.repository.checkout("main")
            on.repository.commit("something else")
            assert await mark(on) == ""
        if how == "rebased":
            on.repository.git("rebase", "-q", "main", "limiter")
        elif how == "squashed":
            on.repository.git("merge", "-q", "--squash", "limiter")
            on.repository.commit("limiter: all of it")
            on.repository.git("branch", "-q", "-D", "limiter")
        if not kept:
            on.repository.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
            on.repository.git("update-ref", "-d", "ORIG_HEAD")
            on.repository.git("gc", "-q", "--prune=now")
        on.repository.git("rm", "-q", "limiter.py")
        on.repository.commit("limiter: without one")
        assert await mark(on) == f"gone since {commit[:7]}: TokenBucket in limiter.py"


async def test_it_is_found_after_a_start_too(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        on.repository.write("limiter.py", CODE)
        on.repository.commit("limiter: begin")
        on.feature.upkeep._awaiting = LruDict(MOST_CHECKOUTS)
        await on.seen()
        assert await awaits(on) == [("TokenBucket", True, "limiter.py")]


async def test_after_an_upgrade_memories_are_looked_into_few_by_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        repository, journal = str(on.repository.root), on.memory.journal
        view = on.feature.sight.view(repository)
        assert view is not None
        turns = [replace(passage(f"drain_jobs is slow, {number}"), owner=OWNER) for number in range(MOST_LOOKED + 4)]
        learnt = dict.fromkeys([each.id for each in turns], False)
        await journal.learn(Lesson(0, (), tuple(turns), checkout=view.checkout, learnt=learnt))
        jobs = []
        run_git = on.feature.sight.run_git

        async def counted(work: Callable[[], object]) -> object:
            jobs.append(work)
            return await run_git(work)

        monkeypatch.setattr(on.feature.sight, "run_git", counted)
        assert await on.feature.upkeep.look_into_new(view)
        assert len(await journal.unlooked(repository, 100)) == 4
        assert len(jobs) == MOST_LOOKED, "what a request asks git is not behind all of them"
        assert await on.feature.upkeep.look_into_new(view) and not await on.feature.upkeep.look_into_new(view)


@pytest.mark.parametrize("moved", [False, True])
async def test_a_file_that_is_named_while_git_looks_is_awaited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moved: bool
) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        root, upkeep, loop = str(on.repository.root), on.feature.upkeep, asyncio.get_running_loop()
        if moved:
            on.repository.commit("something else")
        view = await on.feature.sight.look_anew(root)
        assert view is not None
        looks, named, lies = itertools.count(), threading.Event(), awaited._lies

        def name() -> None:
            upkeep._await(view, [[Citation(CitationKind.FILE, "later.py")]])
            named.set()

        def lies_while_one_is_named(inside: CheckoutFiles, path: str) -> bool:
            if next(looks) == moved:  # first at what is known, then at what the rows say
                loop.call_soon_threadsafe(name)
                named.wait(10)
            return lies(inside, path)

        monkeypatch.setattr(awaited, "_lies", lies_while_one_is_named)
        await upkeep.look_for_awaited(view)
        known = upkeep._awaiting.get(root)
        assert named.is_set() and known is not None and sorted(known.files) == ["later.py", "limiter.py"]


async def test_a_command_is_awaited_as_well(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        text = "We decided to run the smoke tests with `make smoke` before each release."
        await on.say(text)
        on.repository.write("Makefile", "smoke:\n\tpytest -m smoke\n")
        on.repository.commit("smoke tests")
        await on.seen()
        _, learnt = (await on.facts())[text]
        [command] = [each for each in learnt.cites if each.sort is CitationKind.COMMAND]
        assert command.seen and command.file == "Makefile"


async def test_forgotten_it_is_awaited_by_nobody(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        await on.seen()
        [known] = on.feature.upkeep._awaiting.values()
        assert "limiter.py" in known.files
        (fact, _) = (await on.facts())[LIMITER]
        await on.memory.commands.forget([fact.id], [fact.owner])
        assert not on.feature.upkeep._awaiting
        rows = await on.memory.journal.awaiting(str(on.repository.root), 10)
        assert fact.id not in [row.memory for row in rows]


async def test_forgotten_during_a_look_it_is_awaited_by_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        (fact, _) = (await on.facts())[LIMITER]
        view, run_git = on.feature.sight.view(str(on.repository.root)), on.feature.sight.run_git
        assert view is not None
        on.feature.upkeep._awaiting.clear()

        async def forgetting(work: Callable[[], object]) -> object:
            known = await run_git(work)
            if isinstance(known, Awaiting) and "limiter.py" in known.files:
                await on.memory.commands.forget([fact.id], [fact.owner])
            return known

        monkeypatch.setattr(on.feature.sight, "run_git", forgetting)
        await on.feature.upkeep.look_for_awaited(view)
        assert LIMITER not in await on.facts() and not on.feature.upkeep._awaiting


async def test_facts_that_are_forgotten_while_they_are_looked_into_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        (fact, _) = (await on.facts())[LIMITER]
        view, run_git = on.feature.sight.view(str(on.repository.root)), on.feature.sight.run_git
        assert view is not None

        async def forgetting(work: Callable[[], object]) -> object:
            await on.memory.commands.forget([fact.id], [fact.owner])
            return await run_git(work)

        monkeypatch.setattr(on.feature.sight, "run_git", forgetting)
        await on.feature.upkeep.look_into([fact], view)
        assert await on.memory.journal.learnt([fact.id]) == {}


async def test_it_goes_with_an_export_and_is_still_awaited_after_an_import(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say(LIMITER)
        (fact, learnt) = (await on.facts())[LIMITER]
        [record] = [each for each in await on.feature.export(fact.owner, "", 10) if each["id"] == fact.id]
        await on.memory.journal._db.write(
            lambda connection: connection.execute("DELETE FROM checkouts WHERE memory = ?", (fact.id,))
        )
        assert await on.feature.take(record, Scope(user="local", project=str(on.repository.root)), False) == "taken"
        assert (await on.memory.journal.learnt([fact.id]))[fact.id].cites == learnt.cites
        assert fact.id in [row.memory for row in await on.memory.journal.awaiting(str(on.repository.root), 10)]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "loom")


def seen_of(repository: Repository) -> CheckoutView:
    view = look(str(repository.root))
    assert view is not None
    return view


def learnt(text: str, view: CheckoutView) -> LearnedAt:
    return LearnedAt("m", "up:ada/loom", view.checkout, "", found(text, view), looked=True)


def names(known: Awaiting) -> list[str]:
    return sorted(each.name for each in known.left)


def test_a_move_has_only_the_changed_files_searched(repository: Repository) -> None:
    before = seen_of(repository)
    row = learnt("The class TokenBucket and the function refill_tokens() limit the rate.", before)
    known = awaiting([row], before, None)
    assert [known.within(each) for each in known.take()] == [None, None], "the first look is at everything"
    repository.write("limiter.py", CODE)
    repository.commit("limiter: begin")
    known = awaiting([row], view := seen_of(repository), known)
    assert [known.within(each) for each in known.left] == [frozenset({"limiter.py"})] * 2
    told = {each: look_for(each, view, known.within(each)) for each in known.take()}
    assert [(each.name, each.seen) for each in settled(row.cites, told)] == [
        ("TokenBucket", True),
        ("refill_tokens", False),
    ]


def test_what_was_left_is_looked_for_first_and_everywhere(repository: Repository) -> None:
    before = seen_of(repository)
    rows = [learnt(f"The function step_number_{number}() is called last.", before) for number in range(20)]
    known = awaiting(rows, before, None)
    assert [len(known.take()) for _ in range(4)] == [4, 4, 4, 4] and len(known.left) == 4
    left = known.left
    repository.commit("nothing new")
    known = awaiting(rows, seen_of(repository), known)
    assert known.left[:4] == left and [known.within(each) for each in known.left[:5]] == [None] * 4 + [frozenset()]
    assert len(known.take()) == 16, "what is looked for in a few files only costs less"


def test_a_plain_word_has_come_only_where_it_is_defined(repository: Repository) -> None:
    view = seen_of(repository)
    row = learnt("What is left over goes into `leftover`.", view)
    repository.write("notes.py", "# leftover of the night\nshown = leftover\n")
    repository.commit("notes")
    view = seen_of(repository)
    assert not look_for(row.cites[0], view).file
    repository.write("notes.py", "def leftover():\n    return 1\n")
    repository.commit("notes: a function")
    assert look_for(row.cites[0], seen_of(repository)).seen


@pytest.mark.parametrize("text", ["Read/write splitting is on.", "It is either/or.", "The node is at /srv/data/a.py."])
def test_what_names_no_file_of_the_checkout_is_not_awaited(repository: Repository, text: str) -> None:
    assert found(text, seen_of(repository)) == ()


def test_a_folder_is_awaited_where_the_one_above_it_is(repository: Repository) -> None:
    assert found("The handlers go into src/handlers.", seen_of(repository)) == (
        Citation(CitationKind.FILE, "src/handlers"),
    )


def test_a_file_that_there_are_several_of_is_none_of_them(repository: Repository) -> None:
    for folder in ("a", "b"):
        repository.write(f"{folder}/index.ts", "x")
    assert found("It is in index.ts.", seen_of(repository)) == ()


def test_a_version_beside_an_awaited_file_does_not_stand_in_it(repository: Repository) -> None:
    dependencies = '[project]\nname = "loom"\nversion = "1"\ndependencies = ["pydantic==2.7.1"]\n'
    repository.write("pyproject.toml", dependencies)
    repository.commit("dependencies")
    cites = found("We stay on pydantic 2.7.1 and put the limiter into limiter.py.", seen_of(repository))
    assert [(each.name, each.seen) for each in cites] == [("limiter.py", False), ("pydantic 2.7.1", True)]
