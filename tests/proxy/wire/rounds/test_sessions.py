"""Whole sessions with hidden rounds in them: what is forwarded only grows, whatever was hidden where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Form
from memory.edits import Act, Entry, Ledger
from proxy.wire import dialect_of
from proxy.wire.dialect import Dialect, RequestView
from proxy.wire.rounds import answered, result, with_hidden_rounds
from proxy.wire.rounds.offering import with_messages
from proxy.wire.rounds.turn import HiddenRoundRecord
from proxy.wire.slices import cut
from tests.proxy.wire.rounds.scripts import OURS, PATHS, Call, Round, Think, said
from tests.proxy.wire.rounds.test_replay import ASKED, hidden_of, listed, results_of
from tests.proxy.wire.rounds.test_writers import relayed, rounds, visible


def read(path: str, messages: list[Any]) -> tuple[Dialect, RequestView]:
    dialect = dialect_of(path)
    assert dialect is not None
    return dialect, dialect.read(orjson.dumps({"model": "m", listed(path): messages}), lambda text: text)


def forwarded(dialect: Dialect, view: RequestView, ledger: Ledger) -> bytes:
    edits = ledger.active(view.conversation.keys(), view.conversation.head).edits
    return with_hidden_rounds(dialect.name, dialect.write(view, edits), edits, len(view.items))


def history(path: str, body: bytes) -> bytes:
    return bytes(cut(body)[1][listed(path)])[:-1]


def numbered(path: str, number: int) -> dict[str, Any]:
    told: dict[str, Any] = orjson.loads(orjson.dumps(ASKED[path]).replace(b"Which", f"{number}: which".encode()))
    return told


def distinct(script: list[Round], turn: int) -> list[Round]:
    """The same rounds with ids of their own."""
    return [
        Round(
            tuple(replace(part, id=f"{turn}.{part.id}") if isinstance(part, Call) else part for part in each.parts),
            each.usage,
            f"t{turn}{each.id}",
        )
        for each in script
    ]


def bare(shown: Round) -> Round:
    """A reply as a client keeps it that throws reasoning away."""
    return Round(tuple(part for part in shown.parts if not isinstance(part, Think)))


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("path", PATHS)
@given(st.lists(st.tuples(rounds(), st.booleans()), min_size=1, max_size=4))
def test_what_is_forwarded_only_grows(path: str, keeps: bool, turns: list[tuple[list[Round], bool]]) -> None:
    ledger, messages, before = Ledger(), list[Any](), b""
    pending: list[Any] = [numbered(path, 0)]
    for number, (drawn, recalls) in enumerate(turns, start=1):
        messages += pending
        dialect, view = read(path, messages)
        newest = view.conversation.messages[-1]
        key = view.conversation.keys()[-1]
        if recalls and newest.takes:
            ledger.write(Entry(*key, f"\n[memory {number}]", newest.takes, "recall"))
        body = forwarded(dialect, view, ledger)
        now = history(path, body)
        assert now.startswith(before)
        assert not set(dialect.check(body)) - set(dialect.check(view.body))
        script = distinct(drawn, number)
        _, heard = relayed(path, script, streamed=number % 2 == 0)
        hidden = hidden_of(path, heard)
        ledger.write(
            Entry(*key, hidden.dump() if hidden != HiddenRoundRecord() else "", Form.PART, "hidden", act=Act.INSERT)
        )
        before = history(path, with_messages(body, dialect.name, hidden.before)) if hidden.before else now
        shown = visible(script)
        messages += said(path, shown if keeps else bare(shown))
        theirs = [call for call in script[-1].calls if call.name not in OURS]
        pending = results_of(path, *theirs) if theirs else [numbered(path, number)]


@pytest.mark.parametrize("path", PATHS)
def test_a_round_is_answered_in_the_message_that_its_format_wants(path: str) -> None:
    name = dialect_of(path)
    assert name is not None
    made = orjson.loads("[" + answered(name.name, '{"role":"assistant"}', [result(name.name, "c1", "x")]) + "]")
    assert made[0] == {"role": "assistant"}
    assert made[1].get("role") == {"openai-chat": "tool", "anthropic-messages": "user", "gemini-generate": "user"}.get(
        name.name
    )
