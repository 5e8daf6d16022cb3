from hypothesis import given
from hypothesis import strategies as st

from memory.fact import FactKind, Origin
from memory.learning.importance import importance


def test_corrections_and_rules_matter_more_than_observations() -> None:
    assert importance("x", FactKind.CORRECTION, Origin.USER) > importance("x", FactKind.OBSERVATION, Origin.USER)


def test_a_person_matters_more_than_an_assistant_and_that_more_than_the_web() -> None:
    person, assistant, web = (
        importance("x", FactKind.FACT, each) for each in (Origin.USER, Origin.ASSISTANT, Origin.WEB)
    )
    assert person > assistant > web


def test_stress_raises_and_doubt_lowers() -> None:
    plain = importance("We use tabs.", FactKind.FACT, Origin.USER)
    assert importance("It is crucial that we use tabs.", FactKind.FACT, Origin.USER) > plain
    assert importance("Maybe we use tabs.", FactKind.FACT, Origin.USER) < plain


def test_being_asked_to_remember_raises() -> None:
    assert importance("x", FactKind.FACT, Origin.USER, requested=True) > importance("x", FactKind.FACT, Origin.USER)


@given(st.text(), st.sampled_from(FactKind), st.sampled_from(Origin), st.booleans(), st.booleans())
def test_importance_lies_between_nought_and_one(
    text: str, kind: FactKind, origin: Origin, standing: bool, asked: bool
) -> None:
    assert 0 < importance(text, kind, origin, standing=standing, requested=asked) <= 1
