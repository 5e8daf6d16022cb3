"""What is courtesy and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.fact import without
from memory.language.courtesy import courtesies, is_courtesy


@pytest.mark.parametrize(
    "said",
    [
        "Thanks, Caroline!",
        "Hey John!",
        "Hey Mel, thanks!",
        "That's so cool, Maria!",
        "Thank you so much for sharing!",
        "Great question!",
        "You're welcome.",
        "Let me know if you have any other questions!",
        "Please feel free to ask.",
        "I’d be happy to help with that.",
        "Have a great day!",
        "Is there anything else I can help you with?",
        "If you have any other questions or need further assistance, please let me know!",
        "Those are all great suggestions!",
        "Thanks for the advice, Petra.",
        "I can help you with that.",
        "Take care, Ida!",
        "Please don't hesitate to ask.",
    ],
)
def test_courtesies(said: str) -> None:
    assert is_courtesy(said)


@pytest.mark.parametrize(
    "said",
    [
        "Yes.",
        "Sure!",
        "Hello!",
        "Hey there!",
        "No, thanks.",
        "Not great.",
        "It was great.",
        "Caroline!",
        "Thanks to Rust it is fast.",
        "Great, deploy it.",
        "Hello world is the test's name.",
        "Thanks, 42!",
        "Let me know if the migration fails.",
        "Let me know if you have questions; the key is in the safe.",
        "Let me know when it is done: I need help.",
        "I'd be happy to help you find the leak in the parser.",
        "Thanks, IDA!",
        "It's great.",
        "Can you help with that?",
        "I need help with that.",
        "If you need help with the vault, let me know.",
        "Absolutely!",
        "Thanks, the tests pass.",
        "Is this a good idea?",
        "How good is this?",
        "Great, Monday!",
        "Perfect, March!",
        "The weekend is good.",
        "That evening sounds great!",
        "The update is great.",
        "Don't ask me anything else.",
        "Don’t ask if I can help.",
        "",
    ],
)
def test_what_says_something_is_none(said: str) -> None:
    assert not is_courtesy(said)


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("John: Thanks, Maria! We moved to Lisbon. That's great!", "John: We moved to Lisbon."),
        ("John: Hey James! Long time. James: Hey John! I sold the boat.", "John: Long time. James: I sold the boat."),
        ("Wow! Cool! We moved to Lisbon.", "We moved to Lisbon."),
        ("We moved to Lisbon.\nThanks!", "We moved to Lisbon."),
        ("We moved to Lisbon.", "We moved to Lisbon."),
    ],
)
def test_what_is_left(said: str, left: str) -> None:
    assert without(said, courtesies(said)) == left


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from(["Thanks, Ida!", "Wow!", "We sold it.", "Ida: Hey Bo!", "\n"]), max_size=12).map(
        " ".join
    )
)
def test_gaps_lie_in_the_text_in_order_and_hold_courtesies_alone(text: str) -> None:
    gaps = courtesies(text)
    edges = [edge for gap in gaps for edge in gap]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in gaps)
    assert "We sold it." not in "".join(text[start:end] for start, end in gaps)
    assert courtesies(without(text, gaps)) == ()
