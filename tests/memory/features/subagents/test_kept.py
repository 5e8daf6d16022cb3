"""What is kept of a sub-agent's work beside its report: where it worked, what it called, how often that was used."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from memory.research import ResearchOutcome, SourceKind, owners_of
from memory.scope import Scope
from tests import rooms
from tests.fake_provider import FakeProvider
from tests.memory.features.subagents.errands import (
    CHAT,
    PROMPT,
    READ,
    REPORT,
    REWORDED,
    called,
    forwarded,
    play,
    researched,
    result,
    send,
    spawn,
    user,
)
from tests.proxy.api.asking import asking
from tests.proxy.asking import script
from tests.proxy.wire.rounds.scripts import Call, Round, Say
from tests.running import Running, running

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REMOTE = '[remote "origin"]\n\turl = git@git.example.org:ada/loom.git\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with a remote, by which its project is named."""
    root = tmp_path / "work"
    (root / ".git/refs/heads").mkdir(parents=True)
    (root / "billing").mkdir()
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git/refs/heads/main").write_text(f"{COMMIT}\n")
    (root / ".git/config").write_text(REMOTE)
    (root / "billing/retry.py").write_text("max_attempts = 5\n")
    return root


def around(root: Path) -> dict[str, Any]:
    return {"role": "system", "content": f"You are an agent.\n<env>\nWorking directory: {root}\n</env>"}


async def ask(proxy: Running, messages: list[dict[str, Any]], **headers: str) -> None:
    """As a client that says where it works and names no project."""
    status, reply, _ = await proxy.post(CHAT, {"model": "m", "messages": messages}, **headers)
    assert status == 200, reply


@pytest.mark.parametrize("says", [True, False], ids=["child-says-where", "parent-says-where"])
async def test_the_commit_and_what_files_held_are_kept_where_a_remote_names_the_project(
    says: bool, upstream: FakeProvider, tmp_path: Path, checkout: Path
) -> None:
    settings = {"memory__research__folders": [str(checkout)], "memory__research__deadline_ms": 10_000}
    async with running(upstream, tmp_path / "home", **settings) as proxy:
        script(upstream, CHAT, Round((spawn("c1", PROMPT),)), Round((READ,)), Round((Say(REPORT),)))
        await ask(proxy, [around(checkout), user("How do we retry?")])
        child = [*([around(checkout)] if says else []), user(PROMPT)]
        await ask(proxy, child)
        await ask(proxy, [*child, called(READ), result("t1", "max_attempts = 5\n" * 40)])
        scope = Scope(None, "local", "git.example.org/ada/loom")
        [research] = await researched(proxy, scope)
        assert (research.commit, research.directory) == (COMMIT, str(checkout))
        [file] = [each for each in research.sources if each.kind is SourceKind.FILE]
        assert file.name == "billing/retry.py" and file.mark
        await asyncio.to_thread((checkout / "billing/retry.py").write_text, "max_attempts = 9\n")
        script(upstream, CHAT, Round((Say("Thanks."),)))
        await ask(proxy, [around(checkout), user(REWORDED)], x_parent_session_id="p")
        assert f"at commit {COMMIT[:10]}" in forwarded(upstream)
        assert "billing/retry.py (differs now)" in forwarded(upstream)


async def test_that_a_talk_was_reminded_is_counted_and_saves_nothing(proxy: Running, upstream: FakeProvider) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    script(upstream, CHAT, *[Round((Say("Five times."),))] * 2)
    talk = [user("What did the study of the billing service's retry policy find out?")]
    await send(proxy, talk, x_session_id="talk")
    assert research.handle in forwarded(upstream)
    assert "found: 6 lines · Retry policy: The billing service retries in `billing/retry.py`" in forwarded(upstream)
    memory = proxy.edge.memory
    assert memory is not None
    await send(proxy, [*talk, {"role": "assistant", "content": "Five times."}, user("Thanks!")], x_session_id="talk")
    await proxy.learned()
    await memory.preparation.settle()
    saved = await rooms.subagents(memory).library.saved([research])
    assert saved.hits == {"recalled": 1}
    assert (saved.tokens, saved.seconds) == (0, 0.0)


async def test_the_trail_tells_which_tools_were_called(proxy: Running, upstream: FakeProvider) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    told = await asking(proxy)("GET", f"api/research/{research.handle}?trail=1&project=loom")
    assert [part for each in told["trail"] for part in each["parts"]][1] == 'read {"path": "billing/retry.py"}'


async def test_a_child_that_came_to_nothing_is_kept_as_that(proxy: Running, upstream: FakeProvider) -> None:
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)), 500, Round((Say("Then not."),)), Round((Say("Thanks."),)))
    await send(proxy, [user("How do we retry?")])
    status, _, _ = await proxy.post(CHAT, {"model": "m", "messages": [user(PROMPT)]}, x_palimpsest_project="loom")
    assert status == 500
    failed = "Error: the sub-agent failed with 500 Internal Server Error"
    await send(proxy, [user("How do we retry?"), called(spawn("c1", PROMPT)), result("c1", failed)])
    [research] = await researched(proxy)
    assert (research.question, research.outcome, research.reports) == (PROMPT, ResearchOutcome.CUT, ())
    # Nobody is told that this was answered.
    await send(proxy, [user(REWORDED)], x_parent_session_id="p")
    assert forwarded(upstream) == REWORDED
    memory = proxy.edge.memory
    assert memory is not None
    assert await rooms.subagents(memory).library.search("retry policy", owners_of(Scope(None, "local", "loom")))


async def test_of_two_in_the_background_that_never_passed_each_report_is_kept(
    proxy: Running, upstream: FakeProvider
) -> None:
    other, found = "Find out which migrations of the ledger cannot be rolled back.", "Migration 14 drops `due_on`. " * 3
    calls = [Call("c1", "spawn_agent", json.dumps({"message": PROMPT})),
             Call("c2", "spawn_agent", json.dumps({"message": other}))]  # fmt: skip
    wait = Call("w1", "wait_agent", json.dumps({"ids": ["019a-one", "019b-two"]}))
    script(upstream, CHAT, Round(tuple(calls)), Round((wait,)), *[Round((Say("So it is."),))] * 2)
    talk = [user("Look at both.")]
    await send(proxy, talk)
    talk += [called(*calls), *(result(call.id, json.dumps({"agent_id": agent, "nickname": "Kim"}))
                               for call, agent in zip(calls, ("019a-one", "019b-two"), strict=True))]  # fmt: skip
    await send(proxy, talk)
    done = {"status": {"019b-two": {"completed": found}, "019a-one": {"completed": REPORT}}, "timed_out": False}
    talk += [called(wait), result("w1", json.dumps(done))]
    await send(proxy, talk)
    told = {"agent_path": "019a-one", "status": {"completed": REPORT}}
    note = f"<subagent_notification>\n{json.dumps(told)}\n</subagent_notification>"
    await send(proxy, [*talk, {"role": "assistant", "content": "So it is."}, user(note)])
    kept = {each.question: each for each in await researched(proxy)}
    assert {each.outcome for each in kept.values()} == {ResearchOutcome.UNSEEN}
    assert kept[PROMPT].reports == (REPORT.strip(),)
    assert kept[other].reports == (found.strip(),)


async def test_a_child_that_is_handed_its_parents_history_is_asked_what_its_own_call_says(
    proxy: Running, upstream: FakeProvider
) -> None:
    other = "Find out which migrations of the ledger cannot be rolled back, and what each of them drops."
    calls = [spawn("v1", PROMPT, tool="spawn_agent"), spawn("v2", other, tool="spawn_agent")]
    talk = [user("Find out how all of it works."), called(*calls)]
    script(upstream, CHAT, Round(tuple(calls)), *[Round((Say(REPORT),))] * 2)
    await send(proxy, talk[:1], x_session_id="root")
    first = [*talk, result("v1", "aborted")]
    second = [*talk, result("v1", '{"agent_id": "kid"}'), result("v2", "aborted")]
    for name, history in (("one", first), ("two", second)):
        await send(proxy, history, x_session_id=name, x_parent_session_id="root")
    kept = await researched(proxy)
    assert [(each.question, each.call) for each in kept] == [(PROMPT, "v1"), (other, "v2")]


async def test_of_two_reports_that_are_alike_both_are_kept(proxy: Running, upstream: FakeProvider) -> None:
    same = "\n".join(f"### Heading {number} of every review that was ever written here" for number in range(8))
    prompts = [f"Review the code quality of task {number}, and say what is wrong with it." for number in (1, 2)]
    reports = [
        f"{same}\nTask {number} leaks a file handle in src/part_{number}.py, line {number}0." for number in (1, 2)
    ]
    calls = [spawn(f"c{number}", prompt) for number, prompt in enumerate(prompts)]
    back = [result(call.id, report) for call, report in zip(calls, reports, strict=True)]
    script(upstream, CHAT, Round((Say("Well."),)))
    await send(proxy, [user("Review both."), called(*calls), *back])
    assert {each.question: each.report for each in await researched(proxy)} == dict(zip(prompts, reports, strict=True))
