"""What counts as the use of a memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.conversation import Message, Role, Text, ToolCall
from memory.learning.usage_detection import answered, used


def person(text: str) -> Message:
    return Message(Role.USER, (Text(text),), text.encode(), spoken=text)


def model(text: str) -> Message:
    return Message(Role.ASSISTANT, (Text(text),), text.encode())


def was_used(memory: str, reply: str, *before: Message, known: str = "") -> bool:
    return bool(used({"m": memory}, reply, before, known=known))


@pytest.mark.parametrize(
    ("memory", "asked", "reply"),
    [
        ("The billing service listens on port 8443.", "Which port does billing use?", "It is 8443."),
        ("I avoid dairy.", "What shall I cook tonight?", "A lasagna without dairy would do."),
        ("We deploy with scripts/ship.sh on Fridays.", "How do we deploy?", "Run scripts/ship.sh."),
        ("My sister Ida moved to Lisbon for her new job.", "Where does my sister live?", "Ida lives in Lisbon."),
        ("I like long walks along the river before breakfast.", "Any ideas?", "Walk along the river, then breakfast."),
    ],
)
def test_what_a_reply_takes_from_a_memory_is_use(memory: str, asked: str, reply: str) -> None:
    assert was_used(memory, reply, person(asked))


@pytest.mark.parametrize(
    ("memory", "asked", "reply"),
    [
        ("The billing service listens on port 8443.", "Does billing listen on 8443?", "Billing listens on 8443."),
        ("I avoid dairy.", "What shall I cook tonight?", "A roast with potatoes."),
        ("I like long walks along the river before breakfast.", "And now?", "The river of data has a long tail."),
        ("The billing service listens on port 8443.", "What now?", "The billing service listens on port 9000."),
        ("We deploy on Fridays.", "What is a monad?", "A monoid in the category of endofunctors."),
    ],
)
def test_an_echo_and_a_chance_word_are_none(memory: str, asked: str, reply: str) -> None:
    assert not was_used(memory, reply, person(asked))


def test_what_stood_earlier_in_the_conversation_is_an_echo_whoever_said_it() -> None:
    memory, reply = "The billing service listens on port 8443.", "Use port 8443."
    assert was_used(memory, reply, person("Hello."), model("Hi."), person("How do I reach billing?"))
    assert not was_used(memory, reply, person("Hello."), model("It is 8443, I think."), person("How do I reach it?"))
    assert not was_used(memory, reply, person("How do I reach billing?"), known="Billing: 8443")


def test_a_call_of_a_tool_uses_what_it_is_called_with() -> None:
    call = Message(Role.ASSISTANT, (ToolCall("1", "bash", '{"command": "scripts/ship.sh --dry-run"}'),), b"c")
    assert "ship.sh" in answered(call)
    assert was_used("We deploy with scripts/ship.sh.", answered(call), person("Deploy it."))
    assert answered(None) == ""


@given(st.text(max_size=200), st.text(max_size=200))
def test_saying_again_what_the_person_said_uses_nothing(memory: str, reply: str) -> None:
    assert not was_used(memory, reply, person(reply))
