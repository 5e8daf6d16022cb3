"""Sheds: rare, batched, monotone, deterministic, and never what must stay."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.budget import Budget, Prices
from memory.context.continuity import NoteContents
from memory.context.shed import plan
from memory.context.shed_plan import ShedPlan, excerpt_of
from memory.conversation import Conversation, Message, Reasoning, Role, Text, ToolCall, ToolResult
from memory.edits import ActiveEdits, ContentTier, Ledger, handle
from tests.memory.context.sessions import faults, person, pieces, rounds, said, session, shown, sizes, written

_RANK = {ContentTier.L0: 0, ContentTier.L1: 1, ContentTier.L2: 2}


def budget(window: int, fixed: int = 0) -> Budget:
    trim, fold, rotate, target = (int(window * share) for share in (0.60, 0.75, 0.85, 0.45))
    return Budget(window, trim, fold, rotate, target, fixed)


def text(number: int, lines: int = 60) -> str:
    return "\n".join(f"line {line} of output_{number} mentions symbol_{number}_{line}" for line in range(lines))


def work(count: int, lines: int = 60) -> Conversation:
    return session(*rounds(*(("Read", {"file_path": f"src/file_{n}.py"}, text(n, lines)) for n in range(count))))


def decide(
    conversation: Conversation, window: int, ledger: Ledger | None = None, warm: bool = True, **more: object
) -> tuple[ShedPlan, ActiveEdits]:
    ledger = Ledger() if ledger is None else ledger
    standing = ledger.active(conversation.keys(), conversation.head)
    decided = plan(
        conversation,
        pieces(conversation, standing),
        sizes(conversation, standing),
        budget(window),
        standing,
        warm,
        20.0,
        **more,  # type: ignore[arg-type]
    )
    return decided, written(ledger, conversation, decided)


def test_below_the_first_threshold_nothing_is_shed() -> None:
    conversation = work(10)
    decided, _ = decide(conversation, sum(sizes(conversation)) * 2, warm=False)
    assert decided == ShedPlan(tokens=sum(sizes(conversation)))


def test_a_server_that_holds_the_history_is_left_alone() -> None:
    conversation = replace(work(30), continues="resp_1")
    decided, _ = decide(conversation, 4_000)
    assert not decided.replacements and decided.cut is None and "history" in decided.why


def test_in_a_warm_cache_a_fold_waits_until_the_request_would_not_fit() -> None:
    conversation = work(30)
    window = int(sum(sizes(conversation)) / 0.9)
    assert not decide(conversation, window)[0].replacements
    assert decide(conversation, window, warm=False)[0].replacements
    assert decide(conversation, int(window * 0.85))[0].replacements


def test_a_fold_goes_down_to_the_target_and_leaves_the_newest_round_whole() -> None:
    conversation = work(30)
    window = sum(sizes(conversation)) - 50
    decided, standing = decide(conversation, window)
    assert decided.shed is not None and decided.shed.step == "fold"
    assert sum(sizes(conversation, standing)) <= window * 0.46
    newest = len(conversation.messages) - 2
    assert all(each.message < newest for each in decided.replacements)
    assert all(each.tier is ContentTier.L1 for each in decided.replacements)


def test_what_a_plan_says_of_its_tokens_is_about_right() -> None:
    conversation = work(30)
    decided, standing = decide(conversation, sum(sizes(conversation)) - 50)
    assert decided.tokens == pytest.approx(sum(sizes(conversation, standing)), rel=0.1)


def test_what_stands_again_later_leaves_first() -> None:
    again = rounds(("Read", {"file_path": "src/file_3.py"}, text(3)), first=90)
    conversation = session(*work(20).messages[2:], *again, *work(20).messages[2:12])
    decided, _ = decide(conversation, sum(sizes(conversation)) - 1)
    third = next(each for each in decided.replacements if each.message == 2 + 3 * 2 + 1)
    assert third.tier is ContentTier.L0 and "again" in third.why


def test_a_trim_in_a_warm_cache_is_done_only_when_it_pays() -> None:
    conversation = session(*rounds(*(("Bash", {"command": "make"}, text(7)) for _ in range(30))))
    window = int(sum(sizes(conversation)) / 0.7)
    cheap, dear = Prices(fresh=1.0, cached=0.5), Prices(fresh=100.0, cached=0.1)
    decided, _ = decide(conversation, window, prices=cheap)
    assert decided.shed is not None and decided.shed.step == "trim"
    assert not decide(conversation, window, prices=dear)[0].replacements


def test_pinned_parts_and_the_newest_plan_stay_whole() -> None:
    todos = {"todos": [{"content": f"step {n} " * 20, "status": "pending"} for n in range(9)]}
    planned = rounds(("TodoWrite", todos, text(99)), first=90)
    conversation = session(*planned, *work(30).messages[2:])
    pin = next(piece for piece in pieces(conversation) if piece.message == 7)
    decided, _ = decide(conversation, sum(sizes(conversation)) * 6 // 10, pinned={pin.handle: text(2)})
    assert {each.message for each in decided.replacements}.isdisjoint({2, 3, 7})
    assert {each.message for each in decided.replacements} >= {9, 11}


def test_a_note_says_what_is_pinned_and_leaves_and_not_what_stands_behind_it() -> None:
    conversation = work(150, lines=25)
    leaves, stays = (
        (conversation.messages[index], conversation.messages[index].results[0].text)
        for index in (5, len(conversation.messages) - 1)
    )
    pinned = {handle(message.digest, 0): said for message, said in (leaves, stays)}
    decided, standing = decide(conversation, 9_000, pinned=pinned)
    assert decided.cut is not None and decided.cut.message > 5
    assert leaves[1] in decided.cut.text and stays[1] not in decided.cut.text
    assert stays[0] in shown(conversation, standing)
    # A message of the head never leaves.
    head = conversation.messages[1]
    decided, _ = decide(conversation, 9_000, pinned={handle(head.digest, 0): head.text})
    assert decided.cut is not None and f"Pinned:\n- {head.text}" not in decided.cut.text


def test_human_messages_leave_last() -> None:
    asked = [person(f"Please also look at {text(n, 8)}") for n in range(5)]
    conversation = session(*asked, *work(30).messages[2:])
    decided, _ = decide(conversation, sum(sizes(conversation)) // 2)
    assert all(each.message >= 7 for each in decided.replacements)


def test_where_overviews_are_too_much_a_new_segment_begins_with_a_note() -> None:
    conversation = work(150, lines=25)
    decided, standing = decide(conversation, 9_000, contents=NoteContents(pinned=("Never touch the vendored code.",)))
    assert decided.cut is not None and decided.shed is not None and decided.shed.step == "rotate"
    assert "Never touch the vendored code." in decided.cut.text
    assert sum(sizes(conversation, standing)) <= 9_000
    assert not faults(shown(conversation, standing))
    assert all(each.message >= decided.cut.message for each in decided.replacements)


def test_a_new_note_is_chosen_out_of_the_whole_session_and_not_out_of_the_note_before() -> None:
    """What no room was found for once may be what the next segment needs: the client still sends it."""
    printed = "\n".join(f"seldom_used_name_{n} = 0" for n in range(400))
    spoken = "\n".join(f"often_used_name_{n} matters" for n in range(600))
    beginning = (*rounds(("Bash", {"command": "list"}, printed)), said(Role.ASSISTANT, Text(spoken)), person("go on"))
    many = [("Bash", {"command": f"n{number}"}, f"{number} is all there is\n" * 60) for number in range(300)]
    first = session(*beginning, *rounds(*many[:150], first=1))
    ledger = Ledger()
    decided, _ = decide(first, 9_000, ledger)
    assert decided.cut is not None and decided.cut.text.count("seldom_used_name") < 20
    newest = rounds(*many[150:], ("Bash", {"command": "others"}, spoken), first=151)
    decided, _ = decide(replace(first, messages=(*first.messages, *newest)), 9_000, ledger)
    assert decided.cut is not None and decided.cut.text.count("seldom_used_name") > 200


def test_a_window_smaller_than_what_must_stay_gets_a_warning_and_the_smallest_request() -> None:
    huge = person("x" * 40_000)
    conversation = Conversation("openai-chat", "m", (huge, *work(6).messages[2:]))
    ledger = Ledger()
    decided, standing = decide(conversation, 5_000, ledger)
    assert "larger than the window" in decided.why
    assert not faults(shown(conversation, standing))
    again, _ = decide(conversation, 5_000, ledger)
    assert not again.replacements and again.cut is None and "larger" in again.why


def test_the_newest_results_give_way_only_where_the_request_would_not_fit() -> None:
    calls = tuple(ToolCall(f"p{n}", "Read", json.dumps({"path": f"big{n}"})) for n in range(4))
    results = [said(Role.TOOL, ToolResult(f"p{n}", (Text(text(n, 200)),))) for n in range(4)]
    conversation = session(said(Role.ASSISTANT, *calls), *results)
    window = sum(sizes(conversation)) * 3 // 4
    decided, standing = decide(conversation, window)
    assert decided.replacements and not decided.why
    assert window // 2 < sum(sizes(conversation, standing)) <= window


@given(st.lists(st.integers(10, 240), min_size=1, max_size=4), st.integers(4, 30))
def test_what_came_last_leaves_last(lines: list[int], before: int) -> None:
    calls = [ToolCall(f"n{number}", "Read", f'{{"file_path": "src/new_{number}.py"}}') for number in range(len(lines))]
    results = [ToolResult(f"n{number}", (Text(text(100 + number, each)),)) for number, each in enumerate(lines)]
    newest = [said(Role.ASSISTANT, *calls), *(said(Role.TOOL, result) for result in results)]
    conversation = session(*work(before).messages[2:], *newest)
    decided, standing = decide(conversation, window := 6_000)
    whole, replaced = sizes(conversation), {each.message for each in decided.replacements}
    last, begin = len(whole) - 1, len(whole) - len(newest)
    if whole[last] <= 0.75 * window:
        assert last not in replaced
        assert sum(sizes(conversation, standing)) <= window
    if sum(whole[begin:]) <= 0.75 * window:
        assert replaced.isdisjoint(range(begin, last + 1))


def test_signed_reasoning_is_never_touched() -> None:
    turns: list[Message] = []
    for number in range(30):
        call, result = rounds(("Read", {"path": f"f{number}"}, text(number)), first=number)
        thought = Reasoning(text(number, 5), "signed")
        turns += [said(Role.ASSISTANT, thought, *call.parts), result]
    conversation = session(*turns)
    decided, standing = decide(conversation, sum(sizes(conversation)) // 2)
    assert decided.replacements
    kept = {part for message in shown(conversation, standing) for part in message.parts if isinstance(part, Reasoning)}
    here = {
        part
        for index, message in enumerate(conversation.messages)
        if index not in standing.dropped
        for part in message.parts
        if isinstance(part, Reasoning)
    }
    assert kept == here


_TOOLS = st.sampled_from(
    [
        ("Read", {"file_path": "src/a.py"}),
        ("Read", {"file_path": "src/a.py", "offset": 10, "limit": 5}),
        ("Edit", {"file_path": "src/a.py", "old_string": "a " * 200, "new_string": "b " * 200}),
        ("shell", {"command": ["bash", "-lc", "sed -n 1,9p src/b.py"]}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: src/b.py\n" + "+x = 1\n" * 90}),
        ("todowrite", {"todos": [{"content": "one", "status": "done"}]}),
        ("task", {"prompt": "find it", "description": "look"}),
        ("mystery", {}),
    ]
)


@st.composite
def histories(draw: st.DrawFn) -> Conversation:
    messages: list[Message] = []
    for number in range(draw(st.integers(1, 25))):
        kind = draw(st.integers(0, 9))
        if kind == 0:
            messages.append(person(f"Do {number} " * draw(st.sampled_from([1, 40]))))
            continue
        if kind == 1:
            messages.append(said(Role.ASSISTANT, Text(f"Thinking of {number}. " * draw(st.integers(1, 80)))))
            continue
        calls = [draw(_TOOLS) for _ in range(draw(st.integers(1, 3)))]
        ids = [f"c{number}-{index}" for index in range(len(calls))]
        parts = [ToolCall(id, name, json.dumps(given)) for id, (name, given) in zip(ids, calls, strict=True)]
        together = draw(st.booleans())
        messages += [said(Role.ASSISTANT, *parts)] if together else [said(Role.ASSISTANT, part) for part in parts]
        results = [ToolResult(id, (Text(text(number, draw(st.integers(1, 120)))),), draw(st.booleans())) for id in ids]
        messages += [said(Role.USER, *results)] if together else [said(Role.TOOL, each) for each in results]
    return session(*messages)


@given(histories(), st.integers(600, 12_000), st.booleans())
def test_the_laws_hold_for_every_history(conversation: Conversation, window: int, warm: bool) -> None:
    ledger = Ledger()
    before: dict[tuple[int, int], ContentTier] = {}
    cut = 0
    for count in range(3, len(conversation.messages) + 1, 3):
        part = replace(conversation, messages=conversation.messages[:count])
        standing = ledger.active(part.keys(), part.head)
        arguments = (part, pieces(part, standing), sizes(part, standing), budget(window), standing, warm, 20.0)
        decided = plan(*arguments)
        assert decided == plan(*arguments), "the same input gives the same plan"
        for each in decided.replacements:
            place = each.message, each.part
            stood = standing.replaced.get(place)
            less = stood is None or len(each.text) < len(stood.text)
            assert _RANK[each.tier] <= _RANK[before.get(place, ContentTier.L2)] and less, "a part never rises"
            assert stood is None or set(excerpt_of(each.text).split("\n")) <= {*stood.text.split("\n"), "…", ""}
            before[place] = each.tier
            assert part.head <= each.message, "the head stays"
            assert decided.cut is None or each.message >= decided.cut.message, "what leaves is not shortened first"
            newest = part.messages[each.message].results and (sum(sizes(part, standing)) > window)
            assert each.message < count - 1 or newest, "the newest message stays as long as it fits"
        after = written(ledger, part, decided)
        if decided.cut is not None:
            assert decided.cut.message > cut
            cut = decided.cut.message
        waiting = {call.id for message in part.messages for call in message.calls} - {
            result.call_id for message in part.messages for result in message.results
        }
        if not waiting:
            assert not faults(shown(part, after))
        if decided.replacements and decided.cut is None:
            assert sum(sizes(part, after)) < sum(sizes(part, standing)), "a shed makes it smaller"
        if sum(sizes(part, after)) > window * 1.05:
            assert decided.why, "too large only where that is said"
