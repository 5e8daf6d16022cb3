"""The ledger keeps what a session offers, and the rounds of a reply that its client does not see."""

from __future__ import annotations

from memory.conversation import Form
from memory.edits import OFFERED, Act, Append, Drop, Entry, Insert, Ledger

KEYS = [(bytes([number]) * 16, 0) for number in range(1, 7)]


def entry(place: int, text: str, act: Act = Act.INSERT, reason: str = "hidden") -> Entry:
    return Entry(*KEYS[place], text, Form.PART, reason, act=act)


def test_of_a_messages_hidden_rounds_the_last_written_hold() -> None:
    ledger = Ledger([entry(2, "first"), entry(2, "second"), entry(4, "other")])
    assert ledger.active(KEYS, 1).edits == (Insert(2, "second"), Insert(4, "other"))
    ledger.write(entry(2, ""))
    assert ledger.active(KEYS, 1).edits == (Insert(4, "other"),)
    assert not ledger.shed


def test_they_stand_beside_what_is_added() -> None:
    ledger = Ledger([entry(2, "memory", Act.APPEND, "recall"), entry(2, "rounds")])
    assert ledger.active(KEYS, 1).edits == (Append(2, "memory", Form.PART), Insert(2, "rounds"))


def test_where_a_segment_begins_those_before_it_are_gone_with_their_replies() -> None:
    ledger = Ledger([entry(0, "head"), entry(2, "old"), entry(4, "new"), entry(3, "note", Act.CUT, "rotate")])
    standing = ledger.active(KEYS, 1)
    assert [edit for edit in standing.edits if isinstance(edit, Insert)] == [Insert(4, "new")]
    assert [edit for edit in standing.edits if isinstance(edit, Drop)] == [Drop(1, 2)]


def test_what_a_session_offers_is_no_edit_of_any_message() -> None:
    ledger = Ledger([Entry(*OFFERED, "definitions", Form.PART, "offer", act=Act.OFFER)])
    assert ledger.offers == "definitions"
    assert ledger.active(KEYS, 1).edits == ()
    assert Ledger().offers == ""
