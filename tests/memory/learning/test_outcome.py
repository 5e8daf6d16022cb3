"""What a decision writes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from memory.fact import Fact, FactDraft, Origin, Stability, State
from memory.learning.importance import weighty
from memory.learning.lesson_result import Taught
from memory.learning.outcome import outcome, repetition_uses, settled
from memory.learning.reconcile import Contradict, Reinforce, Vouch, reconcile
from memory.ports import Journaled
from memory.scope import Scope
from memory.session import Session
from tests.memory.context.making import NOW, SAID, fact


def draft(of: Fact, **more: object) -> FactDraft:
    told: dict[str, object] = {
        name: getattr(of, name) for name in ("text", "kind", "category", "stream", "layer", "origin")
    }
    return FactDraft(**(told | more))  # type: ignore[arg-type]


def exchange(session: str = "later") -> Journaled:
    held = Session(session, "k", Scope(user="ann"), "codex", SAID, SAID)
    return Journaled(1, "x", held, "main", NOW, (), (), None)


def test_what_was_hearsay_becomes_the_word_of_the_person_who_says_it_too() -> None:
    heard = fact("The staging host is tern.", origin=Origin.TOOL)
    said = draft(heard, origin=Origin.USER, confidence=0.8)
    decision = reconcile(said, [(heard, 1.0, 1.0)], NOW)
    assert decision == Vouch(heard.id)
    new, old = outcome(decision, Taught(said, b"m", 0), {heard.id: heard}, exchange(), "u:/ann", "new")
    assert (new.origin, new.sessions, new.stability, new.supersedes) == (
        Origin.USER,
        2,
        Stability.VERIFIED,
        (heard.id,),
    )
    assert old.state is State.ARCHIVED


def test_hearsay_bears_nobody_out() -> None:
    known = fact("The staging host is tern.", origin=Origin.USER)
    said = draft(known, origin=Origin.TOOL)
    decision = reconcile(said, [(known, 1.0, 1.0)], NOW)
    assert decision == Reinforce(known.id)
    assert repetition_uses(decision, said, {known.id: known}, exchange()) == []
    [use] = repetition_uses(decision, draft(known), {known.id: known}, exchange())
    assert use.said
    assert (use.memory, use.session) == (known.id, "later")


def test_of_two_rivals_the_one_that_is_said_again_wins() -> None:
    one = fact("We deploy on Fridays.", contradicts=("b",))
    other = fact("We never deploy on Fridays.", id="b", contradicts=(one.id,))
    known = {one.id: one, "b": other}
    won, lost = outcome(Reinforce(one.id), Taught(draft(one), b"m", 0), known, exchange(), "u:/ann", "new")
    assert (won.contradicts, won.supersedes) == ((), ("b",))
    assert (lost.state, lost.valid_until) == (State.SUPERSEDED, NOW)
    pinned = fact("We never deploy on Fridays.", id="b", contradicts=(one.id,), pinned=True)
    assert outcome(Reinforce(one.id), Taught(draft(one), b"m", 0), {**known, "b": pinned}, exchange(), "o", "n") == []


def test_doubt_is_written_on_both_sides() -> None:
    one = fact("We deploy on Fridays.")
    new, old = outcome(Contradict((one.id,)), Taught(draft(one), b"m", 0), {one.id: one}, exchange(), "u:/ann", "new")
    assert (new.contradicts, old.contradicts) == ((one.id,), ("new",))


def test_what_is_new_and_serves_what_the_session_is_for_matters_more() -> None:
    assert weighty(0.5, 1.0, 0.0) > weighty(0.5, 0.2, 0.0)
    assert weighty(0.5, 0.5, 1.0) > weighty(0.5, 0.5, 0.0)
    assert weighty(1.0, 1.0, 1.0) == 1.0
    assert weighty(0.05, 0.0, 0.0) == 0.05


def test_what_is_said_again_for_a_while_ends_no_rival_that_holds_longer() -> None:
    lasting = fact("The release manager is Bo.", id="a", contradicts=("b",))
    passing = fact("The release manager is Ida.", id="b", contradicts=("a",))
    known = {"a": lasting, "b": passing}
    assert [each.state for each in settled(passing, Origin.USER, known, NOW)] == [State.ACTIVE, State.SUPERSEDED]
    assert settled(replace(passing, expires_at=NOW + timedelta(days=3)), Origin.USER, known, NOW) == []
