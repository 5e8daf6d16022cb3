"""An owner's key says whose it is, and of which place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.scope import Layer, Scope, scope_of

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
