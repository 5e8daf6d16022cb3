"""An owner's key says whose it is, and of which place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.scope import Layer, Scope, place_of, scope_of

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


@given(st.none() | NAMES, NAMES, NAMES)
def test_the_key_of_a_users_project_leads_back_to_it(org: str | None, user: str, project: str) -> None:
    scope = Scope(org, user, project)
    owner = scope.owner(Layer.USER_PROJECT)
    assert owner is not None
    assert scope_of(owner) == scope


@pytest.mark.parametrize("owner", ["", "up:", "up:/ann", "up:/ann/", "u:/ann", "p:org/boat", "up:/a/b/c", "boat"])
def test_any_other_key_leads_nowhere(owner: str) -> None:
    assert scope_of(owner) is None


@given(st.builds(Scope, st.none() | NAMES, st.none() | NAMES, st.none() | NAMES), st.sampled_from(Layer))
def test_every_key_says_its_place_and_its_layer(scope: Scope, layer: Layer) -> None:
    owner = scope.owner(layer)
    if owner is not None:
        place = place_of(owner)
        assert place is not None and place[1] is layer and place[0].owner(layer) == owner


SCOPES = st.builds(Scope, *(st.none() | st.sampled_from(["a", "b", "a/b", ""]) for _ in range(3)))


@given(SCOPES, SCOPES, st.sampled_from(Layer))
def test_a_memory_is_seen_by_those_of_its_layer_and_by_nobody_else(whose: Scope, who: Scope, layer: Layer) -> None:
    owner = whose.owner(layer)
    org, user, project = ((getattr(whose, name) or None) == (getattr(who, name) or None) for name in NAMED)
    alike = {
        Layer.USER_PROJECT: org and user and project,
        Layer.USER: org and user,
        # Without an organisation nobody shares a project.
        Layer.PROJECT: org and project and (bool(whose.org) or user),
        Layer.ORG: org,
    }
    if owner is not None:
        reached = who.owner(layer) is not None
        assert (owner in who.owners()) == (alike[layer] and reached)


NAMED = ("org", "user", "project")
