"""What a clause needs to be understood, told by its words and by what stands before it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from memory.understanding.clauses import HANGS, HANGS_SURELY, Clause
from memory.understanding.dependence import ALONE, Dependence, DependenceHead, shape
from memory.understanding.packaged_weights import dependence_head, reader
from memory.understanding.wording import statements


def read(said: str, reply: str = "") -> list[Clause]:
    return reader().read(said, reply)


@pytest.mark.parametrize(
    ("before", "leaning", "alone"),
    [
        ("Invoices are never deleted.", "neither are credit notes.", "Prices live in the tariff service."),
        ("The kiosk shows no surnames.", "not on the receipts either.", "Receipts are printed in A6."),
        ("Rechnungen werden nie gelöscht.", "Gutschriften auch nicht.", "Die Preise liegen im Tarifdienst."),
        ("Backups run at four.", "except the one in Lyon.", "Commit messages are in English."),
    ],
)
def test_what_goes_on_with_a_statement_needs_it_and_another_one_does_not(before: str, leaning: str, alone: str) -> None:
    *_, goes_on = read(f"{before} {leaning}")
    *_, apart = read(f"{before} {alone}")
    assert goes_on.needs.before >= HANGS
    assert goes_on.needs.before > apart.needs.before


def test_what_goes_on_is_told_with_what_it_goes_on_with() -> None:
    [only] = statements(read("Surnames never leave the kiosk. not on a receipt and not in a log."))
    assert only.text == "Surnames never leave the kiosk. not on a receipt and not in a log."


def test_what_is_too_long_for_one_statement_is_told_once() -> None:
    said = (
        "Surnames never leave the kiosk, neither on a receipt nor on a label nor on any of the lists that the kitchen "
        "gets. Nor do first names, not even on the board. not in a log either, whoever reads it."
    )
    _, names, log = read(said)
    assert min(names.needs.before, log.needs.before) >= HANGS
    told = [each.text for each in statements(read(said))]
    assert [sum(part in text for text in told) for part in ("Surnames", "first names", "in a log")] == [1, 1, 1]


class Needs(DependenceHead):
    """Finds of every clause but the first that it needs the one before it."""

    def __call__(
        self, states: NDArray[np.float32], before: NDArray[np.float32], shapes: NDArray[np.float32]
    ) -> list[Dependence]:
        return [ALONE if first else Dependence(HANGS_SURELY, 0.0) for first in shapes[:, 0]]


def test_what_needs_an_order_of_the_moment_is_judged_with_it() -> None:
    said, shipped = "run the importer once more please. Amounts are integer cents in all tables.", reader()
    assert shipped.dependence is not None
    hanging = replace(shipped, dependence=Needs(shipped.dependence.hidden, shipped.dependence.out))
    [order, rule] = shipped.read(said)
    [same, doubted] = hanging.read(said)
    assert order.judged == same.judged
    assert doubted.judged.worth_keeping < rule.judged.worth_keeping


class Everything(DependenceHead):
    """Finds of every clause that it needs the one before it."""

    def __call__(
        self, states: NDArray[np.float32], before: NDArray[np.float32], shapes: NDArray[np.float32]
    ) -> list[Dependence]:
        return [Dependence(1.0, 0.0)] * len(states)


def test_before_the_first_clause_stands_nothing() -> None:
    shipped = reader()
    assert shipped.dependence is not None
    hanging = replace(shipped, dependence=Everything(shipped.dependence.hidden, shipped.dependence.out))
    first, *_ = hanging.read("Amounts are integer cents. Rates are per mille. Dates are days.")
    assert first.needs == ALONE


def test_without_the_head_every_clause_stands_alone() -> None:
    bare = replace(reader(), dependence=None)
    assert {each.needs for each in bare.read("Invoices are never deleted. neither are credit notes.")} == {ALONE}


def test_a_shape_tells_the_place_and_the_marks() -> None:
    texts = ["We ship on Mondays.", "not in May"]
    assert shape(texts, 0, replied=False) == [1.0, 0.4, 1.0, 0.0, 1.0, 0.0, 0.0]
    assert shape(texts, 1, replied=True) == [0.0, 0.3, 0.0, 1.0, 0.0, 0.4, 1.0]


def test_many_are_read_as_each_alone() -> None:
    drawn = np.random.default_rng(4)
    states, before = (drawn.normal(size=(6, 768)).astype(np.float32) for _ in range(2))
    shapes = drawn.random((6, 7)).astype(np.float32)
    head = dependence_head()
    together = head(states, before, shapes)
    alone = [head(states[at : at + 1], before[at : at + 1], shapes[at : at + 1])[0] for at in range(6)]
    assert np.allclose(together, alone, atol=1e-6)
