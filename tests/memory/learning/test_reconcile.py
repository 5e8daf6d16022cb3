from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memory.fact import Category, Fact, FactDraft, FactKind, Origin, State, Stream
from memory.learning.reconcile import AlreadySuperseded, Contradict, Merge, New, Reinforce, Supersede, reconcile
from memory.scope import Layer
from memory.understanding.encoder import RELATIONS, Relation

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def draft(text: str, origin: Origin = Origin.USER, kind: FactKind = FactKind.FACT, wrong: str = "") -> FactDraft:
    return FactDraft(text, kind, Category.TECHNICAL, Stream.PROJECTS, Layer.USER_PROJECT, origin, wrong=wrong)


def fact(text: str, id: str = "f", origin: Origin = Origin.USER, pinned: bool = False) -> Fact:
    return Fact(
        id=id, text=text, owner="u:/me", kind=FactKind.FACT, category=Category.TECHNICAL, stream=Stream.PROJECTS,
        layer=Layer.USER_PROJECT, origin=origin, session="s", source=b"", recorded_at=NOW, valid_from=NOW,
        pinned=pinned,
    )  # fmt: skip


def test_what_is_known_word_for_word_is_reinforced() -> None:
    assert reconcile(draft("Use tabs!"), [(fact("use tabs"), 0.4, 0.4)], NOW) == Reinforce("f")


def test_what_is_known_in_other_forms_of_its_words_is_reinforced() -> None:
    known = fact("The nightly builds run on the old server")
    assert reconcile(draft("The nightly build runs on the old server."), [(known, 0.97, 0.9)], NOW) == Reinforce("f")


def test_what_says_more_is_merged() -> None:
    more = "The nightly build runs on the old server in Oslo"
    assert reconcile(draft(more), [(fact("The nightly build runs on the old server"), 0.93, 0.8)], NOW) == Merge(
        "f", more
    )


def test_what_is_said_without_an_end_does_not_end_with_what_has_one() -> None:
    until = replace(fact("The staging server is at 10.0.0.5 until 2026-11-27."), expires_at=NOW + timedelta(days=7))
    lasting = draft("The staging server is at 10.0.0.5.")
    assert isinstance(reconcile(lasting, [(until, 0.95, 0.9)], NOW), New)
    assert reconcile(lasting, [(replace(until, expires_at=None), 0.95, 0.9)], NOW) == Reinforce("f")
    longer = replace(draft(until.text), expires_at=until.expires_at)
    assert isinstance(reconcile(longer, [(fact(lasting.text), 0.95, 0.9)], NOW), New)


def test_what_holds_until_a_day_ends_nothing_that_holds_longer() -> None:
    said = draft("No, the release manager is Ida until 2026-11-27.", kind=FactKind.CORRECTION)
    known = fact("The release manager is Bo.")
    assert reconcile(said, [(known, 0.8, 0.7)], NOW) == Supersede(("f",), 0.858)
    for_a_while = replace(said, expires_at=NOW + timedelta(days=7))
    assert isinstance(reconcile(for_a_while, [(known, 0.8, 0.7)], NOW), Contradict)
    over_sooner = replace(known, expires_at=NOW + timedelta(days=2))
    assert isinstance(reconcile(for_a_while, [(over_sooner, 0.8, 0.7)], NOW), Supersede)


def test_an_assistant_does_not_rewrite_a_persons_words() -> None:
    more = draft("The nightly build runs on the old server in Oslo", Origin.ASSISTANT)
    known = [(fact("The nightly build runs on the old server"), 0.93, 0.8)]
    assert not isinstance(reconcile(more, known, NOW), Merge)


def test_what_is_like_nothing_is_a_surprise() -> None:
    assert reconcile(draft("Lunch is at noon"), [], NOW) == New(1.0)
    assert reconcile(draft("Lunch is at noon"), [(fact("Use tabs"), 0.3, 0.0)], NOW) == New(0.7)


def test_a_clear_change_supersedes() -> None:
    decision = reconcile(
        draft("We switched the API from PostgreSQL to SQLite"), [(fact("The API uses PostgreSQL"), 0.7, 0.5)], NOW
    )
    assert isinstance(decision, Supersede)
    assert decision.ids == ("f",)


def test_a_clear_change_supersedes_all_that_says_so_and_leaves_what_is_wider_beside_it() -> None:
    known = [
        (fact("We use Jest for tests", "whole"), 0.9, 0.8),
        (fact("Our tests run on Jest", "same"), 0.8, 0.7),
        (fact("We use Jest", "wider"), 0.7, 0.6),
        (fact("The Jest snapshots lie in the attic", "named"), 0.6, 0.5),
    ]
    decision = reconcile(draft("We switched from Jest to Vitest for tests"), known, NOW)
    assert isinstance(decision, Supersede)
    assert (decision.ids, decision.contradicts) == (("whole", "same"), ("wider",))


def test_what_holds_from_a_day_on_that_has_not_come_supersedes_nothing_yet() -> None:
    known = [(fact("We use Jest for tests"), 0.9, 0.8)]
    said = "As of {} we use Vitest instead of Jest for tests"
    assert reconcile(draft(said.format("2026-11-21")), known, NOW) == Contradict(("f",))
    assert isinstance(reconcile(draft(said.format("2026-11-19")), known, NOW), Supersede)


def test_a_correction_supersedes_what_it_says_was_wrong() -> None:
    corrected = draft("No, the limit is two.", kind=FactKind.CORRECTION, wrong="The retry limit is five")
    assert isinstance(reconcile(corrected, [(fact("The retry limit is five"), 0.6, 0.5)], NOW), Supersede)


def test_what_is_said_of_a_part_supersedes_nothing() -> None:
    known = [(fact("The release manager is Priya"), 0.9, 0.8)]
    narrower = "No, the docs release manager is Tomas"
    assert reconcile(draft(narrower, kind=FactKind.CORRECTION), known, NOW) == Contradict(("f",))
    assert isinstance(reconcile(draft(narrower.replace("docs ", ""), kind=FactKind.CORRECTION), known, NOW), Supersede)


def test_a_contradiction_that_is_no_clear_change_is_recorded() -> None:
    decision = reconcile(
        draft("The staging server listens on port 9090"),
        [(fact("The staging server listens on port 8080"), 0.9, 0.8)],
        NOW,
    )
    assert isinstance(decision, Contradict)
    assert decision.ids == ("f",)


def test_what_was_said_before_the_change_that_is_known_is_past() -> None:
    known = replace(fact("We switched the API from PostgreSQL to SQLite"), valid_from=NOW + timedelta(days=30))
    assert reconcile(draft("The API uses PostgreSQL"), [(known, 0.7, 0.5)], NOW) == AlreadySuperseded("f")
    afterwards = reconcile(draft("The API uses PostgreSQL"), [(known, 0.7, 0.5)], NOW + timedelta(days=60))
    assert not isinstance(afterwards, AlreadySuperseded)


def test_an_old_change_takes_nothing_back_that_was_said_after_it() -> None:
    known = replace(fact("The API uses PostgreSQL"), valid_from=NOW + timedelta(days=30))
    old = draft("We switched the API from PostgreSQL to SQLite")
    assert not isinstance(reconcile(old, [(known, 0.7, 0.5)], NOW), Supersede)


def test_who_is_trusted_less_supersedes_nothing() -> None:
    change = draft("We switched the API from PostgreSQL to SQLite", Origin.WEB)
    assert isinstance(reconcile(change, [(fact("The API uses PostgreSQL"), 0.7, 0.5)], NOW), Contradict)


def test_what_is_pinned_is_not_superseded() -> None:
    change = draft("We switched the API from PostgreSQL to SQLite")
    assert isinstance(reconcile(change, [(fact("The API uses PostgreSQL", pinned=True), 0.7, 0.5)], NOW), Contradict)


def test_what_has_ended_takes_no_part() -> None:
    gone = replace(fact("Use tabs"), state=State.SUPERSEDED)
    past = replace(fact("Use tabs"), valid_until=NOW - timedelta(days=1))
    assert isinstance(reconcile(draft("Use tabs"), [(gone, 1.0, 1.0), (past, 1.0, 1.0)], NOW), New)


def test_different_things_in_like_words_stay_apart() -> None:
    known = fact("I prefer quiet hotels when I travel for work")
    assert isinstance(reconcile(draft("I prefer lively bars when I travel for fun"), [(known, 0.7, 0.5)], NOW), New)


@given(st.text(max_size=120), st.lists(st.tuples(st.text(max_size=120), st.floats(0, 1), st.floats(0, 1)), max_size=4))
def test_every_draft_has_a_decision(text: str, known: list[tuple[str, float, float]]) -> None:
    neighbours = [(fact(body, str(n)), cosine, lexical) for n, (body, cosine, lexical) in enumerate(known)]
    decision = reconcile(draft(text), neighbours, NOW)
    if isinstance(decision, New):
        assert 0 <= decision.surprise <= 1


@given(st.text(min_size=1, max_size=80).filter(lambda text: any(c.isalnum() for c in text)))
def test_what_was_just_learned_is_never_learned_again(text: str) -> None:
    assert reconcile(draft(text), [(fact(text), 1.0, 1.0)], NOW) == Reinforce("f")


def test_of_two_that_a_change_names_the_one_that_says_more_is_shown_beside_it() -> None:
    known = [
        (fact("The API uses PostgreSQL", "whole"), 0.9, 0.8),
        (fact("Our API stores its data in PostgreSQL", "more"), 0.8, 0.7),
    ]
    decision = reconcile(draft("We migrated the API from PostgreSQL to SQLite"), known, NOW)
    assert isinstance(decision, Supersede)
    assert (decision.ids, decision.contradicts) == (("whole",), ("more",))


def test_what_a_clock_that_ran_ahead_recorded_is_not_said_later_than_what_is_said_now() -> None:
    ahead = NOW + timedelta(days=400)
    known = [(replace(fact("The API uses PostgreSQL"), recorded_at=ahead, valid_from=ahead), 0.7, 0.5)]
    change = draft("We switched the API from PostgreSQL to SQLite")
    assert not isinstance(reconcile(change, known, NOW, ahead), Supersede)
    assert reconcile(change, known, NOW, NOW) == reconcile(change, [(fact("The API uses PostgreSQL"), 0.7, 0.5)], NOW)


def relation(**shares: float) -> Relation:
    rest = (1.0 - sum(shares.values())) / (len(RELATIONS) - len(shares))
    return Relation(**{name: shares.get(name, rest) for name in RELATIONS})


def test_what_may_not_hold_together_is_noted_and_ends_nothing() -> None:
    known, said = fact("the cache sits in Redis"), draft("cache is in Valkey")
    assert isinstance(reconcile(said, [(known, 0.7, 0.5)], NOW), New)
    read = {"f": relation(replaces=0.5, contradicts=0.4)}
    assert reconcile(said, [(known, 0.7, 0.5)], NOW, related=read) == Contradict(("f",))
    unsure = {"f": relation(replaces=0.2, contradicts=0.1, unrelated=0.6)}
    assert isinstance(reconcile(said, [(known, 0.7, 0.5)], NOW, related=unsure), New)
    rather_the_same = {"f": relation(same=0.5, replaces=0.45)}
    assert isinstance(reconcile(said, [(known, 0.7, 0.5)], NOW, related=rather_the_same), New)


def test_what_the_words_say_needs_no_model() -> None:
    known, said = fact("The gateway listens on port 8443"), draft("The gateway no longer listens on port 8443")
    alone = reconcile(said, [(known, 0.9, 0.8)], NOW)
    assert isinstance(alone, Supersede)
    read = {"f": relation(unrelated=0.9)}
    assert reconcile(said, [(known, 0.9, 0.8)], NOW, related=read) == alone


def test_what_only_a_model_reads_ends_nothing_though_it_is_a_correction() -> None:
    known = fact("We deploy to the north region.")
    said = replace(draft("No, we deploy on Tuesdays."), kind=FactKind.CORRECTION)
    read = {"f": relation(replaces=0.9)}
    assert reconcile(said, [(known, 0.7, 0.5)], NOW, related=read) == Contradict(("f",))


def test_what_clashes_in_words_and_is_surely_read_as_a_change_is_one() -> None:
    known, said = fact("The ferry takes 12 cars."), draft("The ferry takes 20 cars.")
    assert reconcile(said, [(known, 0.9, 0.8)], NOW) == Contradict(("f",))
    surely, hardly = ({"f": relation(replaces=share)} for share in (0.95, 0.6))
    assert isinstance(reconcile(said, [(known, 0.9, 0.8)], NOW, related=surely), Supersede)
    assert reconcile(said, [(known, 0.9, 0.8)], NOW, related=hardly) == Contradict(("f",))
