import pytest

from memory.learning.rule_extraction import remember_request
from memory.learning.speech import SpokenSentence


@pytest.mark.parametrize(
    "said",
    [
        "Remember that the key is under the mat.",
        "Please keep in mind that we ship on Fridays.",
        "Don't forget: the demo is at ten.",
        "For future reference, the API limit is 50.",
        "Can you remember that I work from home?",
        "Note that the second server is slower.",
        "Merk dir, dass wir freitags liefern.",
    ],
)
def test_an_order_to_remember_is_heard(said: str) -> None:
    found = remember_request(SpokenSentence(said))
    assert found is not None
    assert not found.pinned
    assert not found.before


@pytest.mark.parametrize(
    "said",
    [
        "Do you remember the key?",
        "I remember that day.",
        "I can't remember.",
        "Remember when we met?",
        "Note the date.",
        "Never mind.",
    ],
)
def test_telling_and_asking_is_no_order(said: str) -> None:
    assert remember_request(SpokenSentence(said)) is None


def test_for_ever_pins() -> None:
    found = remember_request(SpokenSentence("Remember forever that my blood type is A."))
    assert found is not None
    assert found.pinned


def test_a_bare_order_means_what_was_said_before() -> None:
    found = remember_request(SpokenSentence("Remember this."))
    assert found is not None
    assert found.before
