"""What is looked at of a session without end says the same as the whole of it, and is no larger than its reach."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from memory.context.fallback_trim import fallback_trim
from memory.context.visible_history import REACH, VisibleHistory, sight
from memory.conversation import Conversation, Form
from memory.edits import Act, ActiveEdits, Entry, Ledger
from tests.memory.context.sessions import faults, person, rounds, session, shown
from tests.memory.context.test_fallback_trim import budget_of

TOKENS = st.sampled_from([10, 700, 60_000, 125_000, REACH, REACH + 1])


@st.composite
def long_sessions(draw: st.DrawFn) -> tuple[Conversation, list[int], Ledger]:
    """A session of which most has left, its messages' tokens as the client sent them, and its ledger."""
    messages = []
    for number in range(draw(st.integers(2, 10))):
        # The same may be said and read again.
        if draw(st.booleans()):
            messages.append(person(draw(st.sampled_from(["Go on.", f"And the {number}th?"]))))
        answer = draw(st.sampled_from(["The mole is dry.", f"Berth {number} is free."]))
        messages += rounds(("read", {"file": "harbour"}, answer), first=number)
    conversation = session(*messages)
    keys, head = conversation.keys(), conversation.head
    whole = [10] * head + [draw(TOKENS) for _ in keys[head:]]
    ledger = Ledger()
    starts = [index for index in range(head, len(keys)) if not conversation.messages[index].results]
    for cut in sorted(draw(st.sets(st.sampled_from(starts), max_size=2))):
        ledger.write(Entry(*keys[cut], f"The note at {cut}.", Form.SUFFIX, "rotate", act=Act.CUT))
    for index in range(len(keys)):
        key = keys[index]
        if index >= head and conversation.messages[index].results and draw(st.booleans()):
            ledger.write(Entry(*key, f"[stub {index}]", Form.SUFFIX, "shed", act=Act.REPLACE))
        if conversation.messages[index].spoken and draw(st.booleans()):
            ledger.write(Entry(*key, f"[memory {index}]", Form.SUFFIX, "recall", (f"m{index}",)))
        if draw(st.integers(0, 4)) == 0:
            ledger.write(Entry(*key, f"[round {index}]", Form.SUFFIX, "asked", act=Act.INSERT))
    return conversation, whole, ledger


def sizes_of(whole: Sequence[int], standing: ActiveEdits) -> list[int]:
    """The messages' tokens as they stand."""
    sizes = [0 if index in standing.dropped else size for index, size in enumerate(whole)]
    for index, _ in standing.replaced:
        sizes[index] = 5
    for index, entry in standing.entries:
        sizes[index] += len(entry.text) // 4
    return sizes


def seen_of(conversation: Conversation, whole: Sequence[int], standing: ActiveEdits) -> VisibleHistory:
    return sight(conversation, conversation.keys(), whole, sizes_of(whole, standing), standing)


@given(told=long_sessions())
def test_what_stands_in_a_request_is_seen_in_its_place(told: tuple[Conversation, list[int], Ledger]) -> None:
    conversation, whole, ledger = told
    keys = conversation.keys()
    standing = ledger.active(keys, conversation.head)
    seen = seen_of(conversation, whole, standing)
    sizes = sizes_of(whole, standing)
    places = [seen.place(index) for index in range(len(seen.conversation.messages))]
    assert [conversation.messages[place] for place in places] == list(seen.conversation.messages)
    assert [keys[place] for place in places] == list(seen.keys)
    assert [sizes[place] for place in places] == list(seen.sizes)
    assert sum(seen.sizes) == sum(sizes) and seen.conversation.head == conversation.head
    assert [seen.place(index) for index in seen.standing.dropped] == list(standing.dropped)[seen.beyond :]
    assert {(seen.place(index), part): each for (index, part), each in seen.standing.replaced.items()} == dict(
        standing.replaced
    )
    assert [(seen.place(index), entry) for index, entry in seen.standing.entries] == list(standing.entries)
    assert {seen.place(index): entry for index, entry in seen.standing.inserted.items()} == dict(standing.inserted)
    assert shown(seen.conversation, seen.standing) == shown(conversation, standing)


@given(told=long_sessions())
def test_of_what_left_as_much_is_seen_as_is_within_reach(told: tuple[Conversation, list[int], Ledger]) -> None:
    conversation, whole, ledger = told
    standing = ledger.active(conversation.keys(), conversation.head)
    seen = seen_of(conversation, whole, standing)
    left = whole[standing.dropped.start : standing.dropped.stop]
    assert sum(left[seen.beyond :]) <= REACH
    assert seen.beyond == 0 or sum(left[seen.beyond - 1 :]) > REACH


@given(told=long_sessions(), window=st.sampled_from([700, 2_000, 150_000]))
def test_what_is_decided_about_what_is_seen_holds_for_the_whole(
    told: tuple[Conversation, list[int], Ledger], window: int
) -> None:
    conversation, whole, ledger = told
    keys = conversation.keys()
    standing = ledger.active(keys, conversation.head)
    seen = seen_of(conversation, whole, standing)
    parts = [(whole[seen.place(index)],) * len(each.parts) for index, each in enumerate(seen.conversation.messages)]
    made = fallback_trim(
        seen.conversation, seen.sizes, parts.__getitem__, budget_of(window), seen.standing, {}, lambda *of: True
    )
    for each in made.replacements:
        entry = Entry(*seen.keys[each.message], each.text, Form.SUFFIX, "shed", act=Act.REPLACE, part=each.part)
        ledger.write(entry)
    if made.cut is not None:
        at = seen.place(made.cut.message)
        ledger.write(Entry(*keys[at], made.cut.text, Form.SUFFIX, "rotate", act=Act.CUT))
    after = ledger.active(keys, conversation.head)
    assert after.dropped.stop == (standing.dropped.stop if made.cut is None else at)
    assert after.dropped.stop >= standing.dropped.stop
    assert not faults(shown(conversation, after))
