from collections.abc import Callable

import pytest

from memory.understanding.forms import (
    TABLE,
    begins_anew,
    excepts,
    is_everywhere,
    is_for_now,
    is_here,
    is_relative,
    leans,
    limits,
    negates,
    permits,
    points_back,
    takes_back,
)


def at_the_stroke(text: str) -> bool:
    """Whether what stands behind a stroke begins anew."""
    before, after = text.split(" | ")
    return begins_anew(before.split()[-1].rstrip(","), after, marked=before.endswith(","))


FORMS: dict[str, Callable[[str], object]] = {
    "everywhere": is_everywhere,
    "relative": is_relative,
    "here": is_here,
    "points_back": points_back,
    "leans": leans,
    "permits": permits,
    "for_now": is_for_now,
    "takes_back": takes_back,
    "limits": limits,
    "exceptions": excepts,
    "negations": negates,
    "anew": at_the_stroke,
}


@pytest.mark.parametrize(("form", "text"), [(form, text) for form in FORMS for text in TABLE[form]["yes"]])
def test_a_form_is_known(form: str, text: str) -> None:
    assert FORMS[form](text)


@pytest.mark.parametrize(("form", "text"), [(form, text) for form in FORMS for text in TABLE[form]["no"]])
def test_a_form_is_not_seen_in_what_looks_like_it(form: str, text: str) -> None:
    assert not FORMS[form](text)
