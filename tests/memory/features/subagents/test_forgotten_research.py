"""A research that a person has had forgotten leaves nothing behind, and takes nothing along that is not its own."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from memory.ports import StoreError
from memory.research import Research
from memory.scope import Scope
from memory.stores import research as research_store
from tests import rooms
from tests.fake_provider import FakeProvider
from tests.memory.features.subagents.errands import (
    CHAT,
    PROMPT,
    READ,
    REPORT,
    called,
    play,
    researched,
    result,
    send,
    spawn,
    stored,
    user,
)
from tests.proxy.asking import Client, person, script
from tests.proxy.wire.rounds.scripts import PATHS, Call, Round, Say
from tests.running import Running, running
from tests.sparse_files import read_written

OTHER = "Find out which migrations of the ledger cannot be rolled back, and what each of them drops."
TRACES = (b"billing", b"base_delay_ms", b"retry policy", b"Study the retry")


async def journaled(proxy: Running) -> str:
    """Every message that the journal can give back, unpacked."""
    memory = proxy.edge.memory
    assert memory is not None
    rows = await memory.journal._db.read(lambda c: c.execute("SELECT body FROM messages").fetchall())
    return "\n".join(zlib.decompress(row["body"]).decode() for row in rows)


async def left(proxy: Running) -> list[bytes]:
    """Which traces are still somewhere: in a file of the journal, or in a message that is packed there."""
    memory = proxy.edge.memory
    assert memory is not None
    files = await asyncio.to_thread(stored, memory.home)
    index = [read_written(path) for path in memory.home.rglob("*") if path.is_file() and "journal" not in path.name]
    everything = b"\n".join([files, (await journaled(proxy)).encode(), *index]).lower()
    return [trace for trace in TRACES if trace.lower() in everything]


async def forget(proxy: Running, research: Research) -> None:
    memory = proxy.edge.memory
    assert memory is not None
    await proxy.learned()
    await rooms.subagents(memory).eraser.forget(research)
    memory.session_matcher.live_sessions.forget()
    await proxy.learned()


async def test_the_question_goes_out_of_the_call_that_sent_it(proxy: Running, upstream: FakeProvider) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    assert await left(proxy) == list(TRACES)
    await forget(proxy, research)
    assert await left(proxy) == []
    # What else was said in that talk is there, and the call is still one.
    told = await journaled(proxy)
    assert "How do we retry?" in told and "It retries five times." in told and '"forgotten' in told
    assert await researched(proxy) == []


@pytest.mark.parametrize("tries", [1, 3])
async def test_an_exchange_that_comes_in_between_keeps_nothing_of_it(
    proxy: Running, upstream: FakeProvider, monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    monkeypatch.setattr(research_store, "TRIES", tries)
    await play(proxy, upstream)
    [research] = await researched(proxy)
    memory = proxy.edge.memory
    assert memory is not None
    write, between = memory.journal._db.write, ["It also says: "]

    async def late(work: Any, *, anywhere: bool = False) -> Any:
        if "_forget_found" in work.__qualname__ and between:
            script(upstream, CHAT, Round((Say("Right."),)))
            history = [user("How do we retry?"), called(spawn("c1", PROMPT))]
            await send(proxy, [*history, result("c1", f"<task_result>\n{between.pop()}{REPORT}</task_result>")])
        return await write(work, anywhere=anywhere)

    monkeypatch.setattr(memory.journal._db, "write", late)
    await forget(proxy, research)
    assert not between
    assert await left(proxy) == []


@pytest.mark.parametrize("tries", [1, 3])
async def test_a_use_that_is_counted_in_between_takes_its_session_along(
    proxy: Running, upstream: FakeProvider, monkeypatch: pytest.MonkeyPatch, tries: int
) -> None:
    monkeypatch.setattr(research_store, "TRIES", tries)
    await play(proxy, upstream)
    script(upstream, CHAT, Round((Say(f"It was found before:\n{REPORT}"),)))
    await send(proxy, [user("What is known?")], x_session_id="elsewhere")
    [research] = await researched(proxy)
    memory = proxy.edge.memory
    assert memory is not None
    rows = await memory.journal._db.read(lambda c: c.execute("SELECT id, key FROM sessions").fetchall())
    [session] = [row["id"] for row in rows if row["key"].endswith(":elsewhere")]
    write, uses = memory.journal._db.write, [session]

    async def late(work: Any, *, anywhere: bool = False) -> Any:
        if "_forget_found" in work.__qualname__ and uses:
            await memory.journal.use_research([research.id], uses.pop(), "given", research.ended, 100)
        return await write(work, anywhere=anywhere)

    monkeypatch.setattr(memory.journal._db, "write", late)
    await forget(proxy, research)
    assert await left(proxy) == []
    await memory.journal.use_research([research.id], session, "given", research.ended, 100)
    assert await memory.journal.uses_of_research([research.id]) == []


async def test_a_client_that_sends_its_history_again_brings_nothing_back(
    proxy: Running, upstream: FakeProvider
) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    await forget(proxy, research)
    script(upstream, CHAT, Round((Say("Twice an hour."),)))
    history = [
        user("How do we retry?"),
        called(spawn("c1", PROMPT)),
        result("c1", f"<task_result>\n{REPORT}</task_result>"),
    ]
    sent = [*history, {"role": "assistant", "content": "It retries five times."}, user("And how often?")]
    await send(proxy, sent)
    # The client's own words go on to the model as they are; memory takes nothing of them.
    assert orjson.loads(upstream.last.body)["messages"][: len(history)] == history
    assert await researched(proxy) == []
    assert await left(proxy) == []


@pytest.mark.parametrize("path", PATHS)
async def test_of_two_that_were_sent_at_once_the_other_stays(path: str, proxy: Running, upstream: FakeProvider) -> None:
    calls = (spawn("c1", PROMPT), spawn("c2", OTHER, "Look at the migrations"))
    both = Round((Say("I send two."), *calls))
    parent = Client(proxy, path, session="parent")
    script(upstream, path, both, Round((Say(REPORT),)), Round((Say("Migration 14 drops the column `due_on`. " * 3),)))
    await parent.ask(person(path, "How do we retry, and what of the ledger?"))
    parent.heard(both)
    for name, prompt in (("one", PROMPT), ("two", OTHER)):
        await Client(proxy, path, session=name).ask(person(path, prompt))
    script(upstream, path, Round((Say("Well."),)))
    await parent.ask(*came_back(path, {"c1": REPORT, "c2": "Migration 14 drops the column `due_on`. " * 3}))
    every = await researched(proxy)
    mine = next(each for each in every if each.question == PROMPT)
    await forget(proxy, mine)
    assert await left(proxy) == []
    [other] = await researched(proxy)
    assert other.question == OTHER and "due_on" in other.report
    told = await journaled(proxy)
    assert OTHER in told and "I send two." in told


async def test_of_two_in_one_call_the_other_stays(proxy: Running, upstream: FakeProvider) -> None:
    arguments = {"tasks": [{"prompt": PROMPT, "label": "Study the retry policy"}, {"prompt": OTHER, "label": "Ledger"}]}
    call = Call("c1", "use_subagents", orjson.dumps(arguments).decode())
    script(upstream, CHAT, Round((call,)), Round((Say(REPORT),)), Round((Say("Migration 14 drops `due_on`. " * 3),)))
    await send(proxy, [user("Look at both.")])
    await send(proxy, [user(PROMPT)])
    await send(proxy, [user(OTHER)])
    every = await researched(proxy)
    await forget(proxy, next(each for each in every if each.question == PROMPT))
    assert await left(proxy) == []
    assert OTHER in await journaled(proxy)
    assert [each.question for each in await researched(proxy)] == [OTHER]


async def test_what_a_runtime_says_to_every_session_stays(proxy: Running, upstream: FakeProvider) -> None:
    system = {"role": "system", "content": "You are a diligent worker in the folder of the loom."}
    script(upstream, CHAT, Round((Say(REPORT),)), Round((Say("Migration 14 drops `due_on`. " * 3),)))
    await send(proxy, [system, user(PROMPT)], x_parent_session_id="p")
    await send(proxy, [system, user(OTHER)], x_parent_session_id="p")
    every = await researched(proxy)
    await forget(proxy, next(each for each in every if each.question == PROMPT))
    assert await left(proxy) == []
    assert "diligent worker" in await journaled(proxy)
    assert [each.question for each in await researched(proxy)] == [OTHER]


async def test_what_it_sent_out_itself_goes_with_it(proxy: Running, upstream: FakeProvider) -> None:
    inner = "Read the billing module from its first to its last line and tell all the constants in it."
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)), Round((spawn("c2", inner),)), Round((Say(REPORT),)))
    await send(proxy, [user("How?")])
    await send(proxy, [user(PROMPT)])
    await send(proxy, [user(inner)])
    outer = (await researched(proxy))[0]
    await forget(proxy, outer)
    assert await researched(proxy) == []
    assert await left(proxy) == []


async def test_a_note_of_one_that_worked_in_the_background_goes_too(proxy: Running, upstream: FakeProvider) -> None:
    call = spawn("toolu_9", PROMPT, tool="Agent")
    parent = [user("How do we go on?")]
    script(upstream, CHAT, Round((call,)), Round((Say("It runs."),)), Round((Say(REPORT),)), Round((Say("So."),)))
    await send(proxy, parent)
    parent += [called(call), result("toolu_9", "Async agent launched successfully. agentId: a0755 (running)")]
    await send(proxy, parent)
    await send(proxy, [user(PROMPT)])
    note = f"<task-notification><tool-use-id>toolu_9</tool-use-id><result>\n{REPORT}\n</result></task-notification>"
    await send(proxy, [*parent, {"role": "assistant", "content": "It runs."}, user(note)])
    [research] = await researched(proxy)
    await forget(proxy, research)
    assert await left(proxy) == []
    assert "How do we go on?" in await journaled(proxy)


async def test_one_that_never_passed_goes_out_of_its_parents_talk(proxy: Running, upstream: FakeProvider) -> None:
    script(upstream, CHAT, Round((Say("Good."),)))
    framed = json.dumps({"text": REPORT, "iterations": 3, "finishReason": "stop"})
    await send(
        proxy,
        [
            user("How do we go on?"),
            called(spawn("c1", PROMPT), READ),
            result("c1", framed),
            result("t1", "max_attempts = 5"),
        ],
    )
    [research] = await researched(proxy)
    await forget(proxy, research)
    assert await left(proxy) == [b"billing"]  # The path that another call read.
    assert "max_attempts = 5" in await journaled(proxy)


async def test_the_same_question_in_another_talk_goes_with_it(proxy: Running, upstream: FakeProvider) -> None:
    await play(proxy, upstream)
    script(upstream, CHAT, Round((spawn("c9", PROMPT),)), Round((Say(REPORT),)))
    await send(proxy, [user("Once more, please.")])
    await send(proxy, [user(PROMPT)], x_session_id="again")
    first, *_ = await researched(proxy)
    await forget(proxy, first)
    assert await researched(proxy, Scope(None, "local", "loom")) == []
    assert await left(proxy) == []


async def test_a_reply_that_it_stood_for_goes_with_it(upstream: FakeProvider, tmp_path: Path) -> None:
    async with running(upstream, tmp_path / "home", memory__research__answer=0.95) as proxy:
        await play(proxy, upstream)
        [research] = await researched(proxy)
        reply = await send(proxy, [user(PROMPT.replace(" of the ", "  of the "))], x_parent_session_id="p")
        assert b"base_delay_ms" in reply
        assert len(await researched(proxy)) == 2
        await forget(proxy, research)
        assert await researched(proxy) == []
        assert await left(proxy) == []


def came_back(path: str, reports: dict[str, str]) -> list[dict[str, Any]]:
    """The reports as a client of a format sends them back."""
    if path == PATHS[2]:
        results = [{"type": "tool_result", "tool_use_id": call, "content": text} for call, text in reports.items()]
        return [{"role": "user", "content": results}]
    if path == PATHS[1]:
        return [{"type": "function_call_output", "call_id": call, "output": text} for call, text in reports.items()]
    return [result(call, text) for call, text in reports.items()]


async def test_where_the_index_is_down_all_the_rest_is_done_and_it_is_told(
    proxy: Running, upstream: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = proxy.edge.memory
    assert memory is not None
    await play(proxy, upstream)
    [research] = await researched(proxy)
    await proxy.learned()
    damaged = memory.home / "aside" / "00000000000000000001-e1.broken"
    await asyncio.to_thread(damaged.parent.mkdir, exist_ok=True)
    await asyncio.to_thread(damaged.write_bytes, b"billing")

    async def down(ids: Sequence[str]) -> None:
        raise StoreError("the index cannot be reached")

    with monkeypatch.context() as without:
        without.setattr(memory.recall.index, "delete", down)
        with pytest.raises(StoreError, match="cannot be reached"):
            await rooms.subagents(memory).eraser.forget(research)
    assert await researched(proxy) == [] and not damaged.exists()
    memory.session_matcher.live_sessions.forget()
    await proxy.learned()
    assert await left(proxy) == []
