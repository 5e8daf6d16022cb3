"""Prose by its most central sentences."""

from memory.tiers.pages import prose
from memory.tiers.shape import Hint

ASIDES = "Somebody laughed. Rain fell outside for hours. A bird sang somewhere else entirely.\n"
REPORT = (
    "The migration of the billing service to the new database fails under load.\n"
    + ASIDES * 6
    + "The new database locks the billing table while the migration of the service runs, see billing/migrate.py.\n"
    + ASIDES * 6
)


def test_the_sentences_that_hold_the_text_together_are_kept() -> None:
    made = prose(REPORT, Hint(), len(REPORT) // 5)
    assert made is not None
    assert "see billing/migrate.py." in made
    assert len(made) <= len(REPORT) // 5


def test_what_has_no_sentences_is_no_prose() -> None:
    assert prose("a\nb\nc\nd\n" * 100, Hint(), 300) is None
    assert prose("", Hint(), 300) is None
