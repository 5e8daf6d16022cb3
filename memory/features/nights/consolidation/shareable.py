"""Which facts may be put forward as rules for others."""

from __future__ import annotations

from typing import Final

from memory.fact import Fact, FactKind, Sensitivity, State
from memory.scope import Layer

RULES: Final = (FactKind.CORRECTION, FactKind.CONVENTION, FactKind.DECISION, FactKind.ANTI_PATTERN, FactKind.HEURISTIC)
WAS_SAID: Final = (State.ACTIVE, State.DRAFT, State.ARCHIVED)
"""The states of what was said and not taken back: it may have faded, or be said otherwise since."""
_LEADING: Final = (*RULES, FactKind.PREFERENCE)
_BEARING: Final = (*_LEADING, FactKind.FACT)
"""A rule is often told by its reason."""


def may_be_shared(fact: Fact) -> bool:
    """Whether a fact is a rule that a person said in a project, and that holds without an end or an objection."""
    return fact.kind in RULES and may_lead(fact)


def may_lead(fact: Fact) -> bool:
    """Whether a fact may lead others that go on about the same: it is such a rule, or what the person likes in the
    project."""
    return fact.state is State.ACTIVE and fact.kind in _LEADING and not fact.contradicts and bears_out(fact)


def bears_out(fact: Fact) -> bool:
    """Whether a fact may bear out a rule that was said otherwise: it is one itself, or was, or was read as one with
    doubt; or it is what somebody likes or holds to be so in the project."""
    return (
        fact.layer is Layer.USER_PROJECT
        and fact.kind in _BEARING
        and fact.origin.trusted
        and fact.sensitivity is Sensitivity.NORMAL
        and fact.state in WAS_SAID
        and fact.valid_until is None
        and fact.expires_at is None
    )
