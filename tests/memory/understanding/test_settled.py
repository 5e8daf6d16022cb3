"""What settles something is told from a step, by what is said and what it answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from memory.understanding.network import LASTING_KINDS
from memory.understanding.packaged_weights import encoder, reader, settled_head
from memory.understanding.settled import SETTLES

OFFER = "Two ways: a lock file beside each archive, or one table in the catalogue that holds all locks. Which one?"
WIZARD = "The wizard has five pages now."


def likely(said: str, reply: str = "") -> float:
    [probability] = settled_head()(encoder().clause_states(said, [(0, len(said))], reply)).tolist()
    assert 0.0 <= probability <= 1.0
    return float(probability)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (OFFER, "the table, lock files get lost when somebody copies a folder"),
        (WIZARD, "three pages at most, address and payment go together"),
        ("I kept the SOAP endpoint working.", "the soap endpoint can go for good, the last customer left in spring"),
    ],
)
def test_what_settles_something_is_likelier_than_a_step_in_the_same_place(reply: str, said: str) -> None:
    steps = ("run the tests again please", "have a look at why it is so slow", "commit that and push")
    assert likely(said, reply) >= 0.5
    assert likely(said, reply) > 5 * max(likely(step, reply) for step in steps)


def test_a_clause_that_settles_something_is_a_decision() -> None:
    with_head, without = reader(), replace(reader(), settled=None)
    said = "three pages at most, address and payment go together"
    found, before = with_head.read(said, WIZARD), without.read(said, WIZARD)
    raised = [one for one, two in zip(found, before, strict=True) if one.judged != two.judged]
    assert raised
    for clause in raised:
        assert clause.judged.kind == "dec"
        assert clause.judged.worth_keeping >= SETTLES
        assert sum(clause.judged.kinds) == pytest.approx(1.0, abs=1e-5)


def test_what_is_of_the_moment_is_read_as_before() -> None:
    said = "rerun the import with --verbose and paste me the last ten lines"
    assert reader().read(said, OFFER) == replace(reader(), settled=None).read(said, OFFER)


def test_what_is_already_worth_more_stays_what_it_is() -> None:
    said = "Never write to the archive without asking me first."
    [clause] = reader().read(said)
    assert clause.judged.kind != "dec"
    assert clause.judged.settling(0.0) == clause.judged
    assert clause.judged.settling(1.0).kinds[LASTING_KINDS.index("dec")] == 1.0


def test_many_are_read_as_each_alone() -> None:
    states = np.random.default_rng(3).normal(size=(7, 768)).astype(np.float32)
    head = settled_head()
    assert np.allclose(head(states), np.concatenate([head(states[at : at + 1]) for at in range(7)]), atol=1e-6)
