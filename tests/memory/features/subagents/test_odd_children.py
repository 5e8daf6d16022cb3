"""Sub-agents that are resumed, fail, are cut off, or speak another format than what sent them: kept all the same."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from aiohttp import web

from memory.features.subagents import returned_reports
from memory.learning import reports
from memory.research import Delivery, ResearchOutcome
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
    researched,
    result,
    send,
    spawn,
    user,
)
from tests.proxy.asking import Client, person, script
from tests.proxy.wire.rounds.scripts import PATHS, Call, Round, Say
from tests.running import Running

MORE = "The queue consumer in billing/consumer.py has a policy of its own: 3 attempts, 1000 ms apart, no jitter."
SAID = {"role": "assistant", "content": REPORT}


async def test_one_that_is_resumed_has_a_report_for_each_time(proxy: Running, upstream: FakeProvider) -> None:
    again = Call("c2", "task", orjson.dumps({"resume": "a07", "prompt": "And what does the consumer do?"}).decode())
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)), Round((Say(REPORT),)), Round((again,)), Round((Say(MORE),)))
    parent = [user("How do we retry?")]
    await send(proxy, parent)
    child = [user(PROMPT)]
    await send(proxy, child, x_session_id="child")
    parent += [called(spawn("c1", PROMPT)), result("c1", REPORT)]
    await send(proxy, parent)
    await send(proxy, [*child, SAID, user("And what does the consumer do?")], x_session_id="child")
    script(upstream, CHAT, Round((Say("So."),)))
    await send(proxy, [*parent, called(again), result("c2", MORE)])
    [research] = await researched(proxy)
    assert research.reports == (REPORT.strip(), MORE)
    assert (research.outcome, research.delivery, research.requests) == (ResearchOutcome.FINISHED, Delivery.WHOLE, 2)
    # What was found out the second time is found, too.
    memory = proxy.edge.memory
    assert memory is not None
    [hit, *_] = await rooms.subagents(memory).library.search("attempts of the queue consumer", [research.owner])
    assert hit.research.id == research.id


@pytest.mark.parametrize("parent_path", PATHS)
@pytest.mark.parametrize("child_path", PATHS)
async def test_a_child_may_speak_another_format_and_have_another_model(
    parent_path: str, child_path: str, proxy: Running, upstream: FakeProvider
) -> None:
    sent = Round((spawn("c1", PROMPT),))
    script(upstream, parent_path, sent)
    parent = Client(proxy, parent_path, session="parent", more={"model": "large"})
    await parent.ask(person(parent_path, "How do we retry?"))
    script(upstream, child_path, Round((Say(REPORT),)))
    child = Client(proxy, child_path, session="child", more={"model": "small"})
    await child.ask(person(child_path, PROMPT))
    [research] = await researched(proxy)
    # Gemini's paths say which model is asked for; its bodies do not.
    model = child_path.rpartition("/models/")[2].partition(":")[0] if "/models/" in child_path else "small"
    assert (research.question, research.report, research.model) == (PROMPT, REPORT.strip(), model)
    assert research.call == "c1" and research.parent != research.session
    # And a third format is given what it found.
    other = PATHS[(PATHS.index(child_path) + 1) % len(PATHS)]
    script(upstream, other, Round((Say("Thanks."),)))
    await Client(proxy, other, session="next", headers={"x_parent_session_id": "p"}).ask(person(other, REWORDED))
    assert b"`base_delay_ms` defaults to 250" in upstream.last.body


async def test_one_that_fails_is_kept_with_what_it_read_and_tells_nobody_that_it_knows(
    proxy: Running, upstream: FakeProvider
) -> None:
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)), Round((READ,)), 500, Round((Say("It failed."),)))
    parent = [user("How do we retry?")]
    await send(proxy, parent)
    child = [user(PROMPT)]
    await send(proxy, child)
    body = {"model": "m", "messages": [*child, called(READ), result("t1", "max_attempts = 5\n" * 40)]}
    status, _, _ = await proxy.post(CHAT, body, x_palimpsest_project="loom")
    assert status == 500
    await send(
        proxy,
        [*parent, called(spawn("c1", PROMPT)), result("c1", "API Error: 500 the agent was terminated early, twice.")],
    )
    [research] = await researched(proxy)
    assert research.outcome is ResearchOutcome.CUT and research.reports == ()
    memory = proxy.edge.memory
    assert memory is not None
    trail = await rooms.subagents(memory).library.trail(research)
    assert [call.name for message in trail for call in message.calls] == ["read"]
    script(upstream, CHAT, Round((Say("I look."),)))
    await send(proxy, [user(REWORDED)], x_parent_session_id="p")
    assert forwarded(upstream) == REWORDED


async def test_one_that_fails_and_goes_on_is_whole(proxy: Running, upstream: FakeProvider) -> None:
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)), 503, Round((Say(REPORT),)))
    await send(proxy, [user("How do we retry?")])
    status, _, _ = await proxy.post(CHAT, {"model": "m", "messages": [user(PROMPT)]}, x_palimpsest_project="loom")
    assert status == 503
    await send(proxy, [user(PROMPT)])
    [research] = await researched(proxy)
    assert (research.outcome, research.report, research.call) == (ResearchOutcome.FINISHED, REPORT.strip(), "c1")


async def test_a_report_that_broke_off_is_none(proxy: Running, upstream: FakeProvider) -> None:
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)))
    await send(proxy, [user("How do we retry?")])

    async def broken(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        delta = {"id": "c", "choices": [{"index": 0, "delta": {"content": "It retries"}, "finish_reason": None}]}
        await response.write(b"data: " + orjson.dumps(delta) + b"\n\n")
        await response.write_eof()
        return response

    upstream.answer = broken
    await send_streamed(proxy)
    [research] = await researched(proxy)
    assert research.outcome is ResearchOutcome.CUT and research.reports == ()


async def send_streamed(proxy: Running) -> None:
    body = {"model": "m", "messages": [user(PROMPT)], "stream": True}
    await proxy.post(CHAT, body, x_palimpsest_project="loom")


async def test_what_came_back_is_read_beside_the_loop(
    proxy: Running, upstream: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers: set[str] = set()

    def noted(read: Callable[..., Any]) -> Callable[..., Any]:
        def reading(*given: Any) -> Any:
            readers.add(read.__name__ if threading.current_thread() is not threading.main_thread() else "the loop")
            return read(*given)

        return reading

    for read in (reports.delivery, reports.fails, reports.unframed, reports.report_of):
        monkeypatch.setattr(returned_reports, read.__name__, noted(read))
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)), Round((Say(REPORT),)), Round((Say("So."),)))
    parent = [user("How do we retry?")]
    await send(proxy, parent)
    await send(proxy, [user(PROMPT)], x_session_id="child")
    assert await researched(proxy)
    await send(proxy, [*parent, called(spawn("c1", PROMPT)), result("c1", "Another report, with nothing in common.")])
    assert await researched(proxy)
    assert {"delivery", "fails"} <= readers and "the loop" not in readers
