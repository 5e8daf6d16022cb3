"""Sessions are found by their key or their trail, and keep their ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from memory.conversation import Form, Message, Part, Reasoning, Role, Text, ToolCall, digest
from memory.edits import Act, Entry
from memory.ports import NO_LEDGER
from memory.scope import Layer
from memory.session import RequestKind
from memory.stores.connection import Connection
from memory.stores.errors import StoreFault, StoreFaultKind
from memory.stores.exchange_draft import ExchangeDraft
from memory.stores.exchanges import WrittenExchange
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import AT, BOB, assistant, conversation, exchange, session, user


def entry(text: str, occurrence: int = 0, **more: object) -> Entry:
    told = {"form": Form.SUFFIX, "reason": "recall", "memories": ("m1",)} | more
    return Entry(user("a").digest, occurrence, text, **told)  # type: ignore[arg-type]


async def test_a_session_is_found_by_its_key(journal: SqlJournal) -> None:
    await journal.enter(session("s1", key="ns:codex:1"), ())
    assert await journal.session_by_key("ns:codex:1") == session("s1", key="ns:codex:1")
    assert await journal.session_by_key("ns:codex:2") is None
    assert await journal.session_by_key("") is None


async def test_of_two_sessions_with_one_key_the_one_seen_last_is_meant(journal: SqlJournal) -> None:
    await journal.enter(session("s1", key="k"), ())
    await journal.enter(session("s2", key="k", seen_at=AT + timedelta(hours=1)), ())
    found = await journal.session_by_key("k")
    assert found is not None
    assert found.id == "s2"


async def test_a_late_write_of_an_older_state_does_not_turn_a_session_back(journal: SqlJournal) -> None:
    newer = session("s1", segment=2, seen_at=AT + timedelta(hours=1), parent="p")
    await journal.enter(newer, ())
    await journal.commit(exchange("e1", [user("a")], of=session("s1")))
    assert await journal.session_by_key("ns:s1") == newer


async def test_a_ledger_comes_back_in_the_order_it_was_written(journal: SqlJournal) -> None:
    page, none = entry("the page", reason="page", memories=()), entry("", 1, reason="recall late", memories=())
    await journal.enter(session(), [page])
    await journal.enter(session(), [entry("more"), none])
    assert await journal.ledger("s1") == (page, entry("more"), none)
    assert await journal.ledger("s2") == ()


async def test_entering_the_same_entry_again_writes_it_once(journal: SqlJournal) -> None:
    await journal.enter(session(), [entry("x")])
    await journal.enter(session(), [entry("x"), entry("y")])
    await journal.enter(session("s2"), [entry("x")])
    assert [each.text for each in await journal.ledger("s1")] == ["x", "y"]
    assert [each.text for each in await journal.ledger("s2")] == ["x"]


async def test_what_was_decided_comes_with_the_exchange_or_neither_does(journal: SqlJournal) -> None:
    stub, more = entry("a stub", act=Act.REPLACE), [entry(f"entry {number}") for number in range(20)]
    kept = assistant("what the stub stands for")
    await journal.commit(exchange("e1", [user("a")]), [stub, *more, stub], [kept])
    assert await journal.ledger("s1") == (*more, stub), "what is decided again is the last one"
    assert (await journal.counts()).messages == 3, "the request, the reply and what is kept"
    append, journal._append = journal._append, failing  # type: ignore[method-assign]
    with pytest.raises(StoreFault):
        await journal.commit(exchange("e2", [user("b")]), [entry("later")])
    assert len(await journal.ledger("s1")) == 21
    journal._append = append  # type: ignore[method-assign]
    await journal.commit(exchange("e1", [user("a")]), [entry("later")])
    assert (await journal.ledger("s1"))[-1] == entry("later"), "though the exchange was there"
    assert (await journal.counts()).exchanges == 1


def failing(connection: Connection, draft: ExchangeDraft, session: int, person: int) -> WrittenExchange | None:
    raise StoreFault("no space", StoreFaultKind.FULL)


async def test_a_request_that_goes_on_is_recognised_by_the_longest_link(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")], "b"))
    await journal.commit(exchange("e2", [user("a"), assistant("b"), user("c")], "d"))
    longer = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]
    assert await journal.session_by_trail("ns", conversation(longer).trail()) == (session(), 4, True)
    edited = [user("a"), assistant("b"), user("other")]
    assert await journal.session_by_trail("ns", conversation(edited).trail()) == (session(), 2, False)
    assert await journal.session_by_trail("ns", conversation([user("z")]).trail()) is None
    assert await journal.session_by_trail("ns", ()) is None


@pytest.mark.parametrize("reasoning", [True, False])
@pytest.mark.parametrize("itemised", [True, False])
async def test_a_reply_is_recognised_in_whatever_form_a_client_sends_it_back(
    journal: SqlJournal, itemised: bool, reasoning: bool
) -> None:
    parts: tuple[Part, ...] = (Reasoning("hm", "sig"), Text("I look"), ToolCall("c1", "bash", "{}"))
    await journal.commit(exchange("e1", [user("go")], parts))
    sent = parts if reasoning else parts[1:]
    groups = [(part,) for part in sent] if itemised else [sent]
    back = [Message(Role.ASSISTANT, group, digest(Role.ASSISTANT, group)) for group in groups]
    found = await journal.session_by_trail("ns", conversation([user("go"), *back, user("on")]).trail())
    assert found == (session(), 1 + len(back), True)


async def test_a_cut_reply_is_no_link(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")], "b", complete=False))
    found = await journal.session_by_trail("ns", conversation([user("a"), assistant("b")]).trail())
    assert found == (session(), 1, True)


async def test_a_trail_is_never_found_from_another_namespace(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")], namespace="ns"))
    assert await journal.session_by_trail("other", conversation([user("a")]).trail()) is None


async def test_where_two_sessions_share_a_trail_the_one_that_ended_there_is_meant(journal: SqlJournal) -> None:
    opening = [user("hi")]
    first = session("s1", BOB, seen_at=AT + timedelta(hours=1))
    await journal.commit(exchange("e1", opening, "hello", of=first))
    await journal.commit(exchange("e2", [*opening, assistant("hello"), user("x")], of=first))
    await journal.commit(exchange("e3", opening, "hello", of=session("s2", BOB)))
    found = await journal.session_by_trail("ns", conversation(opening).trail())
    assert found == (session("s2", BOB), 1, True)


async def test_a_side_request_does_not_move_the_tip(journal: SqlJournal) -> None:
    history = [user("a"), assistant("b"), user("c")]
    await journal.commit(exchange("e1", history, "d"))
    await journal.commit(exchange("e2", [*history, assistant("d"), user("suggest")], kind=RequestKind.SIDE))
    found = await journal.session_by_trail("ns", conversation([*history, assistant("d"), user("e")]).trail())
    assert found == (session(), 4, True)


async def test_a_side_request_that_is_a_conversation_of_its_own_leaves_no_trail(journal: SqlJournal) -> None:
    title = [user("make a title")]
    await journal.commit(exchange("e1", title, kind=RequestKind.SIDE, extends=False))
    assert await journal.session_by_trail("ns", conversation(title).trail()) is None


async def test_a_long_trail_is_found_by_a_short_beginning(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("0")], "x"))
    long = [user(str(n)) for n in range(3000)]
    assert await journal.session_by_trail("ns", conversation(long).trail()) == (session(), 1, True)


async def test_a_history_that_was_written_anew_is_known_by_most_of_its_messages(journal: SqlJournal) -> None:
    history = [user("a"), assistant("b"), user("c"), assistant("d"), user("e")]
    mine, other = session("s1", key="ns:trail:s1"), session("s2", key="ns:trail:s2")
    await journal.commit(exchange("e1", history, of=mine))
    await journal.commit(exchange("e2", history[:2], of=other))
    await journal.commit(exchange("e3", history, of=session("s3", key="ns:codex:s3")))
    await journal.commit(exchange("e4", history, of=session("s4", key="ns2:trail:s4")))
    digests = [each.digest for each in history[1:]]
    found = await journal.session_by_messages("ns", [*digests, user("new").digest], 3)
    assert found == (mine, 4, tuple(digests[-3:]))
    assert await journal.session_by_messages("ns", [user("new").digest], 3) is None
    assert await journal.session_by_messages("another", digests, 3) is None
    assert await journal.session_by_messages("ns", [], 3) is None


async def test_a_session_whose_first_exchange_is_not_journaled_yet_stood_in_none(journal: SqlJournal) -> None:
    await journal.enter(session("s1", key="ns:trail:s1"), ())
    assert await journal.session_by_messages("ns", [user("a").digest], 3) is None


async def test_a_session_keeps_the_time_zone_it_was_seen_in(journal: SqlJournal) -> None:
    from datetime import timezone

    local = AT.astimezone(timezone(timedelta(hours=5, minutes=30)))
    await journal.enter(replace(session(), seen_at=local), ())
    found = await journal.session_by_key("ns:s1")
    assert found is not None
    assert found.seen_at.utcoffset() == timedelta(hours=5, minutes=30)


async def test_what_another_process_has_decided_first_stands(journal: SqlJournal) -> None:
    begun = await journal.agree(session(), None, None, [entry("ours")])
    assert begun.session.id == "s1" and begun.entries is None
    # Whoever was not told that this was written does it once more.
    twice = await journal.agree(session(), None, None, [entry("ours")])
    assert twice.version == begun.version and twice.entries == (entry("ours"),)
    known = await journal.stored_session("ns:s1", "ns", [])
    assert known is not None and known.version == begun.version and not known.tools
    # Another one, which knew of nothing, decides about the same, and about something else.
    other = await journal.agree(session(), None, NO_LEDGER, [entry("theirs"), entry("more", 1)])
    assert other.entries == (entry("ours"), entry("more", 1)) == await journal.ledger("s1")
    assert other.version != begun.version
    again = await journal.agree(session(), None, other.version, [entry("more", 2)])
    assert again.entries is None and len(await journal.ledger("s1")) == 3


async def test_a_session_that_two_begin_at_once_is_the_first_ones(journal: SqlJournal) -> None:
    trail = conversation([user("a")]).trail()
    opening = "ns", trail[-1]
    await journal.agree(session("s1", key="ns:trail:s1"), opening, None, [entry("ours")])
    other = await journal.agree(session("s2", key="ns:trail:s2"), opening, None, [entry("theirs")])
    assert other.session.id == "s1" and await journal.ledger("s2") == ()
    found = await journal.stored_session(None, "ns", trail)
    assert found is not None and (found.session.id, found.shared) == ("s1", 1)
    later = session("s3", key="ns:trail:s3", seen_at=AT + timedelta(hours=1))
    assert (await journal.agree(later, opening, None, [])).session.id == "s3"
    named = await journal.agree(session("s4", key="k"), None, None, [])
    assert (await journal.agree(session("s5", key="k"), None, None, [])).session.id == named.session.id == "s4"


async def test_the_newest_replies_of_a_person_are_found(journal: SqlJournal) -> None:
    await journal.commit(exchange("e1", [user("a")], "one"))
    await journal.commit(exchange("e2", [user("a"), assistant("one"), user("b")], "two"))
    person = session().scope.owner(Layer.USER)
    assert person is not None
    found = await journal.recent_replies(person, 1)
    assert [(of.id, message.text) for of, _, message in found] == [("s1", "two")]
    assert await journal.recent_replies("u:/other", 5) == []
