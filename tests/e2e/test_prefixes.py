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
