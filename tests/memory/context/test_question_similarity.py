"""The same question in other words is the same; a title with another word is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from memory.context.prior_findings import Alike, SimilarResearch, alike, compared_text, fit
from memory.language.static_embedding import StaticEmbedding
from memory.research import Research, ResearchOutcome

NOW = datetime(2026, 11, 20, tzinfo=UTC)
EMBED = StaticEmbedding.load()


def research(id: str, question: str, description: str = "") -> Research:
    return Research(id, "p:o/x", "u:o/a", question, NOW, NOW, description=description, outcome=ResearchOutcome.FINISHED)


def found(question: str, *known: Research, fits: float = 0.5, least: float = 0.65) -> list[tuple[str, bool]]:
    texts = [question, *(each.question for each in known), *(each.description for each in known)]
    vectors = EMBED.documents(texts)
    made = [
        SimilarResearch(
            each,
            compared_text(each.question, vectors[1 + place]),
            compared_text(each.description, vectors[1 + len(known) + place]) if each.description else None,
            fits,
        )
        for place, each in enumerate(known)
    ]
    got: tuple[Alike, ...] = alike(compared_text(question, vectors[0]), made, lambda stem: 1.0, least)
    return [(each.research.id, each.sure) for each in got]


RETRY = research("a", "How does the retry policy of the billing service work, and what are its parameters?", "Retries")
HOOKS = research("b", "Which hooks fire on a stop event, and in what order do they run in the agent?", "Stop hooks")


def test_other_words_for_the_same_question_find_it() -> None:
    question = "What are the parameters of the billing service's retry policy and how does that policy work?"
    assert found(question, RETRY, HOOKS) == [("a", True)]


def test_another_question_finds_nothing() -> None:
    assert found("Where does the mobile application evict thumbnails from its disk cache, and when?", RETRY) == []


def test_a_title_is_found_by_itself_and_not_by_one_with_another_word() -> None:
    assert found("Stop hooks", RETRY, HOOKS) == [("b", True)]
    assert found("Start hooks", RETRY, HOOKS) == []


def test_a_title_that_fits_two_equally_is_neither() -> None:
    twins = [replace(RETRY, id=id, description="Review task 1 for spec") for id in "cd"]
    assert found("Review spec for task 1", *twins) == []
    assert {id for id, _ in found("Review task 1 for spec", *twins)} == {"c", "d"}


def test_a_short_question_is_held_against_a_long_prompt_by_its_fit() -> None:
    long = replace(HOOKS, description="", question=" ".join(f"{word}{n}" for n in range(20) for word in ("alpha", "b")))
    assert found("Stop hooks order", long, fits=0.4) == [("b", False)]
    assert found("Stop hooks order", long, fits=0.1) == []


def test_a_fit_is_a_share() -> None:
    every = dict.fromkeys(("question", "opening", "report", "findings"), (1.0, 1.0))
    assert fit(every) == 1.0
    assert fit({"other": (1.0, 1.0)}) == 0.0
