"""What values are called in front of a person."""

from __future__ import annotations

import pytest

from proxy.explanations import money


@pytest.mark.parametrize(
    ("dollars", "told"),
    [
        (0.0, "$0.0000"),
        (-0.0, "$0.0000"),
        (-0.00004, "$0.0000"),
        (-0.00006, "-$0.0001"),
        (0.0123, "$0.0123"),
        (-0.99999, "-$1.00"),
        (-1.5, "-$1.50"),
        (1234.5, "$1,234.50"),
    ],
)
def test_what_rounds_to_nothing_has_no_sign(dollars: float, told: str) -> None:
    assert money(dollars) == told
