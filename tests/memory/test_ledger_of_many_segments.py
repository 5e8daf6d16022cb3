"""A session without end has one note after the other, and one stands in its requests: the others take little room."""

from __future__ import annotations

from memory.conversation import Form
from memory.edits import Act, Append, Entry, Key, Ledger

NOTE = "\n".join(f"café/{number}.py: limit_{number} is set, and nobody asked for it yet" for number in range(1500))
"""Some 100,000 characters, as a note of a large window has them."""


def key(number: int) -> Key:
    return number.to_bytes(16, "big"), 0


def cut(number: int) -> Entry:
    return Entry(*key(number), f"{NOTE}\n{number}", Form.SUFFIX, "rotate", act=Act.CUT)


def note_in(ledger: Ledger, messages: int) -> str:
    [text] = [
        edit.text
        for edit in ledger.active([key(each) for each in range(messages)], 1).edits
        if isinstance(edit, Append)
    ]
    return text


def test_what_a_ledger_takes_grows_with_a_segment_by_a_fraction_of_its_note() -> None:
    one, many = Ledger([cut(1)]), Ledger(cut(number) for number in range(1, 41))
    assert one.weight > len(NOTE)
    assert many.weight < one.weight + 40 * len(NOTE) // 8


def test_a_client_that_goes_back_behind_a_cut_has_the_earlier_note_and_then_the_newer_one_again() -> None:
    ledger = Ledger(cut(number) for number in range(1, 10))
    for messages in (10, 6, 3, 10):
        assert note_in(ledger, messages) == f"{NOTE}\n{messages - 1}"


def test_only_the_note_that_stands_is_kept_as_it_is() -> None:
    ledger = Ledger(cut(number) for number in range(1, 10))
    weight = ledger.weight
    for messages in (6, 3, 10):
        note_in(ledger, messages)
        assert abs(ledger.weight - weight) < len(NOTE) // 100


def test_whoever_asks_for_all_of_it_has_every_note_whole() -> None:
    written = [cut(number) for number in range(1, 10)]
    ledger = Ledger(written)
    assert list(ledger) == written
    assert ledger.at([key(4)]) == [written[3]]


def test_a_ledger_with_some_decisions_more_leaves_the_session_its_own() -> None:
    ledger = Ledger(cut(number) for number in range(1, 5))
    more = ledger.with_more([cut(7)])
    assert note_in(more, 8) == f"{NOTE}\n7"
    assert note_in(ledger, 8) == f"{NOTE}\n4"
    assert note_in(more, 8) == f"{NOTE}\n7"
    assert len(ledger) == 4


def test_a_note_with_half_a_pair_of_surrogates_comes_back_as_it_was() -> None:
    odd = Entry(*key(1), "\ud83d and so on", Form.SUFFIX, "rotate", act=Act.CUT)
    assert next(iter(Ledger([odd, cut(2)]))) == odd
