"""Where two layers contradict each other, the nearest wins."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.context.diversity import diverse, nearest
from memory.context.rank import Scored
from memory.fact import Fact, Origin, State
from memory.scope import Layer, Scope
from tests.memory.stores.derived_facts import fact

ADA = Scope("acme", "ada", "boat")
ORDER = list(Layer)


def of(layer: Layer, text: str, id: str = "", **more: Any) -> Fact:
    return fact(text, id=id or layer.value, owner=ADA.owner(layer), layer=layer, **more)


RIVALS = [
    ("Never push to the main branch", "Always push to the main branch"),
    ("Use tabs for indentation", "Use spaces for indentation"),
    ("Use 2 spaces for indentation", "Use 4 spaces for indentation"),
    ("Answer in English", "Answer in German."),
    ("Please write commit messages in English", "Write commit messages in French"),
    ("Commit messages are in English", "Commit messages are in German"),
]
FRIENDS = [
    ("Use pytest", "Use ruff"),
    ("Use tabs for indentation", "Use spaces for alignment in tables"),
    ("Run the tests before a push", "Run the linters before a push"),
    ("Answer in English", "Comment in English"),
    ("Never use tabs for indentation", "Use spaces for indentation"),
    ("Ada sails on Fridays", "The deploy runs at night"),
]


@pytest.mark.parametrize(("near", "far"), list(combinations(Layer, 2)))
@pytest.mark.parametrize("texts", RIVALS)
def test_the_nearer_of_two_layers_wins_whichever_says_what(near: Layer, far: Layer, texts: tuple[str, str]) -> None:
    for one, other in (texts, texts[::-1]):
        assert nearest([of(far, one), of(near, other)]) == {far.value}
        assert nearest([of(near, other), of(far, one)]) == {far.value}


@pytest.mark.parametrize("texts", FRIENDS)
def test_what_does_not_contradict_stays(texts: tuple[str, str]) -> None:
    for one, other in (texts, texts[::-1]):
        assert not nearest([of(Layer.ORG, one), of(Layer.USER_PROJECT, other)])


def test_only_a_persons_own_word_wins_over_another_layer_and_only_while_it_holds() -> None:
    far, near = RIVALS[0]
    for more in ({"origin": Origin.WEB}, {"origin": Origin.ASSISTANT}, {"state": State.SUPERSEDED}):
        assert not nearest([of(Layer.PROJECT, far), of(Layer.USER, near, **more)])
    ended = of(Layer.PROJECT, far, state=State.SUPERSEDED)
    assert not nearest([ended, of(Layer.USER, near)]), "what was so is no rival of what is so"


def test_recall_shows_the_nearest_only() -> None:
    far, near = of(Layer.ORG, RIVALS[1][0]), of(Layer.USER_PROJECT, RIVALS[1][1])
    kept = diverse([Scored(far, 0.9), Scored(near, 0.5)])
    assert [each.id for each in kept] == [near.id]


SAID = st.sampled_from([text for pair in (*RIVALS, *FRIENDS) for text in pair])


@given(st.lists(st.tuples(st.sampled_from(Layer), SAID, st.sampled_from(Origin), st.sampled_from(State)), max_size=10))
def test_whatever_is_lost_has_lost_to_a_nearer_word_of_a_person(
    told: list[tuple[Layer, str, Origin, State]],
) -> None:
    facts = [of(layer, text, str(n), origin=origin, state=state) for n, (layer, text, origin, state) in enumerate(told)]
    lost = nearest(facts)
    assert lost == nearest(facts[::-1]), "the order does not matter"
    for far in facts:
        winners = [
            near
            for near in facts
            if ORDER.index(near.layer) < ORDER.index(far.layer)
            and near.origin.trusted
            and near.state is State.ACTIVE
            and nearest([far, near])
        ]
        assert (far.id in lost) == bool(winners)
    assert not lost & {each.id for each in facts if each.layer is Layer.USER_PROJECT}
