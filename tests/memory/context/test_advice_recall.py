"""What somebody who asks for advice is shown first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from memory.context.agent_recall import WEIGHTS, heeded, wants_heeding
from memory.context.rank import Memory, Scored
from memory.fact import FactKind, Origin, Sensitivity, State
from memory.ports import IndexHit
from memory.scope import Layer
from memory.understanding.packaged_weights import relevance
from tests.memory.context.making import NOW, asked, fact, passage

DINNER = "Can you recommend a restaurant in Lyon for Saturday evening?"
FISH = fact("Fish makes me ill, I never eat any of it.", kind=FactKind.PREFERENCE, confidence=0.85)


def shown(
    found: Sequence[Memory], ranked: Sequence[Memory] = (), text: str = DINNER, cosine: float = 0.1, session: str = ""
) -> list[Memory]:
    candidates = [(IndexHit(each.id, cosine, 0.0), each) for each in found]
    scored = [Scored(each, 0.9) for each in ranked]
    return [each.memory for each in heeded(asked(text), candidates, scored, relevance(), NOW, session=session)]


def test_what_the_advice_must_heed_comes_before_what_is_merely_alike() -> None:
    booked = passage("I changed my ticket to Lyon, the train leaves on Saturday.", session="tickets")
    assert shown([FISH], [booked]) == [FISH, booked]


def test_a_fact_stands_for_the_message_that_it_was_learnt_from() -> None:
    said = passage("Fish makes me ill, I never eat any of it.", source=FISH.source)
    assert shown([said, FISH], [said]) == [FISH]


def test_a_passage_of_which_no_fact_tells_is_heeded_as_well() -> None:
    said = passage("Of those three I would take the quiet place without fish on the menu.", session="lunch")
    assert shown([said]) == [said]


def test_what_holds_no_longer_is_private_or_of_a_project_is_not_heeded() -> None:
    over = fact("Fish makes me ill.", kind=FactKind.PREFERENCE, state=State.SUPERSEDED)
    private = fact("Fish makes me ill.", kind=FactKind.PREFERENCE, sensitivity=Sensitivity.RESTRICTED)
    theirs = fact("Fish pages need two reviewers.", kind=FactKind.CONVENTION, layer=Layer.USER_PROJECT)
    past = fact("Fish makes me ill.", kind=FactKind.PREFERENCE, expires_at=NOW - timedelta(days=1))
    reported = fact("The user cannot eat fish.", kind=FactKind.PREFERENCE, origin=Origin.TOOL)
    assert shown([over, private, theirs, past, reported]) == []


def test_the_talk_that_asks_is_not_heeded_and_neither_is_what_stands_in_it() -> None:
    said = passage("Fish makes me ill, so nothing with fish.", session="now")
    assert shown([said], session="now") == []
    retold = passage("Fish makes me ill, I never eat any of it.", source=FISH.source)
    candidates = [(IndexHit(each.id, 0.1, 0.0), each) for each in (FISH, retold)]
    assert heeded(asked(DINNER), candidates, [], relevance(), NOW, present=frozenset([FISH.id])) == []


def test_a_question_about_work_heeds_nothing_of_a_life() -> None:
    assert not wants_heeding(asked("Any tips on which test runner config and build cache settings to use?"))


def test_a_question_about_somebody_who_speaks_in_memory_is_answered_and_not_advised() -> None:
    said = passage("Mara: I cook on Saturdays.", speaker="Mara")
    found = shown([FISH, said], [said], "What are some good dishes that Mara would recommend?")
    assert found == [said]


def test_a_few_dozen_at_most_are_heeded() -> None:
    many = [fact(f"I never eat fish from lake {n}.", kind=FactKind.PREFERENCE) for n in range(60)]
    assert len(shown(many)) == WEIGHTS.most


def test_only_a_wish_for_advice_is_heeded() -> None:
    assert wants_heeding(asked(DINNER))
    assert wants_heeding(asked("Plan a long weekend in the mountains for the two of us, please"))
    assert not wants_heeding(asked("Create a changelog entry for the parser and push the branch."))
    assert not wants_heeding(asked("Which train did I book to Lyon?"))
