"""Hidden rounds made again: in the bytes in which they went out, in their place, valid in every format."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Form
from memory.edits import Append, Drop, Edit, Insert, Replace
from proxy.wire import dialect_of
from proxy.wire.rounds import answered, result, with_hidden_rounds
from proxy.wire.rounds.offering import with_messages
from proxy.wire.rounds.turn import ContentMark, HiddenRoundRecord, RoundTurn, load
from tests.proxy.wire.rounds.scripts import GEMINI, OURS, PATHS, Call, Round, Say, Think, said
from tests.proxy.wire.rounds.test_writers import relayed, rounds, visible

ASKED: dict[str, dict[str, Any]] = {
    PATHS[0]: {"role": "user", "content": "Which database?"},
    PATHS[1]: {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Which database?"}]},
    PATHS[2]: {"role": "user", "content": [{"type": "text", "text": "Which database?"}]},
    GEMINI: {"role": "user", "parts": [{"text": "Which database?"}]},
}


def name_of(path: str) -> str:
    dialect = dialect_of(path)
    assert dialect is not None
    return dialect.name


def listed(path: str) -> str:
    return {PATHS[1]: "input", GEMINI: "contents"}.get(path, "messages")


def body(path: str, *messages: Any) -> bytes:
    return orjson.dumps({"model": "m", listed(path): [ASKED[path], *messages], "tools": [{"name": "bash"}]})


def results_of(path: str, *calls: Call) -> list[dict[str, Any]]:
    """The client's answers to its own calls, and what a person says then."""
    told = [orjson.loads(result(name_of(path), call.id, "done", call.name)) for call in calls]
    if path == GEMINI:
        return [{"role": "user", "parts": told}, ASKED[path]] if told else [ASKED[path]]
    if path == PATHS[2]:
        return [{"role": "user", "content": [*told, {"type": "text", "text": "Go on."}]}]
    return [*told, ASKED[path]]


def hidden_of(path: str, turns: list[RoundTurn]) -> HiddenRoundRecord:
    """What is kept of these rounds, with an answer to each call of ours."""
    name = name_of(path)
    before: list[str] = []
    marks: list[ContentMark] = []
    for turn in turns[:-1]:
        answers = [result(name, call.id, f"about {call.id}", call.name) for call in turn.calls]
        before.append(answered(name, turn.message, answers))
        marks += turn.marks
    last = turns[-1]
    shared = last.calls if last.shared else ()
    return HiddenRoundRecord(
        ",".join(before),
        tuple(marks),
        tuple((call.behind, call.raw) for call in shared),
        ",".join(result(name, call.id, f"about {call.id}", call.name) for call in shared),
    )


def sent_of(path: str, data: bytes) -> list[Any]:
    items: list[Any] = orjson.loads(data)[listed(path)]
    return items


@pytest.mark.parametrize("path", PATHS)
@given(rounds())
def test_the_next_request_begins_with_what_the_last_one_sent(path: str, script: list[Round]) -> None:
    _, turns = relayed(path, script, streamed=True)
    hidden = hidden_of(path, turns)
    asked = body(path)
    continued = with_messages(asked, name_of(path), hidden.before) if hidden.before else asked
    shown = visible(script)
    if not shown.parts:
        return
    theirs = [call for call in script[-1].calls if call.name not in OURS]
    following = body(path, *said(path, shown), *results_of(path, *theirs))
    made = with_hidden_rounds(name_of(path), following, [Insert(0, hidden.dump())], len(sent_of(path, following)))
    before = continued.partition(b'],"tools"')[0]
    assert made.startswith(before)
    dialect = dialect_of(path)
    assert dialect is not None
    assert set(dialect.check(made)) <= set(dialect.check(following))
    calls = made.count(b"about ")
    assert calls == sum(len(turn.calls) for turn in turns if turn.goes_on or turn.shared)


@pytest.mark.parametrize("path", PATHS)
def test_calls_beside_the_clients_own_are_put_back_among_them(path: str) -> None:
    ours, first, second = Call("m1", "memory_search", "{}"), Call("c1", "bash", "{}"), Call("c2", "bash", "{}")
    script = [Round((Think("Hm", "S="), Say("Look."), first, ours, second))]
    _, turns = relayed(path, script, streamed=True)
    assert turns[0].shared
    following = body(path, *said(path, visible(script)), *results_of(path, first, second))
    insert = Insert(0, hidden_of(path, turns).dump())
    made = with_hidden_rounds(name_of(path), following, [insert], len(sent_of(path, following)))
    assert made.index(b'"c1"') < made.index(b'"m1"') < made.index(b'"c2"')
    assert made.index(b"about m1") < made.index(b"done")
    dialect = dialect_of(path)
    assert dialect is not None
    assert dialect.check(made) == []


@pytest.mark.parametrize("path", PATHS)
def test_a_reply_that_is_another_one_is_left_as_it_is(path: str) -> None:
    script = [Round((Say("Let me look."), Call("m1", "memory_search", "{}"))), Round((Say("PostgreSQL."),))]
    _, turns = relayed(path, script, streamed=True)
    insert = Insert(0, hidden_of(path, turns).dump())
    for copy in (said(path, Round((Say("MySQL."),))), [ASKED[path]], []):
        other = body(path, *copy, ASKED[path])
        assert with_hidden_rounds(name_of(path), other, [insert], len(sent_of(path, other))) is other


@pytest.mark.parametrize("path", PATHS)
def test_a_client_that_drops_the_reasoning_has_the_rounds_made_again_with_it(path: str) -> None:
    script = [
        Round((Think("Hm", "Sig=="), Say("Let me look."), Call("m1", "memory_search", "{}"))),
        Round((Think("So", "Sig2"), Say("PostgreSQL."))),
    ]
    _, turns = relayed(path, script, streamed=True)
    bare = [Round(tuple(part for part in each.parts if not isinstance(part, Think))) for each in script]
    following = body(path, *said(path, visible(bare)), ASKED[path])
    insert = Insert(0, hidden_of(path, turns).dump())
    made = with_hidden_rounds(name_of(path), following, [insert], len(sent_of(path, following)))
    assert made.count(b"Let me look.") == made.count(b"PostgreSQL.") == made.count(b'"m1"') // 2 == 1
    assert path == PATHS[0] or b"Sig==" in made


@given(rounds(), st.sampled_from(PATHS))
def test_what_is_kept_is_read_back_as_it_was(script: list[Round], path: str) -> None:
    _, turns = relayed(path, script, streamed=False)
    hidden = hidden_of(path, turns)
    assert load(hidden.dump()) == hidden
    assert hidden.free_of(lambda text: text) is hidden


@pytest.mark.parametrize("path", PATHS)
def test_what_is_stored_holds_no_secret_and_keeps_what_is_signed(path: str) -> None:
    script = [
        Round((Think("the key", "S-key"), Say("The key is key"), Call("m1", "memory_search", '{"query":"key"}'))),
        Round((Say("Done."),)),
    ]
    _, turns = relayed(path, script, streamed=True)
    stored = hidden_of(path, turns).free_of(lambda text: text.replace("The key is key", "[secret]"))
    assert "The key is" not in stored.before
    assert path == PATHS[0] or "S-key" in stored.before
    orjson.loads(f"[{stored.before}]")


@pytest.mark.parametrize("path", PATHS)
def test_rounds_are_made_again_where_older_messages_have_left_and_others_were_shortened(path: str) -> None:
    script = [Round((Say("Let me look."), Call("m1", "memory_search", "{}"))), Round((Say("PostgreSQL."),))]
    _, turns = relayed(path, script, streamed=True)
    old = [*said(path, Round((Say("Hello."),))), ASKED[path]]
    copy = said(path, visible(script))
    following = body(path, *old, *copy, ASKED[path])
    dialect = dialect_of(path)
    assert dialect is not None
    view = dialect.read(following, lambda text: text)
    insert = Insert(2, hidden_of(path, turns).dump())
    stub, leaves, more = Replace(3, 0, "[stub]"), Drop(1), Append(2, "\nmore", Form.PART)
    plans: list[list[Edit]] = [[leaves], [stub], [leaves, stub, more]]
    for edits in plans:
        written = dialect.write(view, edits)
        made = with_hidden_rounds(dialect.name, written, [*edits, insert], len(view.items))
        assert set(dialect.check(made)) <= set(dialect.check(following))
        assert ("Hello." in made.decode()) == (leaves not in edits)
        # A shortened copy is another text: then it stands as it is.
        assert made.count(b'"m1"') == (0 if stub in edits else 2)
