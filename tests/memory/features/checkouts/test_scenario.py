"""Three branches, a merge, a revert and a rename in a real repository: who knows what, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.memory.features.checkouts.working import Working, working

QUEUE = "We decided to keep the retry queue in src/queue.py on port 7100."
CACHE = "We decided to use Redis for the session cache."
ASK_QUEUE = "Where does the retry queue live, and on which port?"
ASK_CACHE = "Which cache do we use for the sessions?"


def on_page(told: str) -> list[str]:
    """The lines of the page that was added."""
    page = told.partition("<memory-page>")[2].partition("</memory-page>")[0]
    return [line for line in page.splitlines() if line.startswith("- ")]


async def learnt_on_two_branches(on: Working) -> None:
    repository = on.repository
    repository.checkout("retry", new=True)
    await on.say(QUEUE)
    repository.write(
        "src/queue.py", (repository.root / "src/queue.py").read_text() + "\n\ndef retry(job):\n    return job\n"
    )
    repository.commit("queue: retry")
    await on.seen()
    repository.checkout("main")
    repository.checkout("cache", new=True)
    assert "7100" not in await on.say(CACHE), "a branch that has just begun is told from others at once"
    repository.write("src/session.py", "class SessionStore:\n    url = 'redis:'\n")
    repository.commit("session: keep it in Redis")
    await on.seen()


async def test_what_is_learnt_on_a_branch_is_known_on_it_and_its_children_alone(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await learnt_on_two_branches(on)
        on.repository.checkout("retry")
        on.repository.checkout("retry-twice", new=True)
        assert "port 7100. (" in await on.say(ASK_QUEUE)
        on.repository.commit("a child goes on")
        await on.seen()
        assert "port 7100. (" in await on.say(f"{ASK_QUEUE} Tell me again.")
        assert "Redis" not in await on.say(ASK_CACHE)
        on.repository.checkout("main")
        assert "7100" not in await on.say(f"{ASK_QUEUE} Say it on main.")
        on.repository.checkout("cache")
        assert "Redis" in await on.say(f"{ASK_CACHE} Tell me again.")
        assert "7100" not in await on.say(f"{ASK_QUEUE} Say it here.")


async def test_what_was_said_later_on_a_branch_is_told_there_alone(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say("The retry queue listens on port 7100.", tools=True)
        on.repository.checkout("retry", new=True)
        await on.say(
            "The job hangs since the ops people put the retry queue on 7200, add a timeout please.", tools=True
        )
        on.repository.commit("queue: wait no longer")
        await on.seen()
        assert "7200" in await on.say("Write a smoke test that talks to the retry queue.", tools=True)
        on.repository.checkout("main")
        await on.seen()
        told = await on.say("Write a smoke test that talks to the retry queue, on main.", tools=True)
        assert "7100" in told and "7200" not in told


async def test_a_merge_makes_it_the_projects_and_a_revert_takes_that_back(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await learnt_on_two_branches(on)
        on.repository.checkout("main")
        on.repository.git("merge", "-q", "--no-ff", "-m", "Merge retry", "retry")
        await on.seen()
        assert on_page(await on.say(ASK_QUEUE)) == [f"- {QUEUE}"]
        assert "Redis" not in await on.say(ASK_CACHE)
        on.repository.git("revert", "--no-edit", "-m", "1", "HEAD")
        await on.seen()
        told = await on.say(f"{ASK_QUEUE} And now?")
        assert on_page(told) == [] and "learnt on branch retry, merged and reverted since" in told
        on.repository.git("revert", "--no-edit", "HEAD")
        await on.seen()
        assert on_page(await on.say(f"{ASK_QUEUE} And at last?")) == [f"- {QUEUE}"]
        on.repository.write("src/queue.py", "PORT = 7300\n")
        await on.seen()
        await on.seen()
        [line] = on_page(await on.say(f"{ASK_QUEUE} And after that?"))
        assert line.startswith(f"- {QUEUE} (gone since")


async def test_what_was_learnt_on_a_branch_that_is_dropped_is_marked_and_fades(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await learnt_on_two_branches(on)
        on.repository.checkout("main")
        on.repository.git("branch", "-q", "-D", "cache")
        await on.seen()
        assert "Redis for the session cache. (learnt on branch cache, dropped since)" in await on.say(ASK_CACHE)


async def test_a_branch_and_a_file_may_be_renamed(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await learnt_on_two_branches(on)
        on.repository.git("branch", "-q", "-m", "retry", "retry-queue")
        on.repository.checkout("retry-queue")
        on.repository.git("mv", "src/queue.py", "src/jobs.py")
        on.repository.commit("queue: call it jobs")
        await on.seen()
        told = await on.say(ASK_QUEUE)
        assert "moved since" in told and "now in src/jobs.py" in told
        (_, learnt) = (await on.facts())[QUEUE]
        assert learnt.checkout.branch == "retry-queue"
        on.repository.checkout("main")
        await on.seen()
        assert "7100" not in await on.say(f"{ASK_QUEUE} Say it on main.")


async def test_worktrees_share_what_is_learnt_and_each_has_its_own_branch(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await learnt_on_two_branches(on)
        beside = tmp_path / "beside"
        on.repository.git("worktree", "add", "-q", str(beside), "retry")
        await on.seen(beside)
        assert "port 7100. (" in await on.say(ASK_QUEUE, beside)
        assert "7100" not in await on.say(f"{ASK_QUEUE} Say it in the first one.")


async def test_what_is_said_on_a_branch_ends_nothing_that_holds_on_another(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say("We decided to use PostgreSQL 15 for the billing service.")
        on.repository.checkout("newer", new=True)
        await on.say("We decided to switch from PostgreSQL 15 to PostgreSQL 17 for the billing service.")
        on.repository.commit("go on")
        on.repository.checkout("main")
        await on.seen()
        told = await on.say("Which PostgreSQL does the billing service use?")
        assert "PostgreSQL 15" in told and "PostgreSQL 17" not in told


async def test_how_somebody_works_holds_on_every_branch(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        on.repository.checkout("retry", new=True)
        await on.say("Remember: always write the commit messages in English.")
        on.repository.commit("go on")
        on.repository.checkout("main")
        await on.seen()
        assert "English" in await on.say("Write a commit message for this change.")


async def test_what_is_gone_changed_or_contradicted_is_marked(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await on.say("The function drain_jobs takes a limit and drains the queue.")
        await on.say("We use jest for the unit tests of the queue.")
        await on.say("The queue listens on port 7100.")
        assert (
            "jest for the unit tests of the queue. (the checkout says otherwise: package.json has vitest)"
            in await on.say("Which tool do we use for the unit tests of the queue?")
        )
        on.repository.write("src/queue.py", "PORT = 7200\n")
        await on.seen()
        await on.say("Is there a function that drains the queue?")
        await on.settle()
        told = await on.say("Tell me which function drains the queue.")
        assert "gone since" in told and "drain_jobs" in told


async def test_no_row_of_it_is_left_when_a_memory_is_forgotten(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        on.repository.checkout("retry", new=True)
        await on.say(QUEUE)
        (fact, learnt) = (await on.facts())[QUEUE]
        assert learnt.checkout.staged and learnt.cites
        await on.memory.commands.forget([fact.id], [fact.owner])
        assert await on.memory.journal.learnt([fact.id]) == {}
        assert await on.memory.journal.branches(str(on.repository.root)) == []


async def test_where_it_is_switched_off_nothing_is_looked_at(tmp_path: Path) -> None:
    async with working(tmp_path, memory__checkouts__enabled=False) as on:
        on.repository.checkout("retry", new=True)
        await on.say(QUEUE)
        assert await on.facts() == {}
        on.repository.checkout("main")
        assert QUEUE in await on.say(ASK_QUEUE)


async def test_what_was_merged_holds_though_its_branch_goes_on(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        await learnt_on_two_branches(on)
        on.repository.checkout("main")
        on.repository.git("merge", "-q", "--no-ff", "-m", "Merge retry", "retry")
        await on.seen()
        on.repository.checkout("retry")
        on.repository.commit("the branch goes on")
        await on.seen()
        await on.say("We decided to keep the audit log in Postgres.")
        on.repository.checkout("main")
        assert "7100" in await on.say(ASK_QUEUE)
        assert "Postgres" not in await on.say("Where do we keep the audit log?")


async def test_a_branch_that_is_rebased_is_known_meanwhile_and_by_its_children(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with working(tmp_path) as on:
        await learnt_on_two_branches(on)
        on.repository.checkout("main")
        on.repository.write("NOTES.md", "Meanwhile.\n")
        on.repository.commit("meanwhile")
        on.repository.checkout("retry")
        monkeypatch.setenv("GIT_SEQUENCE_EDITOR", "sed -i s/^pick/edit/")
        on.repository.git("rebase", "-q", "-i", "main")
        assert "7100" in await on.say(ASK_QUEUE)
        await on.say("We decided to keep the audit log in Postgres.")
        found = await on.facts()
        assert {row.checkout.branch for text, (_, row) in found.items() if "audit" in text} == {"retry"}
        monkeypatch.setenv("GIT_EDITOR", "true")
        on.repository.git("rebase", "--continue")
        await on.seen()
        on.repository.checkout("retry-twice", new=True)
        on.repository.commit("a child goes on")
        await on.seen()
        assert "7100" in await on.say(f"{ASK_QUEUE} Tell me again.")


async def test_what_is_learnt_on_no_branch_is_not_the_projects(tmp_path: Path) -> None:
    async with working(tmp_path) as on:
        tree = tmp_path / "tree"
        on.repository.git("worktree", "add", "-q", "--detach", str(tree))
        (tree / "relay.py").write_text("RELAY = 1\n")
        on.repository.git("add", "-A", at=tree)
        on.repository.git("commit", "-q", "-m", "relay", at=tree)
        await on.say(QUEUE, tree)
        assert "7100" in await on.say(ASK_QUEUE, tree)
        await on.seen()
        assert "7100" not in await on.say(f"{ASK_QUEUE} Say it on main.")
        on.repository.git("merge", "-q", "--no-ff", "-m", "Merge it", on.repository.git("rev-parse", "HEAD", at=tree))
        await on.seen()
        assert "7100" in await on.say(f"{ASK_QUEUE} Tell me again.")
