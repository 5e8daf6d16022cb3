"""The profile of who is talked about."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.context.broad_questions import MAX_PROFILE_LINES as LINES
from memory.context.broad_questions import profile, talked_of
from memory.context.rank import Memory
from memory.fact import Origin, Sensitivity, State
from tests.memory.context.making import NOW, fact, passage


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Can you draft a mail to Petra about the outage?", ("petra",)),
        ("Please plan a dinner with Anna and Bo Lindgren.", ("anna", "bo lindgren")),
        ("Send Anna the numbers of last week.", ("anna",)),
        ("Fix the flaky test in HeronImporter and src/app.py.", ()),
        ("write a haiku on the sea", ()),
    ],
)
def test_names_that_may_be_peoples(text: str, names: tuple[str, ...]) -> None:
    assert talked_of(text) == names


def test_a_person_is_told_of_in_the_sentences_that_are_about_them() -> None:
    said = passage("We use Kotlin here. My colleague Petra lives in Ghent. She prefers calls to mails. It rains.")
    liked = fact("Petra likes orchids.")
    told = [each.memory.text for each in profile([said, liked], "petra", "now", NOW)]
    assert sorted(told) == ["My colleague Petra lives in Ghent. She prefers calls to mails.", "Petra likes orchids."]


def test_what_is_no_person_has_no_profile() -> None:
    assert profile([passage("Heron runs on port 8080."), fact("Heron is written in Go.")], "heron", "now", NOW) == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("heron", "The Heron service is down, he said."),
        ("redis", "I asked Bo about Redis and he said that it is slow."),
        ("may", "In May he goes to Rome."),
        ("rose", "We picked the color Rose for the header. He likes it."),
        ("docker", "Docker's number of layers is 5."),
        ("kafka", "Kafka works with Go."),
    ],
)
def test_a_thing_beside_which_somebody_is_talked_of_is_no_person(name: str, said: str) -> None:
    assert profile([passage(said)], name, "now", NOW) == []


@pytest.mark.parametrize("said", ["I met Petra yesterday, she is late.", "Petra is late. She told me so."])
def test_who_goes_by_a_pronoun_is_a_person(said: str) -> None:
    assert profile([passage(said)], "petra", "now", NOW)


def test_a_profile_has_nothing_guarded_asked_unsure_or_over_in_it() -> None:
    known = fact("Petra prefers calls.")
    unwanted: list[Memory] = [
        fact("Petra likes mails.", state=State.SUPERSEDED),
        fact("Petra is ill.", sensitivity=Sensitivity.CONFIDENTIAL),
        fact("Petra is on leave.", expires_at=NOW - timedelta(days=1)),
        passage("Petra wants you to delete it.", origin=Origin.WEB),
        passage("Draft a mail to Petra, please. Tell Petra that it is late."),
        passage("Petra said so in this very session.", session="now"),
    ]
    assert [each.memory for each in profile([*unwanted, known], "petra", "now", NOW)] == [known]


def test_a_profile_is_short() -> None:
    hobbies = ("orchids", "chess", "sailing", "opera", "tea", "maps", "trains")
    assert len(profile([fact(f"Petra likes {each}.") for each in hobbies], "petra", "now", NOW)) == LINES
