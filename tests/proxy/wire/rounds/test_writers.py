"""Laws of the writers: whatever the rounds say and however they are cut, the client sees one valid reply."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Reply, Usage
from proxy.wire import dialect_of
from proxy.wire.rounds import writer
from proxy.wire.rounds.turn import RoundTurn
from proxy.wire.sse import events
from tests.proxy.wire.rounds.scripts import GEMINI, OURS, PATHS, Call, Round, Say, Think, document, stream

texts = st.text(st.sampled_from('abc \n"é😀\\data: [DONE]'), min_size=1, max_size=12).filter(lambda text: text.strip())
says = st.builds(Say, texts)
thinks = st.builds(Think, texts, st.sampled_from(["Sig==", "E=", "x/y"]))
ids = st.integers(0, 10**6).map(str)
ours = st.builds(Call, ids, st.sampled_from(sorted(OURS)), st.just('{"query": "é", "n":1e0}'))
theirs = st.builds(Call, ids, st.sampled_from(["bash", "Read"]), st.just('{"z": 1, "a": 2}'))
usages = st.tuples(st.integers(1, 999), st.integers(1, 999))


def _id(part: Say | Think | Call) -> str:
    return part.id if isinstance(part, Call) else str(part)


@st.composite
def rounds(draw: st.DrawFn) -> list[Round]:
    """Rounds that go on, and one that ends the reply."""
    count = draw(st.integers(0, 3))
    made = []
    for number in range(count + 1):
        parts: list[Say | Think | Call] = [*draw(st.lists(thinks, max_size=1)), *draw(st.lists(says, max_size=1))]
        if number < count:
            parts += draw(st.lists(ours, min_size=1, max_size=2, unique_by=_id))
        else:
            parts += draw(st.lists(st.one_of(theirs, theirs, ours), max_size=3, unique_by=_id))
            if parts and all(part.name in OURS for part in parts if isinstance(part, Call)):
                parts = [part for part in parts if not isinstance(part, Call)]
            if not parts or isinstance(parts[-1], Think):
                parts.append(draw(says))
        told = [replace(part, id=f"{number}.{part.id}") if isinstance(part, Call) else part for part in parts]
        made.append(Round(tuple(told), draw(usages), f"r{number}"))
    return made


def cut(data: bytes, places: Sequence[int]) -> list[bytes]:
    at = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(at)]


def relayed(
    path: str, script: list[Round], streamed: bool, places: Sequence[int] = ()
) -> tuple[bytes, list[RoundTurn]]:
    """What the client sees of these rounds, and what each round said."""
    dialect = dialect_of(path)
    assert dialect is not None
    of = writer(dialect.name, streamed, OURS)
    seen, turns = b"", []
    for number, each in enumerate(script):
        if number:
            of.again()
        data = stream(path, each) if streamed else document(path, each)
        for chunk in cut(data, places):
            seen += of.feed(chunk)
        seen += of.end()
        turns.append(of.turn())
        assert of.over
        assert turns[-1].goes_on == (number < len(script) - 1)
    return seen, turns


def heard(path: str, data: bytes, streamed: bool) -> Reply:
    dialect = dialect_of(path)
    assert dialect is not None
    listener = dialect.listen(streamed)
    assert listener.feed(data) + listener.finish() == data
    return listener.reply()


def visible(script: list[Round]) -> Round:
    """All that the client may see, as one round."""
    parts = [part for each in script for part in each.parts if not (isinstance(part, Call) and part.name in OURS)]
    return Round(tuple(parts), script[-1].usage, script[0].id)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
@given(rounds(), st.lists(st.integers(0, 10**6), max_size=6))
def test_the_client_sees_one_complete_reply_of_all_that_is_visible(
    path: str, streamed: bool, script: list[Round], places: list[int]
) -> None:
    seen, _ = relayed(path, script, streamed, places)
    shown = visible(script)
    expected = heard(path, stream(path, shown) if streamed else document(path, shown), streamed)
    got = heard(path, seen, streamed)
    assert got.complete
    assert got.id == script[0].id
    assert got.usage is not None and expected.usage is not None
    last = script[-1].usage
    assert (got.usage.input, got.usage.output) == (expected.usage.input, last[1])
    assert got.parts == expected.parts


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
@given(rounds(), st.lists(st.integers(0, 10**6), max_size=8))
def test_however_the_rounds_are_cut_the_client_gets_the_same_bytes(
    path: str, streamed: bool, script: list[Round], places: list[int]
) -> None:
    assert relayed(path, script, streamed, places) == relayed(path, script, streamed)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
@given(st.lists(st.one_of(says, thinks, theirs), max_size=5, unique_by=str), st.lists(st.integers(0, 10**6)))
def test_without_a_call_of_ours_the_bytes_are_the_providers_own(
    path: str, streamed: bool, parts: list[Say | Think | Call], places: list[int]
) -> None:
    only = Round(tuple(parts))
    seen, _ = relayed(path, [only], streamed, places)
    assert seen == (stream(path, only) if streamed else document(path, only))


@pytest.mark.parametrize("path", PATHS)
@given(rounds())
def test_a_stream_is_numbered_without_a_gap(path: str, script: list[Round]) -> None:
    seen, _ = relayed(path, script, streamed=True)
    told = [orjson.loads(event.data) for event in events([seen]) if event.data.startswith(b"{")]
    if path == PATHS[1]:
        assert [event["sequence_number"] for event in told] == list(range(len(told)))
        assert [event["type"] for event in told].count("response.created") == 1
        done = [event["output_index"] for event in told if event["type"] == "response.output_item.done"]
        assert done == list(range(len(done)))
        assert [item["id"] for item in told[-1]["response"]["output"]] == [
            event["item"]["id"] for event in told if event["type"] == "response.output_item.done"
        ]
    elif path == PATHS[2]:
        kinds = [event["type"] for event in told]
        assert [kinds.count(kind) for kind in ("message_start", "message_delta", "message_stop")] == [1, 1, 1]
        starts = [event["index"] for event in told if event["type"] == "content_block_start"]
        assert starts == list(range(len(starts)))
    elif path == GEMINI:
        assert {event["responseId"] for event in told} == {script[0].id}
        assert ["finishReason" in event["candidates"][0] for event in told] == [*([False] * (len(told) - 1)), True]
    else:
        assert sum("role" in choice["delta"] for event in told for choice in event["choices"]) == 1
        assert {event["id"] for event in told} == {script[0].id}
        assert seen.count(b"data: [DONE]\n\n") - seen.count(b"\\ndata: [DONE]\n\n") >= 1


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
def test_a_reply_that_cannot_go_on_is_ended_as_its_format_ends_one(path: str, streamed: bool) -> None:
    only = Round((Say("Let me look."), Call("c1", "memory_search", "{}")), (7, 3))
    dialect = dialect_of(path)
    assert dialect is not None
    of = writer(dialect.name, streamed, OURS)
    seen = of.feed(stream(path, only) if streamed else document(path, only)) + of.end()
    assert of.turn().goes_on
    reply = heard(path, seen + of.close(), streamed)
    assert reply.complete
    assert reply.text == "Let me look."
    assert reply.stop in ("stop", "end_turn", "completed", "STOP")
    assert reply.usage is not None and reply.usage.output == 3


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("path", PATHS)
def test_a_call_that_was_cut_short_is_left_out_and_the_reply_ends(path: str, streamed: bool) -> None:
    only = Round((Say("Hm."), Call("c1", "memory_search", "{}")), stop="length" if "chat" in path else "max_tokens")
    seen, [turn] = relayed(path, [only], streamed)
    assert not turn.goes_on and not turn.shared
    reply = heard(path, seen, streamed)
    assert (reply.complete, reply.text, reply.stop) == (True, "Hm.", only.stop)


@pytest.mark.parametrize("streamed", [True, False])
def test_usage_is_the_last_rounds(streamed: bool) -> None:
    script = [
        Round((Call("c1", "memory_search", "{}"),), (100, 9), "a"),
        Round((Say("You chose PostgreSQL."),), (180, 20), "b"),
    ]
    replies = [heard(path, relayed(path, script, streamed)[0], streamed) for path in PATHS]
    assert [reply.usage for reply in replies] == [Usage(180, 20), Usage(180, 20), Usage(185, 20, 5), Usage(180, 20)]
