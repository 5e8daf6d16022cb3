"""A project's own files teach what they say of how it is worked on: through the running proxy."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memory.fact import Origin, Stability, State
from memory.scope import Scope
from memory.session import Arrival, RequestKind, Session
from tests.memory.context.making import fact
from tests.memory.features.checkouts.working import Working, working

TESTS = "Test command: `make test` (Makefile)."
VITEST = "Test runner: vitest ^1.6.0 (package.json)."
JEST = "Test runner: jest 29.1.0 (package.json)."
ASK = "Which command runs the tests here?"


async def begun(on: Working) -> None:
    on.repository.write("Makefile", "test:\n\tpytest\n\nrelease: all\n\techo out\n")
    on.repository.commit("make: test")
    await on.seen()


async def test_what_they_say_is_recalled_with_its_line_and_stands_on_no_page(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await begun(on)
        (fact, learnt) = (await on.observed())[TESTS]
        assert (fact.origin, fact.stability, learnt.checkout.staged) == (Origin.FILE, Stability.DRAFT, False)
        assert [(each.file, each.line) for each in learnt.cites] == [("Makefile", 1)]
        told = await on.say(ASK)
        assert f"project file: {TESTS} (holds as of " in told and "<memory-page>" not in told
        on.repository.write("Makefile", "check:\n\tpytest\n")
        await on.seen()
        assert f"{TESTS} (changed since {learnt.checkout.commit[:7]}: was line 1 of Makefile)" in await on.say(
            "How are the tests run?"
        )


async def test_what_a_file_does_not_say_any_more_is_put_away_and_comes_back_with_it(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await begun(on)
        assert VITEST in await on.observed()
        on.repository.write("package.json", '{"devDependencies": {"jest": "29.1.0"}}\n')
        await on.seen()
        assert VITEST in await on.observed(), "what is not committed is nobody's yet"
        on.repository.commit("jest")
        await on.seen()
        assert JEST in await on.observed() and VITEST not in await on.observed()
        on.repository.git("revert", "--no-edit", "HEAD")
        await on.seen()
        assert VITEST in await on.observed() and JEST not in await on.observed()


async def test_it_is_the_main_branch_that_counts_whatever_is_checked_out(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        on.repository.checkout("jest", new=True)
        on.repository.write("package.json", '{"devDependencies": {"jest": "29.1.0"}}\n')
        on.repository.commit("jest")
        await on.seen()
        (_, learnt) = (await on.observed())[VITEST]
        assert learnt.checkout.branch == "main" and JEST not in await on.observed()
        assert "the checkout says otherwise: package.json has jest" in await on.say("Which test runner is it?")


async def test_what_a_person_says_or_forgets_counts_for_more(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await begun(on)
        (fact, _) = (await on.observed())[TESTS]
        await on.memory.commands.forget([fact.id], [fact.owner])
        on.repository.commit("something else")
        await on.seen()
        assert TESTS not in await on.observed() and VITEST in await on.observed()
        (other, _) = (await on.observed())[VITEST]
        assert other.state is State.ACTIVE
        assert not any(each.origin is Origin.FILE for each in await on.memory.journal.shared(other.owner))


async def test_one_file_does_not_crowd_out_the_rest(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        targets = "test lint check format build release docs bench e2e migrate"
        on.repository.write("Makefile", "".join(f"{name}:\n\techo {name}\n\n" for name in targets.split()))
        on.repository.commit("make: much")
        await on.seen()
        assert (await on.say(ASK)).count("project file:") == 3


async def test_it_can_be_switched_off(tmp_path: Path) -> None:
    async with working(tmp_path, memory__checkouts__conventions=False) as on:
        await begun(on)
        assert await on.observed() == {}


async def test_what_another_project_shares_is_not_held_against_this_ones_files(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await begun(on)
        scope, at = Scope(user="local", project="loom"), datetime.now(UTC)
        session = Session("s", "s", scope, "bench", at, at)
        arrival = Arrival(scope, RequestKind.MAIN, "bench", "", at, checkout=str(on.repository.root))
        said = "We use jest for the tests."
        own, shared = fact(said, owner=scope.owners()[-1]), fact(said, owner="up:/local/other")
        marks = await on.feature.marks(session, arrival, [own, shared], 10.0)
        assert "the checkout says otherwise" in marks[own.id].words
        assert shared.id not in marks
