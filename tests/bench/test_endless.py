"""The bench of a session without end, on a short one, and the sessions that it plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from proxy.wire import dialect_of
from tests.bench.endless import Session, summary
from tests.bench.sessions import FORMATS, Growing, Person, Result, made_up, turns_of
from tests.bench.transcripts import Body
from tests.proxy.wire.rounds.scripts import Call, Say


async def test_a_session_killed_on_the_way_is_valid_and_fits_and_goes_on_with_the_same_bytes(tmp_path: Path) -> None:
    # A busy machine must not decide what is seen here.
    seen = await Session(FORMATS["chat"], made_up(24), 12_000, tmp_path, recall_ms=10_000).play([16])
    told = summary(seen)
    assert told["faults"] == {}
    assert told["requests"] == 24 and told["kills"] == 1 and told["moved"] > 0 and told["client over"] > 0
    assert told["cost"] > 0


CALL: Body = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{broken"}}
RECORDED: list[Body] = [
    {"role": "system", "content": "Work."},
    {"role": "user", "content": "Go."},
    {"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "never answered"}]},
    {"role": "tool", "tool_call_id": "c1", "content": "text"},
    {"role": "assistant", "content": "Done."},
    {"role": "assistant", "content": "Really."},
]


def test_recorded_sessions_go_on_one_behind_the_other_with_ids_of_their_own() -> None:
    turns = turns_of([RECORDED, RECORDED], 10)
    assert [turn.heard for turn in turns] == [
        (Person("Go."),),
        (Result("s0_2_c1", "text"),),
        (Person("Go."),),
        (Result("s1_2_c1", "text"),),
    ]
    assert turns[0].reply.parts == (Call("s0_2_c1", "read", "{}"),) and turns[1].reply.parts == (Say("Done."),)
    assert len(turns_of([RECORDED, RECORDED], 3)) == 3


@pytest.mark.parametrize("path", FORMATS.values(), ids=FORMATS)
def test_a_request_is_valid_and_grows_at_its_end_only(path: str) -> None:
    turns, dialect = made_up(30), dialect_of(path)
    growing, before = Growing(path, turns), b""
    assert dialect is not None
    for turn in turns:
        body = growing.hear(turn)
        assert body.startswith(before[:-2]) and dialect.check(body) == []
        growing.answered(turn)
        before = body
