"""What an agent at work is shown: facts that apply, and passages only for what no fact says."""

from __future__ import annotations

from dataclasses import replace

from memory.context.agent_recall import FEW, at_work
from memory.context.rank import Memory, Scored
from memory.fact import Category, FactKind, Origin, State
from memory.understanding.packaged_weights import relevance
from tests.memory.context.making import fact, passage

ASKED = "which port does the label printer listen on?"
PORT = fact("The label printer listens on port 9107.", category=Category.PROJECTS, source=b"said")


def chosen(
    ranked: list[Memory], *others: Memory, worded: bool = True, asks: bool = True, told: float = 0.0
) -> list[Memory]:
    scored = [Scored(memory, 1.0 - place / 10) for place, memory in enumerate(ranked)]
    shown = at_work(ASKED, scored, [*ranked, *others], relevance(), worded=worded, asks=asks, told=told)
    return [each.memory for each in shown]


def test_a_fact_stands_for_the_passage_that_it_was_learnt_from() -> None:
    said = passage("By the way, the label printer listens on port 9107.", source=b"said")
    assert chosen([said, PORT]) == [PORT]


def test_what_a_fact_said_that_holds_no_longer_is_not_told_by_its_passage() -> None:
    over = fact("The label printer listens on port 9100.", source=b"old", state=State.SUPERSEDED)
    said = passage("The label printer listens on port 9100.", source=b"old")
    assert chosen([said], over) == []


def test_what_waits_as_a_draft_is_told_by_its_passage() -> None:
    waiting = fact("The label printer listens on port 9107.", source=b"said", state=State.DRAFT)
    said = passage("The label printer listens on port 9107.", source=b"said")
    assert chosen([said], waiting) == [said]


def test_a_detail_that_no_fact_has_comes_where_it_is_asked_for() -> None:
    said = passage("The label printer was moved to port 9107 when the switch burnt down.")
    assert chosen([said]) == [said]
    assert chosen([said], asks=False) == []
    assert chosen([said], worded=False) == []


def test_a_detail_is_measured_by_what_stands_in_the_request_already() -> None:
    said, less = passage("The label printer hums."), passage("The printer room is locked.")
    assert chosen([said, less]) == [said, less]
    assert chosen([said, less], told=1.6) == [said]
    assert chosen([said, less], told=1.7) == []


def test_what_the_assistant_said_is_no_detail() -> None:
    said = passage("The label printer listens on port 9107.", origin=Origin.ASSISTANT, speaker="assistant")
    assert chosen([said]) == []


def test_what_put_an_error_right_waits_for_the_error() -> None:
    fix = fact("`lpadmin -p label` failed. This worked: port 9107.", kind=FactKind.HEURISTIC, origin=Origin.BEHAVIOUR)
    assert chosen([fix]) == []


def test_there_are_never_more_than_a_few() -> None:
    many: list[Memory] = [
        fact(f"The label printer {n} listens on port 91{n:02}.", category=Category.PROJECTS) for n in range(20)
    ]
    assert len(chosen(many)) == FEW.facts


def test_a_fact_without_words_hides_no_passage() -> None:
    said = passage("The label printer was moved to port 9107 when the switch burnt down.", source=b"said")
    assert chosen([said], fact("✅", source=b"said")) == [said]


def test_what_is_unsettled_comes_only_to_a_request_that_it_concerns() -> None:
    settled = fact("Our staging box is called gannet.", category=Category.PROJECTS)
    unsettled = replace(settled, contradicts=("another",))

    def shown(request_text: str, held: Memory) -> list[Scored]:
        return at_work(request_text, [Scored(held, 1.0)], [held], relevance(), worded=True, asks=False)

    assert shown("Which queue do we use?", settled)
    assert not shown("Which queue do we use?", unsettled)
    assert shown("Deploy the branch to staging", unsettled)


def test_what_the_request_tells_in_part_comes_where_the_rest_answers_it() -> None:
    rest = "my cousin Runa tunes it every autumn"
    harp = fact(f"Keep the harp in the studio, {rest}", kind=FactKind.CONVENTION)

    def shown(request_text: str) -> list[Memory]:
        ranked = [Scored(harp, 1.0)]
        found = at_work(request_text, ranked, [harp], relevance(), worded=True, asks=True, untold={harp.id: rest})
        return [each.memory for each in found]

    assert shown("Who tunes the harp in autumn?") == [harp]
    assert shown("Where does the harp stay?") == []
    assert shown("Write a page about the harp and how we tune it") == [], "it is an order, and asks for nothing"


def test_nothing_that_hardly_answers_comes_beside_a_sure_answer() -> None:
    answer = passage("Thumbnails are kept for two hours by the image proxy.")
    other = fact("Reports are kept in the bucket aurora.", category=Category.PROJECTS)
    asked = "For how long does the image proxy keep thumbnails?"
    assert _shown(asked, [other, answer]) == [answer]
    assert _shown(asked, [other]) == [other]


def test_a_rule_that_surely_applies_keeps_no_other_from_applying() -> None:
    rules = [
        fact(text, kind=FactKind.CONVENTION)
        for text in ("Tests live beside the code they test.", "Tests are written with vitest.")
    ]
    asked = "could you write a test for the parser?"
    sure = replace(FEW, surely=0.5, beside=0.9)
    ranked = [Scored(each, 1.0) for each in rules]
    shown = at_work(asked, ranked, rules, relevance(), worded=True, asks=True, few=sure)
    assert {each.memory.id for each in shown} == {each.id for each in rules}


def test_an_answer_that_stands_in_the_request_already_is_one() -> None:
    answer = fact("Thumbnails are kept for two hours by the image proxy.", category=Category.PROJECTS)
    other = fact("Reports are kept in the bucket aurora.", category=Category.PROJECTS)
    asked = "For how long does the image proxy keep thumbnails?"
    ranked = [Scored(other, 1.0)]
    present = frozenset((answer.id,))
    found = at_work(asked, ranked, [other, answer], relevance(), worded=True, asks=True, present=present)
    assert [each.memory for each in found] == []


def _shown(asked: str, memories: list[Memory]) -> list[Memory]:
    ranked = [Scored(each, 1.0 - place / 10) for place, each in enumerate(memories)]
    return [each.memory for each in at_work(asked, ranked, memories, relevance(), worded=True, asks=True)]
