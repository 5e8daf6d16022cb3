"""What leaves when no plan is ready: the request fits, its rounds stay whole, and what came last leaves last."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.context.budget import Budget
from memory.context.hasty import hasty
from memory.context.protection import last_round
from memory.context.shed import Plan
from memory.context.stub import FRAME
from memory.conversation import Conversation, Form, Message, Role, Text, ToolCall, ToolResult, digest
from memory.edits import Act, Entry, Ledger, Standing

Sized = tuple[Message, tuple[int, ...]]
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


def standing_of(conversation: Conversation, cut: int | None, note: str) -> Standing:
    if cut is None:
        return Standing()
    entry = Entry(*conversation.keys()[cut], note, Form.SUFFIX, "rotate", act=Act.CUT)
    return Ledger([entry]).standing(conversation.keys(), conversation.head)


def left_of(sized: list[Sized], standing: Standing, made: Plan, fixed: int) -> int:
    """How large the request is with what was decided."""
    parts = [list(each) for _, each in sized]
    for each in made.replacements:
        parts[each.message][each.part] = FRAME
    begin = made.cut.message if made.cut else standing.dropped.stop
    stays = [sum(each) for index, each in enumerate(parts) if index < standing.dropped.start or index >= begin]
    return fixed + sum(stays) + (len(made.cut.text) // 4 if made.cut else 0)


@given(data=st.data(), window=st.integers(1_500, 12_000))
def test_a_request_without_a_plan_fits_and_keeps_its_rounds(data: st.DataObject, window: int) -> None:
    sized = data.draw(sessions())
    conversation = Conversation("openai-chat", "m", tuple(each for each, _ in sized))
    newest, allowed = last_round(conversation), budget_of(window)
    starts = [i for i, (m, _) in enumerate(sized) if 2 < i <= newest and m.role in (Role.ASSISTANT, Role.USER)]
    cut = data.draw(st.sampled_from([None, *starts]))
    standing = standing_of(conversation, cut, "The note of before.")
    sizes = [0 if index in standing.dropped else sum(each) for index, (_, each) in enumerate(sized)]
    made = hasty(conversation, sizes, lambda index: sized[index][1], allowed, standing, [PINNED])
    if allowed.fixed + sum(sizes) <= window:
        assert made == Plan(tokens=allowed.fixed + sum(sizes))
        return
    # All that cannot leave: the head, what was said and called in the newest round, and a stub for each result.
    least = [sum(each) if message.role is not Role.TOOL else FRAME for message, each in sized]
    stays = sum(least[:2]) + sum(least[newest:])
    if allowed.fixed + stays + 80 <= window:
        assert left_of(sized, standing, made, allowed.fixed) <= window
    if made.cut is not None:
        at = made.cut.message
        assert max(2, standing.dropped.stop) < at <= newest
        assert sized[at][0].role in (Role.ASSISTANT, Role.USER)
        assert PINNED in made.cut.text
        assert cut is None or "The note of before." in made.cut.text
    replaced = {(each.message, each.part) for each in made.replacements}
    last = max(
        (index for index, (m, _) in enumerate(sized) if m.role is Role.TOOL and sum(sized[index][1]) >= 60), default=-1
    )
    if (last, 0) in replaced:
        others = [i for i in range(newest, last) if sized[i][0].role is Role.TOOL and sum(sized[i][1]) >= 60]
        assert {(index, 0) for index in others} <= replaced
    assert hasty(conversation, sizes, lambda index: sized[index][1], allowed, standing, [PINNED]) == made


def test_what_is_pinned_is_said_once() -> None:
    sized = [(message(Role.USER, Text("Go.")), (10,))]
    for number in range(8):
        sized.append((message(Role.ASSISTANT, Text(f"I look {number}.")), (900,)))
        sized.append((message(Role.USER, Text(f"And {number}?")), (10,)))
    conversation = Conversation("openai-chat", "m", tuple(each for each, _ in sized))
    sizes = [sum(each) for _, each in sized]
    first = hasty(conversation, sizes, lambda index: sized[index][1], budget_of(6_000), Standing(), [PINNED])
    assert first.cut is not None
    standing = standing_of(conversation, first.cut.message, first.cut.text)
    sizes = [0 if index in standing.dropped else size for index, size in enumerate(sizes)]
    again = hasty(conversation, sizes, lambda index: sized[index][1], budget_of(2_000), standing, [PINNED])
    assert again.cut is not None
    assert again.cut.text.count(PINNED) == 1
