"""Why recall gives what it gives."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memory.context.diversity import diverse
from memory.context.explain import SHOWN, explained
from memory.context.pack import pack
from memory.context.rank import Memory, rank
from memory.context.search_results import SearchContext, SearchPass, SearchResult
from memory.fact import Sensitivity, State
from tests.memory.context.making import NOW, asked, fact, found, passage, weighed_for

QUESTION = asked("Where is the sextant of Ida kept?")
KEPT = fact("Ida keeps the sextant in the cellar.")


def fates(*memories: Memory, tokens: int = 300, **more: object) -> dict[str, str]:
    moment = replace(SearchContext(("u:/ann",), NOW, session="now"), **more)  # type: ignore[arg-type]
    weighed, candidates = weighed_for(QUESTION, memories), found(QUESTION, memories)
    scored = rank(QUESTION, weighed, candidates, NOW, present=moment.present, session="now", past=moment.past)
    searched = SearchResult(
        tuple(diverse(scored)), {}, (SearchPass(QUESTION, weighed, tuple(candidates), tuple(scored)),), tuple(scored)
    )
    told = explained(searched, pack(searched.scored, tokens, NOW), moment, tokens)
    assert told.asked[0].found == len(memories)
    return {each.memory.id: each.fate for each in told.looked}


def test_each_candidate_has_a_fate() -> None:
    again = passage("Ida keeps the sextant in the cellar!", 2, source=b"other")
    gone = fact("Ida keeps the sextant in the attic.", state=State.SUPERSEDED)
    old = fact("Ida keeps the sextant on the desk.", expires_at=NOW - timedelta(days=1))
    secret = fact("Ida keeps the sextant in the safe.", sensitivity=Sensitivity.RESTRICTED)
    here = passage("Ida keeps the sextant, I believe.", session="now")
    question = passage("Where does Ida keep the sextant?", 9, question=True)
    there = fact("The sextant of Ida is brass.")
    told = fates(KEPT, again, gone, old, secret, here, question, there, present={there.id: there.text})
    assert {told.pop(KEPT.id), told.pop(again.id)} == {SHOWN, "says what another one says"}
    assert told == {
        gone.id: "superseded",
        old.id: "expired",
        secret.id: "restricted: only given by its id",
        here.id: "said in this session",
        question.id: "a question of then",
        there.id: "stands in the request already",
    }


def test_what_does_not_fit_has_no_room() -> None:
    assert fates(KEPT, tokens=10) == {KEPT.id: "no room"}


def test_below_the_floor_nothing_is_ranked() -> None:
    assert set(fates(passage("The pasta was good.", 1)).values()) == {"below the floor"}
