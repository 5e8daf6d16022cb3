"""The bench's own parts: the client hears the end of a reply, the relay passes bytes on, the reckoning is right."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.bench import bare_relay, provider
from tests.bench.asking import SCENARIOS, Loops
from tests.bench.beside_pages import slowed
from tests.bench.client import Broken, Connection
from tests.bench.load import CLIENTS, LEAST_SECONDS, OURS, Cell, Measured, Sample, Weight, measure, planned, summary
from tests.bench.planted import (
    ALONE,
    FIRST,
    PLOTS,
    REMEMBERED,
    mark_of,
    marked,
    planted,
    plot_of,
    question,
    told_to,
    verdict,
    watchword,
)
from tests.bench.processes import ROOT, Process, free_port
from tests.bench.report import FLOORS, SMALL, against, floors, markdown
from tests.bench.seed import facts, questions
from tests.bench.sessions import Result
from tests.bench.shapes import AT_ONCE, LOOP, loop
from tests.bench.targets import LITELLM, Target
from tests.bench.workload import Workload


def test_the_rival_that_is_measured_is_the_one_whose_report_stands_in_the_docs() -> None:
    report = (ROOT / "docs" / "conformance.md").read_text(encoding="utf-8")
    assert f"| LiteLLM {LITELLM} |" in report and f"- LiteLLM {LITELLM}: " in report


NOBODY = {"first_byte_ms": {"p50": 10.0}, "piece_late_ms": {"p50": 1.0}}
SOMEBODY = {"first_byte_ms": {"p50": 30.0}, "piece_late_ms": {"p50": 12.0}, "pages": 9, "pages_failed": 0}


@pytest.mark.parametrize(
    ("somebody", "stopped", "faults"),
    [
        ({}, 0, []),
        ({"pages_failed": 2}, 0, ["2 of 9 pages did not come"]),
        ({"pages": 0}, 0, ["no page was opened"]),
        ({}, 1, ["the server ended with 1"]),
        ({"piece_late_ms": None}, 0, ["piece_late_ms: nothing was measured"]),
        ({"first_byte_ms": {"p50": 41.0}}, 0, ["first_byte_ms: 41.0 in the median while somebody looks, 10.0 while"]),
        ({"piece_late_ms": {"p50": 14.0}}, 0, ["piece_late_ms: 14.0 in the median while somebody looks, 1.0 while"]),
    ],
)
def test_pages_that_slow_streams_are_told(somebody: dict[str, Any], stopped: int, faults: list[str]) -> None:
    told = {"nobody_looks": NOBODY, "somebody_looks": {**SOMEBODY, **somebody}, "stopped_with": stopped}
    found = slowed(told, 3.0)
    assert len(found) == len(faults) and all(map(str.startswith, found, faults))


@asynccontextmanager
async def served(app: web.Application) -> AsyncIterator[int]:
    """An application on a free loopback port."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("stream", [True, False])
async def test_a_reply_comes_through_the_bare_relay_as_the_provider_gave_it(stream: bool) -> None:
    _, body = next(Workload(2_000, stream=stream).session())
    async with (
        served(provider.make_app(0)) as upstream,
        served(bare_relay.make_app(f"http://127.0.0.1:{upstream}")) as port,
    ):
        replies = []
        for each in (upstream, port):
            connection = Connection(each)
            replies += [await connection.post("/v1/chat/completions", body, {"x-bench-tag": "t7"}) for _ in range(2)]
            await connection.close()
    assert {reply.status for reply in replies} == {200}
    assert all((b"[DONE]" in reply.body) is stream and b"t7" in reply.body for reply in replies)
    assert all(0 < reply.first <= reply.last for reply in replies)
    assert replies[0].header("content-type").startswith("text/event-stream" if stream else "application/json")


async def test_a_reply_that_is_cut_is_told_from_a_whole_one() -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"half")
        assert request.transport is not None
        request.transport.abort()
        return response

    app = web.Application()
    app.router.add_post("/", cut)
    async with served(app) as port:
        with pytest.raises(Broken):
            await Connection(port).post("/", b"", {})


async def test_a_connection_that_the_server_ended_while_it_rested_is_made_anew() -> None:
    ended = asyncio.Event()

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
        ended.set()

    server = await asyncio.start_server(once, "127.0.0.1", 0)
    connection = Connection(server.sockets[0].getsockname()[1])
    for _ in range(2):
        assert (await connection.post("/", b"", {})).status == 200
        await ended.wait()
        ended.clear()
        while connection.open:  # noqa: ASYNC110 (nobody is told of the end of a connection but who looks)
            await asyncio.sleep(0)
    await connection.close()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("size", [2_000, 40_000, 400_000])
def test_a_session_grows_around_the_size_that_was_asked_for(size: int) -> None:
    workload = Workload(size, stream=True)
    bodies = [body for _, body in workload.session()]
    assert 0.7 * size < sum(map(len, bodies)) / len(bodies) < 1.4 * size
    said = [json.loads(body)["messages"] for body in bodies]
    assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(said))
    assert next(workload.session())[1] != bodies[0]


def test_the_invented_facts_are_the_same_each_time_but_for_their_ids() -> None:
    assert [fact.text for fact in facts(50)] == [fact.text for fact in facts(50)]
    asked = questions()
    assert next(asked) != next(asked)


def test_what_a_target_adds_is_its_time_less_the_time_straight_to_the_provider_in_the_same_round() -> None:
    rows = _rows(lambda name, turn: {"direct": 10.0 * turn, "bare relay": 10.0 * turn + 1}.get(name, 10.0 * turn + 2))
    added = {row["target"]: row["added_first_p50_ms"] for row in rows}
    assert added == {"direct": 0, "bare relay": 1, "memory off": 2, "memory on": 2}


def test_a_floor_is_held_missed_or_without_evidence() -> None:
    times = {"direct": 1.0, "bare relay": 2.0, "memory off": 2.5, "litellm": 21.0}
    rows = _rows(lambda name, turn: times.get(name, 9.0), remembered=2, targets=(*OURS, "litellm"))
    told = {"machine": "here", "at": "now", "load": [1.0, 2.0], "facts": 10, "rounds": 3, "visit_seconds": 2.5}
    result: dict[str, Any] = {**told, "about": {}, "rows": rows}
    result["floors"] = floors(result)
    held = {floor["name"]: floor["held"] for floor in floors(result)}
    assert held["memory off, first byte at 2 KB, × the bare relay's"]
    assert held["first byte at 2 KB, × LiteLLM's"] is False, "8 of 20 ms"
    assert held["requests/s at 2 KB, 16 clients, × LiteLLM's"] is False
    assert held["RSS at start with what was seeded, MiB"]
    assert "**missed**" in markdown(result)
    sustained = next(floor for floor in result["floors"] if "drained" in floor["name"])
    assert sustained["held"] is None and sustained["fault"] == "no evidence (memory on: 3 s; litellm: 3 s)"


def test_a_floor_is_not_judged_by_what_is_no_evidence_or_was_not_measured() -> None:
    rows = _rows(lambda name, turn: {"direct": 1.0}.get(name, 9.0))
    told = {"machine": "here", "at": "now", "load": [1.0, 2.0], "facts": 10, "rounds": 3, "visit_seconds": 2.5}
    result: dict[str, Any] = {**told, "about": {}, "rows": rows}
    result["floors"] = floors(result)
    by_name = {floor["name"]: floor for floor in result["floors"]}
    assert by_name["first byte at 2 KB, × LiteLLM's"]["fault"] == f"not measured: {SMALL} 1 litellm"
    weight = by_name["RSS at start with what was seeded, MiB"]
    assert weight["held"] is None and "not remembered" in weight["fault"]
    assert "**50%: no evidence (50% not remembered, 0% because memory was late)**" in markdown(result)


def test_every_floor_is_of_a_scenario_that_is_measured() -> None:
    asked = {(scenario, clients) for floor in FLOORS for scenario, clients, _ in floor.rows}
    assert asked <= set(itertools.product(SCENARIOS, CLIENTS))


def test_a_request_counts_as_remembered_when_its_answer_stands_in_what_was_forwarded() -> None:
    texts = [fact.text for fact in planted()]
    assert len(set(texts)) == PLOTS
    asked = question(5)
    plot = 5 * 37
    assert str(FIRST + plot) in asked and watchword(FIRST + plot) in texts[plot]
    assert len({watchword(FIRST + place) for place in range(PLOTS)}) == PLOTS

    def told(*said: str) -> bytes:
        return verdict(marked(json.dumps({"messages": [{"content": each} for each in said]}).encode(), 5, 3))

    assert told(asked) == ALONE
    assert told(asked, texts[plot]) == told(texts[plot], asked) == REMEMBERED
    assert told(asked, texts[plot + 1]) == ALONE
    assert told(texts[plot + 1], asked, '"seed": 700', question(6)) == ALONE, "what others say is no mark"
    assert verdict(b"no question") == b""
    assert mark_of(marked(b"{}", 5, 3)) == (5, 3)


def test_a_person_asks_in_ever_other_words() -> None:
    asked = {question(number).replace(str(plot_of(number)), "") for number in range(PLOTS)}
    assert len(asked) > PLOTS / 4
    assert all(str(plot_of(number)) in question(number) for number in range(PLOTS))


def test_who_is_asked_is_who_was_told() -> None:
    users = [f"user{number}" for number in range(5)]
    owners = {watchword(FIRST + place): fact.owner for place, fact in enumerate(planted(users))}
    asked = range(7, 7 + 5)
    assert {told_to(number, users) for number in asked} == {*users}
    assert all(told_to(number, users) in owners[watchword(plot_of(number))] for number in asked)


def test_an_agents_loop_goes_on_as_the_provider_replies() -> None:
    asked = [*Loops().session()]
    assert [each.opening for each in asked] == [True, *[False] * (len(asked) - 1)]
    messages = json.loads(asked[-1].body)["messages"]
    results = [body for body in messages if body["role"] == "tool"]
    assert LOOP <= len(results) < LOOP + max(AT_ONCE) and len(asked) <= len(results) + 1
    calls = {call["id"]: call["function"] for body in messages for call in body.get("tool_calls") or ()}
    assert [body["tool_call_id"] for body in results] == [*calls] and not asked[-1].reply.calls
    assert all(isinstance(json.loads(call["arguments"]), dict) for call in calls.values())


def test_a_server_is_started_anew_in_the_middle_of_a_session() -> None:
    requests = SCENARIOS["cold start in a session of 400 KB"]()
    assert requests.restarts and [each.counted for each in requests.session()] == [False, False, False, True]


def test_what_tools_give_back_has_the_recorded_sizes() -> None:
    turns = [turn for number in range(300) for turn in loop(number)]
    sizes = sorted(len(each.text) for turn in turns for each in turn.heard if isinstance(each, Result))
    assert 350 < sizes[len(sizes) // 2] < 700 and 3_000 < sizes[len(sizes) * 9 // 10] < 10_200


async def test_the_provider_makes_the_calls_whose_results_come_next() -> None:
    first, second, *_ = Loops().session()
    async with served(provider.make_app(0)) as port:
        connection = Connection(port)
        reply = await connection.post("/v1/chat/completions", first.body, {})
        await connection.close()
    assert all(f'"{call.id}"'.encode() in reply.body and call.id.encode() in second.body for call in first.reply.calls)
    assert ALONE in reply.body


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_request_of_the_bench_asks_what_is_planted(name: str) -> None:
    requests = [*itertools.islice(SCENARIOS[name]().session(), 3)]
    assert requests and all(verdict(each.body) == ALONE for each in requests)


def test_a_visit_is_never_so_short_that_agents_hardly_begin() -> None:
    assert planned(10, 300, 3) == (3, 10)
    assert planned(10, 60, 3) == (2, 3)
    assert planned(32, 45, 3) == (1, LEAST_SECONDS)


def test_a_question_before_a_loop_is_told_apart_from_the_results() -> None:
    cell = Cell("tool loop of 20 results", 1)
    direct, mine = Sample([1.0] * 20, [2.0] * 20, [1.0]), Sample([3.0] * 20, [4.0] * 20, [21.0], seconds=1.0)
    direct.seconds = 1.0
    _, row = summary([_measured(cell, "direct", direct), _measured(cell, "memory on", mine)])
    assert (row["added_first_p99_ms"], row["added_opening_p50_ms"], row["requests"]) == (2, 20, 21)


async def test_a_target_that_dies_is_started_anew_once_and_its_cell_is_no_evidence(tmp_path: Path) -> None:
    class Dying(Target):
        def __init__(self, name: str, port: int) -> None:
            super().__init__(name, port, lambda: Process(["false"], tmp_path / "log"))
            self.starts = 0
            assert self.process is not None
            self.process.wait()

        def restart(self) -> None:
            self.starts += 1

    dying, cell = Dying("dying", free_port()), Cell("question of 2 KB", 1)
    async with served(provider.make_app(0)) as port:
        measured = await measure([Target("direct", port), dying], cell, 0.05, 3)
    direct, row = summary(measured)
    assert dying.starts == 1 and [sample.died for sample in measured[1].samples] == [True] * 3
    assert not against(direct) and against(row) == ["died"] and isnan(row["added_first_p50_ms"])


def test_the_rate_that_is_sustained_has_the_learning_in_it() -> None:
    cell = Cell("question of 2 KB", 1)
    sample = Sample([1.0] * 10, [2.0] * 10, seconds=2.0, drained=3.0, cpu_during=0.1, cpu_after=0.05)
    [row] = summary([_measured(cell, "direct", sample)])
    assert (row["requests_per_second"], row["sustained_per_second"]) == (5, 2)
    assert (row["cpu_during_ms"], row["cpu_after_ms"]) == (10, 5)


def _measured(cell: Cell, target: str, *samples: Sample) -> Measured:
    return Measured(cell, target, Weight(1.0, 90.0, 80.0), Weight(1.0, 260.0, 250.0), [*samples])


def _rows(
    milliseconds: Callable[[str, int], float], remembered: int = 1, targets: Sequence[str] = OURS
) -> list[dict[str, Any]]:
    """The summary of three rounds in which each target took as long as ``milliseconds`` says."""
    return summary(
        [
            _measured(
                Cell(scenario, clients),
                name,
                *(
                    Sample([one], [one + 1], seconds=1.0, asked=2, remembered=remembered)
                    for one in (milliseconds(name, turn) for turn in (1, 2, 3))
                ),
            )
            for scenario in SCENARIOS
            for clients in CLIENTS
            for name in targets
        ]
    )
