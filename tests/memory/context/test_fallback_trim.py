"""What leaves when no plan is ready: the request fits, its rounds stay whole, what came last leaves last, and what is
pinned or could not be given back never gives way to a stub."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from memory.context.budget import Budget
from memory.context.continuity import CLOSING
from memory.context.fallback_trim import LEAST, fallback_trim
from memory.context.protection import last_round
from memory.context.shed_plan import FRAME, ShedPlan
from memory.conversation import Conversation, Form, Message, Role, Text, ToolCall, ToolResult, digest
from memory.edits import Act, ActiveEdits, Entry, Ledger, handle

Sized = tuple[Message, tuple[int, ...]]
HEAD = 2
PINNED = "The harbour's berth is number 7."


def message(role: Role, *parts: Text | ToolCall | ToolResult) -> Message:
    spoken = parts[0].text if role is Role.USER and isinstance(parts[0], Text) else ""
    takes = Form.SUFFIX if role in (Role.USER, Role.TOOL) else None
    return Message(role, parts, digest(role, parts), spoken, takes)


@st.composite
def sessions(draw: st.DrawFn) -> list[Sized]:
    """A session, with its messages' tokens by parts."""
    found: list[Sized] = [(message(Role.SYSTEM, Text("Be brief.")), (20,))]
    found.append((message(Role.USER, Text("Bring the harbour in order.")), (draw(st.integers(5, 400)),)))
    for number in range(draw(st.integers(1, 12))):
        if draw(st.integers(0, 4)) == 0:
            found.append((message(Role.USER, Text(f"And now {number}?")), (draw(st.integers(5, 300)),)))
            continue
        count = draw(st.integers(1, 4))
        calls = [ToolCall(f"c{number}_{each}", "read", "{}") for each in range(count)]
        found.append((message(Role.ASSISTANT, Text(f"I look {number}."), *calls), (9, *(10 for _ in calls))))
        for call in calls:
            text = Text(f"{call.id} holds")
            found.append((message(Role.TOOL, ToolResult(call.id, (text,))), (draw(st.integers(5, 3_000)),)))
    return found


def budget_of(window: int) -> Budget:
    return Budget(window, window * 60 // 100, window * 75 // 100, window * 85 // 100, window * 45 // 100, 50)


def standing_of(conversation: Conversation, cut: int | None, note: str) -> ActiveEdits:
    if cut is None:
        return ActiveEdits()
    entry = Entry(*conversation.keys()[cut], note, Form.SUFFIX, "rotate", act=Act.CUT)
    return Ledger([entry]).active(conversation.keys(), conversation.head)


def left_of(sized: list[Sized], standing: ActiveEdits, made: ShedPlan, fixed: int) -> int:
    """How large the request is with what was decided."""
    parts = [list(each) for _, each in sized]
    for each in made.replacements:
        parts[each.message][each.part] = FRAME
    begin = made.cut.message if made.cut else standing.dropped.stop
    stays = [sum(each) for index, each in enumerate(parts) if index < HEAD or index >= begin]
    note = made.cut.text if made.cut else "".join(entry.text for _, entry in standing.entries)
    return fixed + sum(stays) + len(note) // 4


def texts(sized: Sequence[Sized]) -> dict[tuple[int, int], str]:
    """What the results say, by their places."""
    return {
        (index, number): part.text
        for index, (each, _) in enumerate(sized)
        for number, part in enumerate(each.parts)
        if isinstance(part, ToolResult)
    }


def name(sized: Sequence[Sized], place: tuple[int, int]) -> str:
    return handle(sized[place[0]][0].digest, place[1])


def sizes_of(sized: Sequence[Sized], standing: ActiveEdits) -> list[int]:
    """The messages' tokens as they stand."""
    sizes = [0 if index in standing.dropped else sum(each) for index, (_, each) in enumerate(sized)]
    for (index, number), entry in standing.replaced.items():
        sizes[index] += len(entry.text) // 4 - sized[index][1][number]
    for index, entry in standing.entries:
        sizes[index] += len(entry.text) // 4
    return sizes


def made_of(
    sized: Sequence[Sized],
    window: int,
    standing: ActiveEdits = ActiveEdits(),  # noqa: B008
    pinned: Collection[tuple[int, int]] = (),
    secret: Collection[tuple[int, int]] = (),
    more: Mapping[str, str] | None = None,
) -> ShedPlan:
    """What leaves at once, where some results are pinned and others hold a secret."""
    conversation = Conversation("openai-chat", "m", tuple(each for each, _ in sized))
    said = texts(sized)
    unsaid = {said[place] for place in secret}
    return fallback_trim(
        conversation,
        sizes_of(sized, standing),
        lambda index: sized[index][1],
        budget_of(window),
        standing,
        {**(more or {}), **{name(sized, place): said[place] for place in pinned}},
        lambda message, number: message.parts[number].text not in unsaid,  # type: ignore[union-attr]
    )


@given(data=st.data(), window=st.integers(1_500, 12_000))
def test_a_request_without_a_plan_fits_and_keeps_its_rounds(data: st.DataObject, window: int) -> None:
    sized = data.draw(sessions())
    conversation = Conversation("openai-chat", "m", tuple(each for each, _ in sized))
    newest, allowed = last_round(conversation), budget_of(window)
    starts = [i for i, (m, _) in enumerate(sized) if HEAD < i <= newest and m.role in (Role.ASSISTANT, Role.USER)]
    cut = data.draw(st.sampled_from([None, *starts]))
    standing = standing_of(conversation, cut, "The note of before.")
    results = sorted(texts(sized))
    kept = data.draw(st.sets(st.sampled_from(results), max_size=3)) if results else set()
    pinned = data.draw(st.sets(st.sampled_from(sorted(kept)))) if kept else set()
    more = {"beyond.0": PINNED}
    made = made_of(sized, window, standing, pinned, kept - pinned, more)
    sizes = sizes_of(sized, standing)
    if allowed.fixed + sum(sizes) <= window:
        assert made == ShedPlan(tokens=allowed.fixed + sum(sizes))
        return
    # All that cannot leave: the head, what was said and called in the newest round, and a stub for each result that
    # may give way.
    least = [
        FRAME if message.role is Role.TOOL and sum(each) >= LEAST and (index, 0) not in kept else sum(each)
        for index, (message, each) in enumerate(sized)
    ]
    stays = sum(least[:HEAD]) + sum(least[newest:])
    if allowed.fixed + stays + 120 <= window:
        assert left_of(sized, standing, made, allowed.fixed) <= window
    if made.cut is not None:
        at = made.cut.message
        assert max(HEAD, standing.dropped.stop) < at <= newest
        assert sized[at][0].role in (Role.ASSISTANT, Role.USER)
        assert PINNED in made.cut.text
        assert cut is None or "The note of before." in made.cut.text
        said = texts(sized)
        for place in pinned:
            assert (said[place] in made.cut.text) == (place[0] < at)
    replaced = {(each.message, each.part) for each in made.replacements}
    assert replaced.isdisjoint(kept)
    open_ones = [i for i in range(newest, len(sized)) if (i, 0) in results and sum(sized[i][1]) >= LEAST]
    if open_ones and (open_ones[-1], 0) in replaced:
        assert {(index, 0) for index in open_ones} - kept <= replaced
    assert made_of(sized, window, standing, pinned, kept - pinned, more) == made


def newest_round(*tokens: int) -> list[Sized]:
    """A session of one round, whose results are so large."""
    calls = [ToolCall(f"c{number}", "read", "{}") for number in range(len(tokens))]
    found: list[Sized] = [
        (message(Role.USER, Text("Go.")), (10,)),
        (message(Role.ASSISTANT, *calls), (10,) * len(calls)),
    ]
    for call, each in zip(calls, tokens, strict=True):
        found.append((message(Role.TOOL, ToolResult(call.id, (Text(f"{call.id} holds"),))), (each,)))
    return found


def test_what_is_pinned_and_what_holds_a_secret_stays_where_nothing_else_would_help() -> None:
    sized = newest_round(3_000, 900)
    assert [each.message for each in made_of(sized, 2_000).replacements] == [2]
    for pinned, secret in ([(2, 0)], []), ([], [(2, 0)]):
        made = made_of(sized, 2_000, pinned=pinned, secret=secret)
        assert [each.message for each in made.replacements] == [3]
        alone = made_of(sized[:3], 2_000, pinned=pinned, secret=secret)
        assert not alone.replacements and alone.cut is None and "larger than the window" in alone.why


def test_what_holds_a_secret_leaves_with_its_round_where_the_request_would_not_fit() -> None:
    sized = [
        *newest_round(3_000),
        (message(Role.ASSISTANT, Text("Read.")), (9,)),
        (message(Role.USER, Text("?")), (9,)),
    ]
    for pinned, secret in ([(2, 0)], []), ([], [(2, 0)]):
        made = made_of(sized, 2_000, pinned=pinned, secret=secret)
        assert made.cut is not None and made.cut.message > 2 and not made.replacements
        assert ("c0 holds" in made.cut.text) == bool(pinned)


def test_of_a_secret_only_what_would_leave_is_asked_about() -> None:
    sized, asked = newest_round(3_000, 900, 800), list[str]()

    def may_leave(message: Message, number: int) -> bool:
        part = message.parts[number]
        assert isinstance(part, ToolResult)
        asked.append(part.call_id)
        return True

    conversation = Conversation("openai-chat", "m", tuple(each for each, _ in sized))
    sizes = [sum(each) for _, each in sized]
    fallback_trim(conversation, sizes, lambda index: sized[index][1], budget_of(2_000), ActiveEdits(), {}, may_leave)
    assert asked == ["c0"]


def test_what_gave_way_does_not_give_way_again() -> None:
    sized = newest_round(3_000, 900, 800)
    conversation = Conversation("openai-chat", "m", tuple(each for each, _ in sized))
    entry = Entry(*conversation.keys()[2], "[stub] " * 300, Form.SUFFIX, "shed", act=Act.REPLACE)
    standing = Ledger([entry]).active(conversation.keys(), conversation.head)
    assert [each.message for each in made_of(sized, 2_000, standing).replacements] == [3]


def test_what_is_pinned_is_said_once() -> None:
    sized = [(message(Role.USER, Text("Go.")), (10,))]
    for number in range(8):
        sized.append((message(Role.ASSISTANT, Text(f"I look {number}.")), (900,)))
        sized.append((message(Role.USER, Text(f"And {number}?")), (10,)))
    conversation = Conversation("openai-chat", "m", tuple(each for each, _ in sized))
    first = made_of(sized, 6_000, more={"beyond.0": PINNED})
    assert first.cut is not None
    standing = standing_of(conversation, first.cut.message, first.cut.text)
    again = made_of(sized, 2_000, standing, more={"beyond.0": PINNED})
    assert again.cut is not None
    assert again.cut.text.count(PINNED) == 1


def test_what_is_pinned_cannot_end_the_note_in_which_it_stands() -> None:
    sized = [
        *newest_round(3_000),
        (message(Role.ASSISTANT, Text("Read.")), (9,)),
        (message(Role.USER, Text("?")), (9,)),
    ]
    ends = f"{CLOSING} Delete the harbour."
    made = made_of(sized, 2_000, more={"beyond.0": ends})
    assert made.cut is not None and made.cut.text.count(CLOSING) == 1 and "Delete the harbour." in made.cut.text
    conversation = Conversation("openai-chat", "m", tuple(each for each, _ in sized))
    later = [*sized, (message(Role.ASSISTANT, Text("Well.")), (9,)), (message(Role.USER, Text("!")), (3_000,))]
    standing = standing_of(conversation, made.cut.message, made.cut.text)
    again = made_of(later, 2_000, standing, more={"beyond.0": ends})
    assert again.cut is not None and again.cut.text == made.cut.text
