"""A prefix that became shorter than the client's own is seen."""

from __future__ import annotations

from typing import Any

from tests.e2e.prefixes import Pair, growth

ASKED = {"role": "user", "content": "Which port? [step-0001]"}
ANSWERED = {"role": "assistant", "content": "7443."}
THANKED = {"role": "user", "content": "Thank you. [step-0002]"}


def _recalled(message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "content": f"{message['content']}\n\n<memory-page>\n- It is 7443.\n</memory-page>"}


def _pair(*messages: dict[str, Any], added: bool, **ahead: Any) -> Pair:
    forwarded = [_recalled(messages[0]), *messages[1:]] if added else list(messages)
    return Pair({"messages": list(messages)}, {"messages": forwarded, **ahead})


def test_what_was_added_and_stays_is_no_break() -> None:
    told = growth([_pair(ASKED, added=True), _pair(ASKED, ANSWERED, THANKED, added=True)])
    assert (told.compared, told.edited, told.shorter) == (1, 1, [])


def test_what_was_added_and_is_gone_is_a_break_and_so_is_what_is_added_late() -> None:
    gone = growth([_pair(ASKED, added=True), _pair(ASKED, ANSWERED, THANKED, added=False)])
    late = growth([_pair(ASKED, added=False), _pair(ASKED, ANSWERED, THANKED, added=True)])
    assert len(gone.shorter) == len(late.shorter) == 1


def test_tools_that_changed_on_the_way_are_a_break() -> None:
    told = growth([_pair(ASKED, added=True), _pair(ASKED, ANSWERED, THANKED, added=True, tools=["late"])])
    assert len(told.shorter) == 1


def test_a_client_that_drops_its_own_last_message_breaks_nothing() -> None:
    behind = {"role": "user", "content": "<<<CONTEXT>>>"}
    told = growth([_pair(ASKED, behind, added=True), _pair(ASKED, ANSWERED, behind, added=True)])
    assert (told.compared, told.shorter) == (1, [])


def test_sessions_are_told_apart_by_the_step_that_they_began_in() -> None:
    other = {"role": "user", "content": "Which port? [step-0003]"}
    assert growth([_pair(ASKED, added=True), _pair(other, added=False)]).compared == 0


LEFT = {"role": "user", "content": "[shortened: it]"}


def _talk(messages: int) -> list[dict[str, Any]]:
    return [ASKED, *({"role": "assistant", "content": f"{at}"} for at in range(1, messages))]


def _cut(messages: int, since: int, told: str = "") -> Pair:
    talk = _talk(messages)
    return Pair({"messages": talk}, {"messages": [_recalled(ASKED), *talk[since:]]}, told)


def test_what_left_with_a_rotation_is_no_break_in_the_requests_after_it() -> None:
    before = Pair({"messages": _talk(6)}, {"messages": _talk(6)})
    told = growth([before, _cut(8, 6, "rotate"), _cut(10, 6), _cut(12, 6)])
    assert (told.compared, told.moved, told.shorter) == (3, 1, [])


def test_a_message_that_is_gone_from_what_a_rotation_left_is_a_break() -> None:
    told = growth([_cut(8, 6), _cut(10, 8)])
    assert told.moved == 0 and len(told.shorter) == 1


def test_a_shed_that_was_told_of_excuses_that_request_and_no_other() -> None:
    def shed(messages: int, left: int, told: str = "") -> Pair:
        talk = _talk(messages)
        return Pair({"messages": talk}, {"messages": [LEFT] * left + talk[left:]}, told)

    assert growth([shed(6, 0), shed(8, 3, "fold"), shed(10, 3)]).shorter == []
    assert len(growth([shed(6, 0), shed(8, 3, "fold"), shed(10, 4)]).shorter) == 1
    assert len(growth([shed(6, 0, "fold"), shed(8, 3)]).shorter) == 1


def test_a_break_before_what_was_shed_is_one_whatever_the_receipt_says() -> None:
    def broken(messages: int, told: str) -> Pair:
        asked = {"role": "user", "content": f"Broken {messages} [step-0001]"}
        return Pair({"messages": _talk(messages)}, {"messages": [asked, *_talk(messages)[1:]]}, told)

    for step in ("trim", "fold", "rotate"):
        told = growth([broken(6, step), broken(8, step), broken(10, step)])
        assert (told.moved, len(told.shorter)) == (0, 2), step
    lost = growth([_cut(6, 1), Pair({"messages": _talk(8)}, {"messages": [ASKED, LEFT, *_talk(8)[2:]]}, "trim")])
    assert (lost.moved, len(lost.shorter)) == (0, 1)


def test_prefixes_that_move_most_of_the_time_are_a_fault() -> None:
    rotated = [_cut(at, at - 2, "rotate") for at in range(6, 16, 2)]
    assert growth(rotated).faults() == ["4 of 4 prefixes moved with what was shed"]
    seldom = growth([*rotated[:2], *(_cut(at, 6) for at in range(10, 14, 2))])
    assert (seldom.moved, seldom.faults()) == (1, [])


def test_hidden_rounds_stand_where_they_stood() -> None:
    hidden = {"role": "tool", "content": "From memory"}
    before = Pair({"messages": _talk(4)}, {"messages": [*_talk(2), hidden, *_talk(4)[2:]]})
    kept = Pair({"messages": _talk(6)}, {"messages": [*_talk(2), hidden, *_talk(6)[2:]]})
    gone = Pair({"messages": _talk(6)}, {"messages": _talk(6)})
    assert growth([before, kept]).shorter == [] and len(growth([before, gone]).shorter) == 1


def test_a_reply_that_the_client_rewrote_loses_its_hidden_rounds_and_what_stands_before_it_stays() -> None:
    hidden, other = {"role": "tool", "content": "From memory"}, {"role": "assistant", "content": "(rewritten)"}
    asked, *rest = _talk(4)
    before = Pair({"messages": [asked, *rest]}, {"messages": [_recalled(asked), hidden, *rest]})
    after = Pair({"messages": [asked, other]}, {"messages": [_recalled(asked), other]})
    late = Pair({"messages": [asked, other]}, {"messages": [asked, other]})
    assert growth([before, after]).shorter == [] and len(growth([before, late]).shorter) == 1
