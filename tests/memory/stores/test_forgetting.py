"""What a person has had forgotten is nowhere any more: not in a table, not in a byte of a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from pathlib import Path

import orjson
import pytest_asyncio

from memory.conversation import Form, Message, Reasoning, Role, Text, ToolCall, digest
from memory.edits import OFFERED, Act, ContentTier, Entry, handle
from memory.fact import Fact, Passage
from memory.learning.research_erasure import FORGOTTEN
from memory.ports import FACT_DECISIONS, Lesson, Overview, StoredMessage, TermRarity
from memory.session import Shed, ShownMemory
from memory.stores.erasure import LineEraser
from memory.stores.journal import SqlJournal
from tests.memory.stores.derived_facts import (
    AT,
    BOB,
    assistant,
    exchange,
    fact,
    open_journal,
    owner,
    passage,
    session,
    stored,
    user,
)

WORDS = "the launch code is marmalade"


def terms(memory: Fact | Passage) -> Iterable[int]:
    return {len(word) for word in memory.text.split()}


@pytest_asyncio.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqlJournal]:
    opened = open_journal(tmp_path, terms=terms)
    yield opened
    await opened.close()


async def taught(journal: SqlJournal, message: object = None) -> tuple[Fact, Passage]:
    """A session in which the words were said, learned, recalled and shown."""
    said = user(WORDS)
    one = fact(WORDS, source=said.digest)
    piece = passage(WORDS, source=said.digest)
    counted = dict.fromkeys(terms(one), 2)
    await journal.commit(exchange("e1", [said], "ok"))
    await journal.learn(Lesson(1, (one,), (piece,), {owner(): 2}, {owner(): counted}))
    entry = Entry(user("what is it?").digest, 0, f"You were told: {WORDS}", Form.SUFFIX, "recall", (one.id,))
    await journal.enter(session(), [entry])
    shown = [ShownMemory(one.id, WORDS, 0.9, {}, 6), ShownMemory("other", "kept", 0.5, {}, 1)]
    await journal.commit(exchange("e2", [said, assistant("ok"), user("what is it?")], "I know", shown=shown))
    return one, piece


async def test_a_forgotten_fact_leaves_no_byte_behind(journal: SqlJournal) -> None:
    one, piece = await taught(journal)
    # Compressed, the message does not show its words: so look for its body too.
    row = await journal._db.read(lambda c: c.execute("SELECT body FROM messages WHERE number = 1").fetchone())
    assert WORDS.encode() in stored(journal)
    assert row["body"] in stored(journal)
    gone = await journal.forget([one.id], AT, [owner()], [b"keyed hash"])
    assert gone.scrubbed
    assert WORDS.encode() not in stored(journal)
    assert row["body"] not in stored(journal)
    assert (gone.facts, gone.passages) == ((one,), (piece,))
    assert gone.ids == (one.id, piece.id)
    assert (gone.messages, gone.entries, gone.receipts, gone.sessions) == (1, 1, 1, ("s1",))
    assert await journal.is_forgotten([b"keyed hash"]) == {b"keyed hash"}


async def test_every_table_has_let_go(journal: SqlJournal) -> None:
    one, piece = await taught(journal)
    await journal.forget([one.id], AT)
    assert await journal.facts([one.id]) == []
    assert await journal.passages([piece.id]) == []
    (entry,) = await journal.ledger("s1")
    assert (entry.text, entry.memories, entry.reason) == ("", (), "recall")
    receipt = await journal.receipt("r-e2")
    assert receipt is not None
    assert [shown.memory for shown in receipt.shown] == ["other"]
    (behind,) = await journal.unlearned(9)
    assert [message.text for message in behind.messages] == [FORGOTTEN, "ok", "what is it?"]
    assert behind.messages[0].spoken == ""
    assert behind.shown == ("other",)
    assert await journal.rarity([owner()], list(terms(one))) == TermRarity(0, {})


async def test_a_resent_history_does_not_bring_it_back(journal: SqlJournal) -> None:
    one, _ = await taught(journal)
    await journal.forget([one.id], AT)
    again = [user(WORDS), assistant("ok"), user("go on")]
    await journal.commit(exchange("e3", again))
    await journal.commit(exchange("e4", again, of=session("s2")))
    assert [told.messages[0].text for told in await journal.unlearned(9)] == [FORGOTTEN] * 3
    await journal._db.scrub()
    assert WORDS.encode() not in stored(journal)


async def test_another_person_who_said_the_same_keeps_it(journal: SqlJournal) -> None:
    one, _ = await taught(journal)
    theirs = fact(WORDS, scope=BOB, source=one.source, session="s9")
    await journal.commit(exchange("e9", [user(WORDS)], of=session("s9", BOB)))
    await journal.learn(Lesson(0, (theirs,)))
    await journal.forget([one.id], AT)
    assert await journal.facts([theirs.id]) == [theirs]
    assert [told.messages[0].text for told in await journal.unlearned(9)] == [FORGOTTEN, WORDS]


async def test_ids_of_other_owners_are_left_alone(journal: SqlJournal) -> None:
    one, piece = await taught(journal)
    gone = await journal.forget([one.id, piece.id], AT, [owner(BOB)])
    assert gone.ids == ()
    assert await journal.facts([one.id]) == [one]


async def test_other_facts_of_the_message_stay_but_its_words_go(journal: SqlJournal) -> None:
    one, piece = await taught(journal)
    beside = fact("Something else", source=one.source)
    await journal.learn(Lesson(0, (beside,)))
    gone = await journal.forget([one.id], AT)
    assert gone.facts == (one,)
    assert await journal.facts([beside.id]) == [beside]
    assert await journal.passages([piece.id]) == []


async def test_forgetting_a_passage_takes_what_its_message_taught(journal: SqlJournal) -> None:
    one, piece = await taught(journal)
    gone = await journal.forget([piece.id], AT)
    assert gone.ids == (one.id, piece.id)


async def test_what_was_derived_goes_too_and_references_are_cut(journal: SqlJournal) -> None:
    one, _ = await taught(journal)
    gist = fact("gist", derived_from=(one.id,), session="night")
    gist_of_gist = fact("gist of the gist", derived_from=(gist.id, "other"), session="night")
    newer = fact("newer", supersedes=(one.id, "other"), contradicts=(one.id,), session="night")
    await journal.learn(Lesson(0, (gist, gist_of_gist, newer)))
    gone = await journal.forget([one.id], AT)
    assert {each.id for each in gone.facts} == {one.id, gist.id, gist_of_gist.id}
    (left,) = await journal.facts_of([owner()])
    assert (left.id, left.supersedes, left.contradicts) == (newer.id, ("other",), ())


async def test_every_index_is_told_to_let_go(journal: SqlJournal) -> None:
    first = await journal.begin_generation("static", 8)
    second = await journal.begin_generation("minilm", 16)
    one, piece = await taught(journal)
    await journal.mark_indexed([one.id, piece.id], first.number)
    await journal.forget([one.id], AT)
    for generation in (first, second):
        lag = await journal.unindexed(9, generation.number)
        assert (lag.facts, lag.passages, set(lag.gone)) == ((), (), {one.id, piece.id})


async def test_what_came_from_no_message_takes_nothing_else_that_came_from_none(journal: SqlJournal) -> None:
    await taught(journal)
    one, two, piece = fact("one", source=b""), fact("two", source=b""), passage("piece", source=b"")
    await journal.learn(Lesson(0, (one, two), (piece,)))
    assert (await journal.forget([one.id], AT)).ids == (one.id,)
    assert await journal.facts([two.id]) == [two]


async def test_forgetting_what_is_unknown_changes_nothing(journal: SqlJournal) -> None:
    one, _ = await taught(journal)
    assert (await journal.forget(["unknown"], AT)).ids == ()
    assert (await journal.forget([], AT)).ids == ()
    assert await journal.facts([one.id]) == [one]


async def shed(journal: SqlJournal) -> tuple[Message, Fact]:
    """A reply that was learned from, sent back in another form, lowered, shed, paged in and told in a note."""
    parts = (Reasoning("hm", "sig"), Text(f"I note that {WORDS}"), ToolCall("c1", "write", f'{{"text": "{WORDS}"}}'))
    reply = Message(Role.ASSISTANT, parts, digest(Role.ASSISTANT, parts))
    await journal.commit(exchange("e1", [user("go")], parts))
    one = fact("A code is kept", id="f-code", source=reply.digest)
    await journal.learn(Lesson(1, (one,)))
    back = Message(Role.ASSISTANT, parts[1:], digest(Role.ASSISTANT, parts[1:]))
    name = handle(back.digest, 0)
    shed = Shed("fold", "full", 100, 50, True, None, (f"{name} result: {WORDS}", "another result"))
    later = exchange("e2", [user("go"), back, user("on")], "fine")
    await journal.commit(replace(later, receipt=replace(later.receipt, shed=shed)))
    made = Overview(9, f"line: {WORDS}", f"overview: {WORDS}", 3)
    await journal.write_overviews(2, "u:/ann", {(back.digest, 0): made, (reply.digest, 1): made})
    await journal.pin_part("u:/ann", back.digest, 0, AT)
    stub = Entry(
        back.digest, 0, f"[shed {name}: {WORDS}]", Form.PART, "shed fold", act=Act.REPLACE, tier=ContentTier.L0
    )
    call = Entry(back.digest, 0, f'{{"text": "{WORDS}"}}', Form.PART, "shed fold", act=Act.REPLACE, part=1)
    paged = Entry(user("on").digest, 0, f"[{name}]\n{WORDS}", Form.SUFFIX, "paged")
    note = f"# So far\n- task: sail\n- found: the launch code is marmalade, said early\n- more in {name}"
    cut = Entry(user("on").digest, 0, note, Form.SUFFIX, "rotate", act=Act.CUT)
    page = Entry(
        user("go").digest, 0, f"- A code is kept\n- tea at five\n- {WORDS}", Form.SUFFIX, "rotate", ("f-code",)
    )
    rounds = Entry(user("on").digest, 0, f'["found: {WORDS}",\n"tea"]', Form.SUFFIX, "rounds", act=Act.INSERT)
    offer = Entry(OFFERED[0], OFFERED[1], '{"is the launch code kept": 1}', Form.SUFFIX, "offer", act=Act.OFFER)
    await journal.enter(session(), [stub, call, paged, rounds, offer, cut, replace(page, act=Act.CUT)])
    return back, one


async def test_what_was_shed_paged_in_and_noted_of_a_message_goes_with_it(journal: SqlJournal) -> None:
    back, one = await shed(journal)
    gone = await journal.forget([one.id], AT)
    assert gone.scrubbed
    stored_now = stored(journal)
    assert WORDS.encode() not in stored_now
    assert b"marmalade" not in stored_now
    stub, call, paged, rounds, offer, cut, page = await journal.ledger("s1")
    assert (stub.text, paged.text, rounds.text) == (FORGOTTEN, "", "")
    assert "launch code" in offer.text
    assert orjson.loads(call.text) == {"forgotten": True}
    assert cut.text == "# So far\n- task: sail"
    assert (page.text, page.memories) == ("- tea at five", ())
    assert (gone.entries, gone.receipts, gone.sessions) == (6, 1, ("s1",))
    receipt = await journal.receipt("r-e2")
    assert receipt is not None
    assert receipt.shed is not None
    assert receipt.shed.parts == ("another result",)
    assert await journal.pinned("s1") == frozenset()
    assert (await journal.shelved("s1", [back.digest]))[back.digest] == StoredMessage(True, {})


async def test_a_forgotten_reply_is_forgotten_in_the_form_in_which_it_was_sent_back(journal: SqlJournal) -> None:
    back, one = await shed(journal)
    row = await journal._db.read(
        lambda c: c.execute("SELECT body FROM messages WHERE digest = ?", (back.digest,)).fetchone()
    )
    await journal.forget([one.id], AT)
    assert row["body"] not in stored(journal)
    (kept,) = await journal.messages_by_digest("u:/ann", back.digest.hex())
    assert kept.forgotten
    assert kept.message.text == FORGOTTEN


async def test_a_forgotten_reply_is_not_taken_in_again_in_another_form(journal: SqlJournal) -> None:
    _, one = await shed(journal)
    await journal.forget([one.id], AT)
    note = (Text(f"I note that {WORDS}"),)
    item = Message(Role.ASSISTANT, note, digest(Role.ASSISTANT, note))
    await journal.commit(exchange("e5", [user("go"), item, user("on")], of=session("s5")))
    await journal._db.scrub()
    assert b"marmalade" not in stored(journal)
    (kept,) = await journal.messages_by_digest("u:/ann", item.digest.hex())
    assert (kept.forgotten, kept.message.text) == (True, FORGOTTEN)


async def test_a_word_that_many_messages_say_is_not_forgotten_with_one_of_them(journal: SqlJournal) -> None:
    parts = (Text("Done."), Text(f"And I know that {WORDS}"))
    reply = Message(Role.ASSISTANT, parts, digest(Role.ASSISTANT, parts))
    await journal.commit(exchange("e1", [user("go"), assistant("Done."), user("on")], parts))
    one = fact(WORDS, source=reply.digest)
    await journal.learn(Lesson(1, (one,)))
    await journal.forget([one.id], AT)
    (kept,) = await journal.messages_by_digest("u:/ann", assistant("Done.").digest.hex())
    assert kept.message == assistant("Done.")


async def test_an_overview_that_comes_late_is_not_written_of_what_was_forgotten(journal: SqlJournal) -> None:
    back, one = await shed(journal)
    await journal.forget([one.id], AT)
    await journal.write_overviews(3, "u:/ann", {(back.digest, 0): Overview(1, WORDS, WORDS, 1)})
    await journal._db.scrub()
    assert WORDS.encode() not in stored(journal)


def test_lines_that_tell_of_a_forgotten_text_are_found_by_their_words() -> None:
    text = "one\nThe *launch* code is: Marmalade!\nlaunch code\nsee ab12.3\nthe launch of the code"
    assert LineEraser([WORDS], ["ab12"]).without(text) == "one\nlaunch code\nthe launch of the code"
    assert LineEraser(["Launch code"]).without(text) == "one\nsee ab12.3\nthe launch of the code"
    assert LineEraser([]).without(text) == text
    assert LineEraser(["发射代码是果酱"]).without("一\n他说发射代码是果酱。\n发射") == "一\n发射"


async def test_what_was_decided_of_what_is_forgotten_goes_with_it(journal: SqlJournal) -> None:
    gone, stays = fact("We use pnpm"), fact("We use make")
    await journal.learn(Lesson(0, facts=(gone, stays)))
    named = {"changes": [{"fact": stays.id, "fields": {"contradicts": [[gone.id], []]}}]}
    other = {"changes": [{"fact": stays.id, "fields": {}}]}
    kept = [{"changes": [{"fact": gone.id, "fields": {}}]}, named, other]
    await journal.set_meta(FACT_DECISIONS + gone.owner, orjson.dumps(kept))
    await journal.forget([gone.id], AT)
    assert orjson.loads(await journal.meta(FACT_DECISIONS + gone.owner) or b"") == [other]
