import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.fact import Sensitivity
from memory.learning.sensitivity import sensitivity


@pytest.mark.parametrize(
    ("text", "guard"),
    [
        ("Keep this to yourself: we are selling the company.", Sensitivity.RESTRICTED),
        ("Our database password is [redacted]", Sensitivity.RESTRICTED),
        ("My brother is in rehab.", Sensitivity.RESTRICTED),
        ("This is confidential until May.", Sensitivity.CONFIDENTIAL),
        ("My salary went up.", Sensitivity.CONFIDENTIAL),
        ("I'm allergic to nuts.", Sensitivity.CONFIDENTIAL),
        ("She is getting divorced, her lawyer says.", Sensitivity.CONFIDENTIAL),
        ("Das bleibt unter uns.", Sensitivity.CONFIDENTIAL),
        ("The health check of the pod fails.", Sensitivity.NORMAL),
        ("The token budget is 600.", Sensitivity.NORMAL),
        ("Add a password field to the form.", Sensitivity.NORMAL),
        ("Use tabs.", Sensitivity.NORMAL),
    ],
)
def test_the_guard_follows_the_written_rules(text: str, guard: Sensitivity) -> None:
    assert sensitivity(text) is guard


@given(st.text(max_size=400))
def test_every_text_has_a_guard(text: str) -> None:
    assert sensitivity(text) in Sensitivity
