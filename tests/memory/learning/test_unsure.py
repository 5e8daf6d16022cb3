"""What was read with doubt counts once something bears it out."""

from __future__ import annotations

from dataclasses import replace

from memory.fact import Fact, FactDraft, Origin, Stability, State
from memory.learning.lesson_result import Taught
from memory.learning.outcome import standing_for
from memory.learning.unsure import BORNE_OUT, Weighed, weighed
from memory.ports import Journaled
from memory.scope import Scope
from memory.session import Session
from memory.understanding.encoder import Relation
from tests.memory.context.making import NOW, SAID, fact

UNRELATED = Relation(0.0, 0.0, 0.0, 0.0, 1.0)
SAME = Relation(0.9, 0.1, 0.0, 0.0, 0.0)
REPLACES = Relation(0.0, 0.1, 0.8, 0.1, 0.0)


def read(text: str, unsure: bool = True) -> Taught:
    of = fact(text)
    draft = FactDraft(text, of.kind, of.category, of.stream, of.layer, Origin.USER, confidence=0.5, unsure=unsure)
    return Taught(draft, b"new message", 0)


def exchange() -> Journaled:
    held = Session("later", "k", Scope(user="ann"), "codex", SAID, SAID)
    return Journaled(1, "x", held, "main", NOW, (), (), None)


def met(taught: Taught, known: Fact | None = None, relation: Relation = UNRELATED) -> Weighed:
    facts = [known] if known else []
    return weighed(taught, facts, {fact.id: relation for fact in facts}, exchange(), "u:/ann", lambda: "made")


def test_what_nothing_bears_out_waits_as_a_draft() -> None:
    found = met(read("the porch sensor reads two degrees high"), fact("the roof is flat"))
    assert found.taught is None
    (draft,) = found.facts
    assert (draft.state, draft.confidence, draft.id) == (State.DRAFT, 0.5, "made")


def test_what_changes_something_known_counts() -> None:
    taught = met(read("the shop listens on 4400"), fact("the shop listens on 4321"), REPLACES).taught
    assert taught is not None
    assert not taught.draft.unsure
    assert taught.draft.confidence == BORNE_OUT


def test_what_says_a_known_thing_again_is_counted_and_not_written() -> None:
    known = fact("plots need labelled axes")
    found = met(read("label those axes, will you"), known, SAME)
    assert (found.taught, found.facts) == (None, ())
    (use,) = found.uses
    assert (use.memory, use.said) == (known.id, True)


def test_a_draft_that_is_said_again_counts_from_then_on() -> None:
    waits = replace(fact("plots need labelled axes"), state=State.DRAFT, confidence=0.4)
    found = met(read("label those axes, will you"), waits, SAME)
    assert found.taught is not None and not found.taught.draft.unsure
    assert found.taught.draft.confidence == BORNE_OUT
    assert [(each.id, each.state) for each in found.facts] == [(waits.id, State.ARCHIVED)]
    assert found.waited == (waits,)


def test_what_was_heard_with_doubt_before_has_been_heard_in_both_sessions() -> None:
    waits = replace(fact("plots need labelled axes"), state=State.DRAFT, session="first")
    now = replace(fact("every plot gets labelled axes"), session="later")
    found = standing_for(now, [waits])
    assert (found.access, found.sessions, found.stability) == (2, 2, Stability.VERIFIED)
    assert found.supersedes == (waits.id,)
    same = standing_for(now, [replace(waits, session="later")])
    assert (same.access, same.sessions, same.stability) == (2, 1, now.stability)
    assert standing_for(now, []) == now


def test_what_was_heard_in_ever_other_sessions_has_been_heard_in_all_of_them() -> None:
    waits = [replace(fact(f"plots need axes {name}"), state=State.DRAFT, session=name) for name in ("a", "b", "b")]
    now = replace(fact("every plot gets labelled axes"), session="c")
    assert standing_for(now, waits).sessions == 3
    assert standing_for(now, [replace(waits[0], sessions=4), waits[1]]).sessions == 5
    assert standing_for(now, [replace(waits[0], session="c", sessions=4)]).sessions == 4


def test_what_ended_does_not_swallow_what_is_said_anew() -> None:
    ended = replace(fact("the shop listens on 4400"), state=State.SUPERSEDED)
    (draft,) = met(read("The shop listens on 4400."), ended).facts
    assert draft.state is State.DRAFT


def test_what_a_tool_repeats_touches_no_draft() -> None:
    waits = replace(fact("plots need labelled axes"), state=State.DRAFT)
    heard = read("plots need labelled axes", unsure=False)
    heard = replace(heard, draft=replace(heard.draft, origin=Origin.TOOL))
    assert met(heard, waits, SAME) == Weighed(heard)


def test_the_same_message_does_not_bear_itself_out() -> None:
    waits = replace(fact("plots need labelled axes"), state=State.DRAFT, source=b"new message")
    assert met(read("label those axes, will you"), waits, SAME) == Weighed(None)


def test_what_is_said_clearly_takes_the_place_of_the_draft() -> None:
    waits = replace(fact("plots need labelled axes"), state=State.DRAFT)
    clear = read("every plot has labelled axes", unsure=False)
    found = met(clear, waits, SAME)
    assert found.taught == clear
    assert [each.state for each in found.facts] == [State.ARCHIVED]


def test_what_has_no_word_in_common_must_surely_say_it_again_to_take_a_drafts_place() -> None:
    waits = replace(fact("plots need labelled axes"), state=State.DRAFT)
    other = read("never touch the release branch", unsure=False)
    assert met(other, waits, Relation(0.76, 0.0, 0.1, 0.1, 0.04)).facts == ()
    in_other_words = read("jedes Diagramm braucht beschriftete Achsen", unsure=False)
    [gone] = met(in_other_words, waits, Relation(0.95, 0.0, 0.0, 0.0, 0.05)).facts
    assert gone.state is State.ARCHIVED


def test_what_is_hardly_worth_keeping_counts_only_where_it_changes_what_is_known() -> None:
    taught = read("the shop listens on 4400 now")
    faint = replace(taught, draft=replace(taught.draft, confidence=0.1))
    assert met(faint, fact("the roof is flat")) == Weighed(None)
    assert met(faint, fact("the shop listens on 4321"), SAME) == Weighed(None)
    changed = met(faint, fact("the shop listens on 4321"), REPLACES).taught
    assert changed is not None and not changed.draft.unsure


def test_that_somebody_left_counts_where_something_is_known_of_them() -> None:
    left = read("Odile left the company.")
    assert met(left, fact("Yara keeps the keys of the crane")).taught is None
    for confidence in (0.5, 0.1):
        told = replace(left, draft=replace(left.draft, confidence=confidence))
        known = fact("Odile keeps the keys of the crane")
        taught = weighed(told, [known], {}, exchange(), "u:/ann", lambda: "made").taught
        assert taught is not None and not taught.draft.unsure


def test_what_was_put_away_does_not_swallow_what_is_said_anew() -> None:
    gone = replace(fact("the porch sensor reads two degrees high"), state=State.ARCHIVED, confidence=0.4)
    (draft,) = met(read("The porch sensor reads two degrees high."), gone).facts
    assert draft.state is State.DRAFT


def test_what_a_tool_said_bears_nothing_out() -> None:
    heard = fact("the shop listens on 4321", origin=Origin.TOOL)
    assert met(read("the shop listens on 4400"), heard, REPLACES).taught is None
