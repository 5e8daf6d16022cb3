"""Sub-agents through the real proxy: recognised, tied to what sent them, kept whole, and given to the next one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest
from aiohttp import web

from memory.research import Delivery, ResearchOutcome
from memory.scope import Scope
from tests import rooms
from tests.fake_provider import FakeProvider
from tests.memory.features.subagents.errands import (
    CHAT,
    PROMPT,
    READ,
    REPORT,
    REWORDED,
    SCOPE,
    called,
    forwarded,
    play,
    researched,
    result,
    send,
    spawn,
    stored,
    user,
)
from tests.proxy.asking import Client, person, script
from tests.proxy.wire.rounds.scripts import PATHS, Call, Round, Say, document
from tests.running import Running, running


async def test_a_child_is_tied_by_its_prompt_and_kept_whole(proxy: Running, upstream: FakeProvider) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    assert research.question == PROMPT
    assert research.report == REPORT.strip()
    assert research.description == "Study the retry policy"
    assert research.parent and research.parent != research.session
    assert research.outcome is ResearchOutcome.FINISHED
    assert research.delivery is Delivery.WHOLE
    assert [source.name for source in research.sources] == ["billing/retry.py"]
    assert research.requests == 2
    memory = proxy.edge.memory
    assert memory is not None
    trail = await rooms.subagents(memory).library.trail(research)
    assert [result.text for message in trail for result in message.results] == ["max_attempts = 5\n" * 40]


async def test_a_reworded_question_in_a_new_session_is_given_the_findings(
    proxy: Running, upstream: FakeProvider
) -> None:
    await play(proxy, upstream)
    await researched(proxy)
    script(upstream, CHAT, Round((Say("Thanks."),)), Round((Say("Thanks."),)))
    opening = [user(REWORDED)]
    await send(proxy, opening, x_parent_session_id="p")
    given = forwarded(upstream)
    assert given.startswith(REWORDED)
    assert "`base_delay_ms` defaults to 250" in given
    assert "<earlier-research>" in given and "memory_expand r:" in given
    # Made again byte for byte when the session goes on.
    later = [*opening, {"role": "assistant", "content": "Thanks."}, user("And the jitter?")]
    await send(proxy, later, x_parent_session_id="p")
    assert orjson.loads(upstream.last.body)["messages"][0]["content"] == given


async def test_another_question_and_another_project_bring_nothing(proxy: Running, upstream: FakeProvider) -> None:
    await play(proxy, upstream)
    await researched(proxy)
    asked = "Describe how the mobile application caches thumbnails on disk, and which class evicts them."
    script(upstream, CHAT, *[Round((Say("Yes."),))] * 3)
    await send(proxy, [user(asked)], x_parent_session_id="p")
    assert forwarded(upstream) == asked
    await send(proxy, [user(REWORDED)], project="other", x_parent_session_id="p")
    assert forwarded(upstream) == REWORDED
    await send(proxy, [user(REWORDED)], x_palimpsest_user="eve", x_parent_session_id="p")
    assert forwarded(upstream) == REWORDED


async def test_parallel_children_are_not_mixed_up(proxy: Running, upstream: FakeProvider) -> None:
    prompts = [f"Study module {name} and report on its public functions in detail." for name in ("alpha", "beta")]
    calls = tuple(spawn(f"c{n}", prompt, f"Study {n}") for n, prompt in enumerate(prompts))
    script(upstream, CHAT, Round(calls))
    await send(proxy, [user("Look at both.")])

    async def answer(request: web.Request) -> web.StreamResponse:
        asked = orjson.loads(upstream.last.body)["messages"][0]["content"]
        name = "alpha" if "alpha" in asked else "beta"
        said = f"Module {name} exports {name}_open and {name}_close, nothing else."
        return web.Response(body=document(CHAT, Round((Say(said),))), content_type="application/json")

    upstream.answer = answer
    for prompt in reversed(prompts):
        await send(proxy, [user(prompt)])
    found = await researched(proxy)
    assert len(found) == 2
    assert len({each.parent for each in found}) == 1
    for each in found:
        name = each.question.split()[2]
        assert f"{name}_open" in each.report
        assert each.call == ("c0" if name == "alpha" else "c1")


async def test_a_tool_that_nobody_knows_is_learnt_by_what_happens(proxy: Running, upstream: FakeProvider) -> None:
    call = Call("c1", "ask_the_scholar", orjson.dumps({"matter": PROMPT}).decode())
    script(upstream, CHAT, Round((call,)), Round((Say(REPORT),)))
    await send(proxy, [user("Look it up.")])
    await send(proxy, [user(PROMPT)])
    [research] = await researched(proxy)
    assert research.tool == "ask_the_scholar"
    # The next one does not pass through the proxy: what its parent got back is known to be a report.
    other = "Find out which migrations of the ledger cannot be rolled back, and why not."
    again = Call("c2", "ask_the_scholar", orjson.dumps({"matter": other}).decode())
    script(upstream, CHAT, Round((Say("Aha."),)))
    await send(proxy, [user("Again."), called(again), result("c2", "Migration 14 drops a column, so it cannot. " * 3)])
    found = await researched(proxy)
    assert [each.outcome for each in found] == [ResearchOutcome.FINISHED, ResearchOutcome.UNSEEN]
    assert found[1].question == other
    assert "Migration 14" in found[1].report


async def test_a_child_that_never_passed_is_known_by_its_report(proxy: Running, upstream: FakeProvider) -> None:
    script(upstream, CHAT, Round((Say("Good."),)))
    call = spawn("c1", PROMPT)
    framed = orjson.dumps({"text": REPORT, "iterations": 3, "finishReason": "stop"}).decode()
    await send(proxy, [user("How do we retry?"), called(call), result("c1", framed)])
    [research] = await researched(proxy)
    assert research.outcome is ResearchOutcome.UNSEEN
    assert research.report == REPORT.strip()
    assert research.delivery is Delivery.WHOLE


async def test_a_client_that_gives_calls_ids_of_its_own_hands_back_the_report(
    proxy: Running, upstream: FakeProvider
) -> None:
    """Gemini CLI's sub-agents end with a call and its calls come without ids, so that two look alike at first."""
    other = "Find out which migrations of the ledger cannot be rolled back, and why not."
    asked = [(PROMPT, REPORT), (other, "Migration 14 drops a column, so that it cannot be rolled back. " * 2)]
    names = ("agent_1", "agent_2")
    ends = Call("done", "complete_task", orjson.dumps({"result": {"response": "See there."}}).decode())
    script(
        upstream,
        CHAT,
        Round(tuple(spawn("task", prompt) for prompt, _ in asked)),
        Round((ends,)),
        Round((ends,)),
        Round((Say("So."),)),
    )
    parent = [user("How do we retry, and what cannot be rolled back?")]
    await send(proxy, parent)
    for prompt, _ in asked:
        await send(proxy, [user(prompt)])
    calls = [spawn(name, prompt) for name, (prompt, _) in zip(names, asked, strict=True)]
    framed = "Subagent 'generalist' finished.\nTermination Reason: GOAL\nResult:\n"
    results = [
        result(name, framed + orjson.dumps({"response": report}).decode())
        for name, (_, report) in zip(names, asked, strict=True)
    ]
    await send(proxy, [*parent, called(*calls), *results])
    found = {each.question: each for each in await researched(proxy)}
    assert set(found) == {PROMPT, other}
    for prompt, report in asked:
        assert found[prompt].report == report.strip() and found[prompt].parent
        assert found[prompt].outcome is ResearchOutcome.FINISHED and found[prompt].delivery is Delivery.WHOLE


async def test_a_background_child_reports_in_a_notification(proxy: Running, upstream: FakeProvider) -> None:
    call = spawn("toolu_9", PROMPT, tool="Agent")
    parent = [user("How do we retry?")]
    script(upstream, CHAT, Round((call,)), Round((Say("It runs."),)), Round((Say(REPORT),)), Round((Say("So."),)))
    await send(proxy, parent)
    parent += [called(call), result("toolu_9", "Async agent launched successfully. agentId: a0755 (running)")]
    await send(proxy, parent)
    await send(proxy, [user(PROMPT)])
    indented = "\n".join("  " + line for line in REPORT.splitlines())
    note = f"<task-notification><tool-use-id>toolu_9</tool-use-id><result>\n{indented}\n</result></task-notification>"
    await send(proxy, [*parent, {"role": "assistant", "content": "It runs."}, user(note)])
    [research] = await researched(proxy)
    assert research.outcome is ResearchOutcome.FINISHED
    assert research.delivery is Delivery.WHOLE


async def test_a_report_that_came_back_cut_down_is_kept_whole(proxy: Running, upstream: FakeProvider) -> None:
    long = "\n".join(
        f"Finding {n}: the function handle_{n} in src/part_{n}.py closes over state_{n}." for n in range(80)
    )
    call = spawn("c1", PROMPT)
    script(upstream, CHAT, Round((call,)), Round((Say(long),)), Round((Say("So."),)))
    await send(proxy, [user("How?")])
    await send(proxy, [user(PROMPT)])
    await send(proxy, [user("How?"), called(call), result("c1", long[:1500] + "\n[truncated]")])
    [research] = await researched(proxy)
    assert research.delivery is Delivery.SHORTENED
    assert research.report == long


async def test_nested_children_have_their_own_parents(proxy: Running, upstream: FakeProvider) -> None:
    inner = "Read billing/retry.py from its first to its last line and tell all the constants in it."
    script(
        upstream,
        CHAT,
        Round((spawn("c1", PROMPT),)),
        Round((spawn("c2", inner),)),
        Round((Say("The constants are FIVE and TEN, both integers."),)),
    )
    await send(proxy, [user("How?")])
    await send(proxy, [user(PROMPT)])
    await send(proxy, [user(inner)])
    outer, nested = await researched(proxy)
    assert nested.parent == outer.session
    assert outer.outcome is ResearchOutcome.RUNNING


async def test_a_child_that_claims_anothers_parent_is_not_tied(proxy: Running, upstream: FakeProvider) -> None:
    script(upstream, CHAT, *[Round((Say(REPORT),))] * 2)
    await send(proxy, [user("Hello there")], x_session_id="parent-1", x_palimpsest_user="ann")
    await send(proxy, [user(PROMPT)], x_session_id="child-1", x_parent_session_id="parent-1", x_palimpsest_user="eve")
    [research] = await researched(proxy, Scope(None, "eve", "loom"))
    assert research.parent == ""
    assert research.claimed == "parent-1"


async def test_a_child_names_its_parent_by_header_across_runtimes(proxy: Running, upstream: FakeProvider) -> None:
    script(upstream, CHAT, *[Round((Say(REPORT),))] * 2)
    await send(proxy, [user("Hello there")], x_session_id="parent-1", user_agent="opencode/1.18")
    await send(proxy, [user(PROMPT)], x_session_id="child-1", x_palimpsest_parent="parent-1")
    [research] = await researched(proxy)
    assert research.parent and not research.claimed


async def test_a_childs_words_are_never_taken_for_a_persons(proxy: Running, upstream: FakeProvider) -> None:
    order = "Always use tabs for indentation in this project. Remember this for ever."
    script(upstream, CHAT, Round((spawn("c1", order),)), Round((Say("Understood."),)))
    await send(proxy, [user("Go.")])
    await send(proxy, [user(order)])
    await proxy.learned()
    memory = proxy.edge.memory
    assert memory is not None
    facts = await memory.commands.facts(SCOPE.owners())
    assert not [fact for fact in facts if fact.origin.trusted]


async def test_forgetting_takes_all_of_it(proxy: Running, upstream: FakeProvider) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    script(upstream, CHAT, *[Round((Say("Thanks."),))] * 3)
    await send(proxy, [user(REWORDED)], x_parent_session_id="p", x_session_id="second")
    memory = proxy.edge.memory
    assert memory is not None
    await proxy.learned()
    await rooms.subagents(memory).eraser.forget(research)
    memory.session_matcher.live_sessions.forget()
    await send(proxy, [user(REWORDED)], x_parent_session_id="p", x_session_id="third")
    assert forwarded(upstream) == REWORDED
    await proxy.learned()
    assert b"base_delay_ms" not in await asyncio.to_thread(stored, memory.home)


async def test_the_same_words_in_another_project_are_no_errand(proxy: Running, upstream: FakeProvider) -> None:
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)), Round((Say(REPORT),)))
    await send(proxy, [user("How?")], x_palimpsest_org="acme")
    await send(proxy, [user(PROMPT)], project="other", x_palimpsest_org="acme")
    for project in ("loom", "other"):
        assert await researched(proxy, Scope("acme", "local", project)) == []


async def test_what_was_asked_in_confidence_stays_with_its_person(proxy: Running, upstream: FakeProvider) -> None:
    secret = "Between us, keep this to yourself: find out what it would cost to let Bob of the billing team go in May."
    script(upstream, CHAT, Round((spawn("c1", secret),)), Round((Say(REPORT),)), *[Round((Say("Thanks."),))] * 3)
    await send(proxy, [user("How?")], x_palimpsest_org="acme", x_palimpsest_user="ann")
    await send(proxy, [user(secret)], x_palimpsest_org="acme", x_palimpsest_user="ann")
    [research] = await researched(proxy, Scope("acme", "ann", "loom"))
    assert research.owner == "u:acme/ann"
    assert await researched(proxy, Scope("acme", "eve", "loom")) == []
    await send(proxy, [user(secret)], x_palimpsest_org="acme", x_palimpsest_user="eve", x_parent_session_id="p")
    assert forwarded(upstream) == secret
    memory = proxy.edge.memory
    assert memory is not None
    await rooms.subagents(memory).eraser.forget(research)
    await send(
        proxy,
        [user(secret), {"role": "assistant", "content": REPORT}, user("And?")],
        x_palimpsest_org="acme",
        x_palimpsest_user="ann",
    )
    assert await researched(proxy, Scope("acme", "ann", "loom")) == []


async def test_forgotten_research_is_not_kept_again_when_its_session_goes_on(
    proxy: Running, upstream: FakeProvider
) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    memory = proxy.edge.memory
    assert memory is not None
    await rooms.subagents(memory).eraser.forget(research)
    memory.session_matcher.live_sessions.forget()
    script(upstream, CHAT, Round((Say("The jitter is a fifth of the delay, and nothing else is to be said of it."),)))
    read = [called(READ), result("t1", "max_attempts = 5\n" * 40)]
    await send(proxy, [user(PROMPT), *read, {"role": "assistant", "content": REPORT}, user("And the jitter?")])
    assert await researched(proxy) == []


async def test_nobody_forgets_the_research_of_another_owner(proxy: Running, upstream: FakeProvider) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    memory = proxy.edge.memory
    assert memory is not None
    await memory.journal.forget([research.id], research.ended, ["u:/eve", "p:/eve/loom"])
    assert await researched(proxy) == [research]


async def test_records_that_are_no_research_are_told_and_the_rest_is_taken(
    proxy: Running, upstream: FakeProvider
) -> None:
    await play(proxy, upstream)
    [research] = await researched(proxy)
    memory = proxy.edge.memory
    assert memory is not None
    [exported] = await memory.exporter.records("research", research.owner, [research.owner])
    record = orjson.loads(orjson.dumps(exported))
    await rooms.subagents(memory).eraser.forget(research)
    whole = {**record, "question": "What else does the billing service retry?"}
    digest, role, parts, _ = record["messages"][0]
    wrong = [
        whole | {"tokens": 10**30},
        whole | {"written": -1},
        whole | {"messages": [[digest, role, parts, 5]]},
        whole | {"messages": 7},
        whole | {"sources": [None]},
    ]
    taken = await memory.importer.records([*wrong, whole], SCOPE)
    assert [place for place, _ in taken.faults] == [0, 1, 2, 3, 4] and taken.features["research"] == 1


async def test_a_broken_search_fails_no_request(
    proxy: Running, upstream: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = proxy.edge.memory
    assert memory is not None

    async def broken(*_: object) -> object:
        raise RuntimeError("no shelves")

    monkeypatch.setattr(rooms.subagents(memory).findings, "earlier", broken)
    script(upstream, CHAT, Round((Say("Thanks."),)))
    await send(proxy, [user(REWORDED)], x_parent_session_id="p")
    assert forwarded(upstream) == REWORDED


@pytest.mark.parametrize("step", ["recognised", "arrived", "note_calls"])
async def test_a_broken_look_for_errands_fails_no_request(
    step: str, proxy: Running, upstream: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = proxy.edge.memory
    assert memory is not None
    script(upstream, CHAT, *[Round((Say("Thanks."),))] * 3)
    opening = [user("The boat is called Marigold, remember that.")]
    await send(proxy, opening)
    forwarded_before = forwarded(upstream)

    def broken(*_: object) -> object:
        raise RuntimeError("no errands")

    monkeypatch.setattr(memory.recent_errands, step, broken)
    await send(proxy, opening)
    assert forwarded(upstream) == forwarded_before
    assert b"Thanks." in await send(proxy, [user("Something else altogether, in a session of its own.")])
    assert proxy.edge.degradations.since(60)


async def test_a_restart_between_the_call_and_the_child_loses_no_tie(upstream: FakeProvider, tmp_path: Path) -> None:
    script(upstream, CHAT, Round((spawn("c1", PROMPT),)), Round((Say(REPORT),)))
    async with running(upstream, tmp_path / "home") as first:
        await send(first, [user("How?")])
        await researched(first)
    async with running(upstream, tmp_path / "home") as second:
        await send(second, [user(PROMPT)])
        [research] = await researched(second)
        assert research.parent and research.call == "c1"


async def test_two_first_requests_at_once_make_one_research_each(proxy: Running, upstream: FakeProvider) -> None:
    prompts = [f"Study the part {n} of the system and report on it at length." for n in range(4)]
    upstream.reply = "All four parts are written in Python, as far as can be seen from outside of them."
    await asyncio.gather(*(send(proxy, [user(prompt)], x_parent_session_id="p") for prompt in prompts))
    assert {each.question for each in await researched(proxy)} == set(prompts)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("stream", [True, False])
async def test_the_proxy_answers_for_the_model_where_it_may(
    upstream: FakeProvider, tmp_path: Path, path: str, stream: bool
) -> None:
    async with running(upstream, tmp_path / "home", memory__research__answer=0.95) as proxy:
        await play(proxy, upstream)
        [research] = await researched(proxy)
        before = len(upstream.requests)
        client = Client(proxy, path, streamed=stream, session="again", headers={"x_parent_session_id": "p"})
        # In other bytes: the same opening again at once would be a retry of the first one's.
        reply = await client.ask(person(path, PROMPT.replace(" of the ", "  of the ")))
        assert len(upstream.requests) == before
        assert "max_attempts" in reply.text
        assert "without asking the model" in reply.text
        memory = proxy.edge.memory
        assert memory is not None
        await proxy.learned()
        saved = await rooms.subagents(memory).library.saved([research])
        assert saved.hits == {"answered": 1}
        assert saved.tokens > 0
        # A question that is not the same goes to the model, with the findings.
        script(upstream, path, Round((Say("Thanks."),)))
        other = Client(proxy, path, streamed=stream, session="other", headers={"x_parent_session_id": "p"})
        assert (await other.ask(person(path, REWORDED))).text == "Thanks."
