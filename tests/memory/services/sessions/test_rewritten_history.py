"""A client that writes its history anew is still in its session, and what was decided there is made again."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from memory.conversation import Conversation, Form, Message, Reply, Role, Text, ToolCall, ToolResult, digest
from memory.edits import Act, Append, Entry, Replace
from memory.ports import LedgerVersion
from memory.scope import Scope
from memory.services.prepare import Preparation
from memory.services.sessions.live import LiveSession
from memory.services.sessions.namespaces import in_own_namespace
from memory.services.sessions.session_matching import SessionMatcher
from memory.session import Arrival, Exchange, Receipt, RequestKind
from memory.settings import MemorySettings
from memory.stores.journal import SqliteJournal
from tests import fresh_journal
from tests.memory.services.test_prepare import Fresh, guard

AT = datetime(2026, 3, 4, tzinfo=UTC)
ARRIVAL = Arrival(Scope(None, "ada", "loom"), RequestKind.MAIN, "qwen-code", "n", AT)
EXTRACTION = replace(ARRIVAL, kind=RequestKind.SIDE, scope=Scope(None, "ada", None), at=AT + timedelta(seconds=5))


def message(role: Role, *parts: Text | ToolCall | ToolResult, spoken: str = "") -> Message:
    return Message(role, parts, digest(role, parts), spoken, Form.SUFFIX if role is not Role.ASSISTANT else None)


def history(turns: int, opening: str = "You are an agent.", reminder: str = "Today is Friday. ") -> list[Message]:
    """A system prompt, a person's task, and an agent at work."""
    said = reminder + "Read the files."
    messages = [message(Role.SYSTEM, Text(opening)), message(Role.USER, Text(said), spoken="Read the files.")]
    for turn in range(turns):
        messages.append(message(Role.ASSISTANT, ToolCall(f"c{turn}", "read", f'{{"path": "{turn}.py"}}')))
        messages.append(message(Role.TOOL, ToolResult(f"c{turn}", (Text(f"def function_{turn}(): ..."),))))
    return messages


def talk(messages: list[Message]) -> Conversation:
    return Conversation("openai-chat", "m", tuple(messages), tools=("read",))


class Bench:
    """Preparing over a real journal."""

    def __init__(self, path: Path) -> None:
        ids = (f"{number:032x}" for number in itertools.count())
        memory = Fresh()
        fresh_journal.put(path)
        self.journal = SqliteJournal(path, lambda text: text)
        self.new_id: Callable[[], str] = lambda: next(ids)
        self.memory = memory
        self.start()

    def start(self) -> None:
        """Begin with what the journal knows, as a new process does."""
        self.sessions = SessionMatcher(self.journal, self.new_id)
        self.preparation = Preparation(
            MemorySettings(), self.sessions, self.memory, self.memory, guard, self.new_id, lambda: False
        )

    async def restart(self, live: LiveSession, messages: list[Message]) -> None:
        """End once a session's ledger, and its newest request, are in the journal; and start again."""
        await self.sessions.ledgers.save(live)
        id = self.new_id()
        receipt = Receipt(id, AT, live.session.id, RequestKind.MAIN, "untouched")
        reply = Reply((Text("Done."),))
        await self.journal.commit(
            Exchange(id, live.session, in_own_namespace(ARRIVAL), talk(messages), reply, 200, receipt)
        )
        await self.preparation.settle()
        self.start()

    async def begun(self, turns: int = 6) -> LiveSession:
        """A session in which the first result has given way to a stub."""
        for turn in range(turns + 1):
            prepared = await self.preparation.prepare(talk(history(turn)), ARRIVAL)
        assert prepared.session is not None
        live = self.sessions.get(prepared.session.id)
        assert live is not None
        key = talk(history(1)).keys()[3]
        live.decide([Entry(*key, "[short]", Form.SUFFIX, "shed old", act=Act.REPLACE)])
        return live

    async def session_of(self, messages: list[Message], arrival: Arrival = ARRIVAL) -> LiveSession:
        return await self.sessions.find(talk(messages), in_own_namespace(arrival))


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    bench = Bench(tmp_path / "journal.db")
    yield bench
    await bench.preparation.settle()
    await bench.journal.close()


async def test_a_resumed_history_whose_beginning_has_changed_goes_on_in_its_session(bench: Bench) -> None:
    live = await bench.begun()
    resumed = [*history(6, "You are an agent. Git: dirty.", ""), message(Role.USER, Text("Go on."), spoken="Go on.")]
    prepared = await bench.preparation.prepare(talk(resumed), ARRIVAL)
    assert prepared.session is not None and prepared.session.id == live.session.id
    assert Replace(3, 0, "[short]") in prepared.edits


async def test_a_history_that_was_written_anew_over_a_restart_goes_on_in_its_session(bench: Bench) -> None:
    live = await bench.begun()
    await bench.restart(live, history(6))
    resumed = [*history(6, "You are an agent. Git: dirty.", ""), message(Role.USER, Text("Go on."), spoken="Go on.")]
    prepared = await bench.preparation.prepare(talk(resumed), ARRIVAL)
    assert prepared.session is not None and prepared.session.id == live.session.id
    assert Replace(3, 0, "[short]") in prepared.edits


async def test_a_history_that_leaves_its_session_early_inherits_over_a_restart(bench: Bench) -> None:
    live = await bench.begun(turns=12)
    await bench.restart(live, history(12))
    back = [*history(5, reminder=""), message(Role.USER, Text("Otherwise, please."), spoken="Otherwise, please.")]
    fork = await bench.session_of(back)
    assert fork.session.forked_from == live.session.id
    assert Replace(3, 0, "[short]") in fork.ledger.active(talk(back).keys(), 2).edits


@pytest.mark.parametrize("restarted", [False, True])
async def test_what_was_added_to_words_stands_behind_them_when_their_message_is_written_anew(
    bench: Bench, restarted: bool
) -> None:
    live = await bench.begun()
    asked = talk(history(6)).keys()[1]
    live.decide([Entry(*asked, "[recalled]", Form.SUFFIX, "research")])
    await bench.restart(live, history(6))
    if not restarted:
        await bench.session_of(history(6))
    resumed = [*history(6, reminder=""), message(Role.USER, Text("Go on."), spoken="Go on.")]
    prepared = await bench.preparation.prepare(talk(resumed), ARRIVAL)
    assert Append(1, "[recalled]", Form.SUFFIX) in prepared.edits
    again = [*resumed, message(Role.ASSISTANT, Text("I go on."))]
    assert prepared.edits == (await bench.preparation.prepare(talk(again), ARRIVAL)).edits


async def test_of_several_that_say_the_same_none_is_given_what_one_of_them_had(bench: Bench) -> None:
    def asked_twice(reminder: str) -> list[Message]:
        again = message(Role.USER, Text(reminder + "Read the files."), spoken="Read the files.")
        return [*history(6, reminder=reminder), message(Role.ASSISTANT, Text("Read.")), again, *history(6)[2:]]

    told = asked_twice("Today is Friday. ")
    live = await bench.session_of(told)
    live.decide([Entry(*talk(told).keys()[15], "[recalled]", Form.SUFFIX, "research")])
    await bench.restart(live, told)
    resumed = [*asked_twice(""), message(Role.USER, Text("Go on."), spoken="Go on.")]
    prepared = await bench.preparation.prepare(talk(resumed), ARRIVAL)
    assert prepared.session is not None and prepared.session.id == live.session.id
    assert not any(isinstance(edit, Append) and edit.text == "[recalled]" for edit in prepared.edits)


@pytest.mark.parametrize("reminder", ["", "Today is Friday. "])
async def test_a_fork_leaves_its_session_where_it_is(bench: Bench, reminder: str) -> None:
    live = await bench.begun(turns=12)
    live.decide([Entry(*talk(history(12)).keys()[25], "[short, late]", Form.SUFFIX, "shed old", act=Act.REPLACE)])
    await bench.restart(live, history(12))
    fork = [*history(5, reminder=reminder), message(Role.USER, Text("Otherwise, please."), spoken="Otherwise, please.")]
    await bench.preparation.prepare(talk(fork), ARRIVAL)
    goes_on = [*history(12), message(Role.ASSISTANT, Text("Done.")), message(Role.USER, Text("Next."), spoken="Next.")]
    prepared = await bench.preparation.prepare(talk(goes_on), replace(ARRIVAL, at=AT + timedelta(minutes=1)))
    assert prepared.session is not None and prepared.session.id == live.session.id
    assert Replace(25, 0, "[short, late]") in prepared.edits


async def test_nothing_is_added_to_other_words_or_to_a_message_that_went_without(bench: Bench) -> None:
    live = await bench.begun()
    asked = talk(history(6)).keys()[1]
    live.decide([Entry(*asked, "[recalled]", Form.SUFFIX, "research")])
    await bench.restart(live, history(6))
    go_on = message(Role.USER, Text("Go on."), spoken="Go on.")
    other = [*history(6), go_on]
    other[1] = message(Role.USER, Text("Read none."), spoken="Read none.")
    anew = history(6, reminder="")
    went_before = anew[1]
    await bench.restart(await bench.session_of([went_before]), [went_before])
    for resumed in (other, [*anew, go_on]):
        prepared = await bench.preparation.prepare(talk(resumed), ARRIVAL)
        assert Replace(3, 0, "[short]") in prepared.edits
        assert not any(isinstance(edit, Append) and edit.text == "[recalled]" for edit in prepared.edits)


async def test_over_a_restart_another_project_knows_nothing_of_it(bench: Bench) -> None:
    live = await bench.begun()
    await bench.restart(live, history(6))
    resumed = [*history(6, reminder=""), message(Role.USER, Text("Go on."), spoken="Go on.")]
    for scope in (Scope(None, "bob", "loom"), Scope(None, "ada", "another")):
        elsewhere = await bench.session_of(resumed, replace(ARRIVAL, scope=scope))
        assert elsewhere.session.forked_from is None and not elsewhere.ledger.shed


async def test_a_history_in_which_old_results_were_cleared_goes_on_in_its_session(bench: Bench) -> None:
    live = await bench.begun()
    cleared = history(7)
    for at in (5, 7):
        cleared[at] = message(Role.TOOL, ToolResult(f"c{at}", (Text("[cleared]"),)))
    assert await bench.session_of(cleared) is live


async def test_the_end_of_a_history_under_another_prompt_is_made_again_and_is_no_session(bench: Bench) -> None:
    live = await bench.begun()
    end = [message(Role.SYSTEM, Text("Extract memories.")), *history(6)[2:]]
    prepared = await bench.preparation.prepare(talk(end), EXTRACTION)
    assert Replace(2, 0, "[short]") in prepared.edits
    assert prepared.session is None and not prepared.journaled
    assert live.session.seen_at == AT


async def test_what_another_person_or_project_said_is_not_made_again(bench: Bench) -> None:
    await bench.begun()
    end = [message(Role.SYSTEM, Text("Extract memories.")), *history(6)[2:]]
    for scope in (Scope(None, "bob", None), Scope(None, "ada", "another")):
        prepared = await bench.preparation.prepare(talk(end), replace(EXTRACTION, scope=scope))
        assert prepared.edits == ()


async def test_a_session_that_only_begins_alike_is_another_one(bench: Bench) -> None:
    live = await bench.begun()
    again = await bench.session_of(history(0), replace(ARRIVAL, at=AT + timedelta(hours=1)))
    assert again is not live
    other = [*history(1, "Another prompt."), message(Role.USER, Text("Thanks."), spoken="Thanks.")]
    assert await bench.session_of(other) is not live


async def test_a_history_that_leaves_its_session_early_inherits_what_was_decided(bench: Bench) -> None:
    live = await bench.begun(turns=12)
    back = [*history(5, reminder=""), message(Role.USER, Text("Otherwise, please."), spoken="Otherwise, please.")]
    fork = await bench.session_of(back)
    assert fork is not live and fork.session.forked_from == live.session.id
    assert Replace(3, 0, "[short]") in fork.ledger.active(talk(back).keys(), 2).edits


async def test_what_a_provider_has_in_its_cache_is_what_it_read_last(bench: Bench) -> None:
    live = await bench.begun()
    assert live.read_at is None  # nothing was answered yet
    prepared = await bench.preparation.prepare(talk(history(6)), ARRIVAL)
    bench.preparation.mark_read(prepared, talk(history(6)), Reply(complete=True))
    assert live.read_at == AT
    # Another request of the session that is no turn, and one that is not answered, warm nothing.
    later = replace(ARRIVAL, at=AT + timedelta(hours=1))
    await bench.preparation.prepare(talk(history(7)), later)
    side = await bench.preparation.prepare(talk(history(6)), replace(later, kind=RequestKind.SIDE))
    bench.preparation.mark_read(side, talk(history(6)), Reply(complete=True))
    assert live.read_at == AT


async def test_an_opening_said_again_without_a_name_stays_with_its_session(bench: Bench) -> None:
    """Nothing would tell the two apart when one of them goes on, and what is in its prefix must stay there."""
    opening, later = talk(history(0)), replace(ARRIVAL, at=AT + timedelta(minutes=1))
    bench.preparation.mark_read(await bench.preparation.prepare(opening, ARRIVAL), opening, Reply(complete=True))
    live = await bench.session_of(history(0))
    assert await bench.session_of(history(0), later) is live


async def test_another_session_that_opens_alike_inherits_nothing_behind_a_whole_reply(bench: Bench) -> None:
    opening, later = talk(history(0)), replace(ARRIVAL, at=AT + timedelta(minutes=1))
    first = await bench.preparation.prepare(opening, ARRIVAL)
    live = await bench.session_of(history(0))
    retry = await bench.session_of(history(0), replace(later, session_key="another"))
    assert retry.session.forked_from == live.session.id
    bench.preparation.mark_read(first, opening, Reply(complete=True))
    for each in (live, retry):
        bench.sessions.mark_read(each.session.id, later.at, opening.trail()[-1])
    anew = await bench.session_of(history(0), replace(later, session_key="one more"))
    assert anew.session.forked_from is None


async def test_an_earlier_turn_said_again_stays_with_its_session(bench: Bench) -> None:
    await bench.begun()
    turn = talk(history(6))
    bench.preparation.mark_read(await bench.preparation.prepare(turn, ARRIVAL), turn, Reply(complete=True))
    live = await bench.session_of(history(6))
    assert await bench.session_of(history(6), replace(ARRIVAL, at=AT + timedelta(minutes=1))) is live


async def test_a_changed_beginning_leaves_nothing_in_the_cache(bench: Bench) -> None:
    live = await bench.begun()
    bench.preparation.mark_read(
        await bench.preparation.prepare(talk(history(6)), ARRIVAL), talk(history(6)), Reply(complete=True)
    )
    await bench.session_of(history(7))
    assert live.read_at == AT
    await bench.session_of(history(8, reminder=""))
    assert live.read_at is None


async def test_a_fork_finds_in_the_cache_what_it_shares(bench: Bench) -> None:
    live = await bench.begun()
    bench.preparation.mark_read(
        await bench.preparation.prepare(talk(history(6)), ARRIVAL), talk(history(6)), Reply(complete=True)
    )
    fork = await bench.session_of(
        [*history(6), message(Role.USER, Text("Else."), spoken="Else.")], replace(ARRIVAL, session_key="fork")
    )
    assert fork is not live and fork.read_at == AT


async def test_what_is_to_be_taken_back_is_not_read_again_with_what_others_have_written(bench: Bench) -> None:
    named = replace(in_own_namespace(ARRIVAL), session_key="s")
    live = await bench.sessions.find(talk(history(2)), named)
    stub = Entry(*talk(history(1)).keys()[3], "[short]", Form.SUFFIX, "shed old", act=Act.REPLACE)
    live.decide([stub])
    await bench.sessions.ledgers.save(live)
    bench.sessions.replicas.shared = True
    live.version = LedgerVersion(0, 0)  # as if another process had written
    await bench.sessions.replicas.look(talk(history(2)), named)
    assert live.version.size and live.ledger.shed
    bench.sessions.ledgers.withdrawals.add(live.session, [stub])
    live.version = LedgerVersion(0, 0)
    await bench.sessions.replicas.look(talk(history(2)), named)
    assert live.version.size and not live.ledger.shed


async def test_a_side_request_over_the_same_history_is_near_no_session(bench: Bench) -> None:
    await bench.begun()
    own = history(6, "You are a managed memory extraction subagent.", "")
    assert bench.sessions.find_nearest(talk(own), in_own_namespace(EXTRACTION)) is None
    assert bench.sessions.find_nearest(talk(own), in_own_namespace(ARRIVAL)) is not None
