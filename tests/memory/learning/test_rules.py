"""Every rule has a sentence that it reads and one that looks alike and is something else."""

import importlib
import re
from dataclasses import replace
from typing import Final

import pytest

from memory.learning.rule_findings import correction, person_finding
from memory.learning.rules import NAMES, TABLES, Rule, any_of, first, read_table, rule_table
from memory.learning.speech import SpokenSentence

RULES = [
    pytest.param(rule, id=f"{name}-{rule.name}")
    for name in NAMES
    for group in rule_table(name).values()
    for rule in group
]


def test_every_table_is_known() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in TABLES.glob("*.toml"))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_matches_its_examples_and_nothing_that_it_must_not(rule: Rule) -> None:
    for text in rule.matches:
        assert rule.applies(SpokenSentence(text)), text
    for text in rule.misses:
        assert not rule.applies(SpokenSentence(text)), text


@pytest.mark.parametrize("rule", RULES)
def test_each_form_of_a_rule_matches_one_of_its_examples(rule: Rule) -> None:
    plain = [SpokenSentence(text).plain for text in rule.matches]
    for form in rule.forms:
        assert any(re.search(form, text) for text in plain), form


def _rule(name: str) -> Rule:
    return next(rule for rule in rule_table("statements")["rules"] if rule.name == name)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("We now deploy on Mondays.", True),
        ("Our build pipeline moved from Jenkins to Buildkite.", True),
        ("The support address changed to help@example.org.", True),
        ("The importer now uses SQLite.", True),
        ("We moved the nightly job from 02:00 to 04:00.", True),
        ("We now use the helper method.", False),
        ("The page now uses the new header.", False),
        ("The dropdown moved to the left.", False),
        ("The banner is now blue.", False),
        ("We now have three failing checks.", False),
        ("We moved the function from one file to another.", False),
        ("The importer now uses SQLite?", False),
    ],
)
def test_what_lasts_of_what_has_changed(said: str, read: bool) -> None:
    changed = _rule("what has changed")
    assert changed.applies(SpokenSentence(said)) is read


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("We now use Vitest for tests.", True),
        ("Nightly backups now run at 4 am.", True),
        ("The deploys run on Mondays now.", True),
        ("The staging server is at 10.0.0.5 now.", True),
        ("We use pnpm again.", True),
        ("We are back on npm.", True),
        ("We went back to Webpack.", True),
        ("We are back to square one.", False),
        ("We're now on track.", False),
        ("We run the tests again.", False),
        ("The build runs again.", False),
        ("The tests are in a good state now.", False),
        ("The PR is on Staging now.", False),
        ("We use Redis for now.", False),
        ("If we use Redis now, it breaks.", False),
        ("We use the helper now.", False),
    ],
)
def test_what_holds_from_now_on_is_named(said: str, read: bool) -> None:
    from_now_on = _rule("what holds from now on")
    assert from_now_on.applies(SpokenSentence(said)) is read


@pytest.mark.parametrize(
    "said",
    [
        "I'm not too picky, but I do try to avoid too many carbs.",
        "It's not huge, but it's cozy and perfect for my needs.",
        "I’m not exactly a reckless user, but accidents do happen.",
        "No, that's alright. I'll stick with the current setup for now.",
    ],
)
def test_what_is_conceded_or_let_be_corrects_nothing(said: str) -> None:
    assert correction(SpokenSentence(said)) is None


@pytest.mark.parametrize("said", ["It is not the port, but the host.", "Not Redis, but rather Memcached."])
def test_what_holds_in_the_place_of_what_was_said_is_a_correction(said: str) -> None:
    assert correction(SpokenSentence(said)) is not None


def test_a_rule_without_its_cue_is_not_even_asked() -> None:
    rule = rule_table("preferences")["rules"][0]
    assert rule.cues
    assert not rule.applies(SpokenSentence("The sky above the port was grey."))


def test_the_first_rule_that_matches_speaks() -> None:
    (rule,) = read_table("polite.toml", _TABLE)["rules"]
    other = replace(rule, means=replace(rule.means, confidence=0.9))
    said = SpokenSentence("They all said hello you.")
    assert first((rule, other), said) == rule.means
    assert first((other, rule), said) == other.means


def test_an_underscore_in_a_list_of_words_is_a_space() -> None:
    assert re.fullmatch(any_of("stick_to opt"), "stick to")


def test_a_name_at_the_beginning_must_be_a_name() -> None:
    assert person_finding(SpokenSentence("Marta prefers short meetings."))
    assert person_finding(SpokenSentence("It prefers short meetings.")) is None
    assert person_finding(SpokenSentence("Marta owns `scheduler.py`.")) is None


_MODULES = [
    *(f"language.{name}" for name in ("contradiction", "dates", "entities", "sentences")),
    *(f"learning.{name}" for name in ("choice", "corrections", "extract", "importance")),
    *(f"learning.{name}" for name in ("lesson", "passages", "rule_extraction")),
    *(f"learning.{name}" for name in ("sensitivity", "speech")),
]


def _patterns(value: object) -> list[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        return [value]
    if isinstance(value, tuple):
        return [pattern for inner in value for pattern in _patterns(inner)]
    return []


def _unbounded_inside(tree: object, inside: bool = False) -> bool:
    """Whether a repeat without a limit stands inside another repeat: the form that can run away."""
    parser = importlib.import_module("re._parser")
    for operation, argument in tree:  # type: ignore[attr-defined]
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            _, high, body = argument
            endless = high == parser.MAXREPEAT
            if endless and inside:
                return True
            if _unbounded_inside(body, inside=inside or high > 1):
                return True
        elif name == "SUBPATTERN":
            if _unbounded_inside(argument[3], inside):
                return True
        elif name == "BRANCH":
            if any(_unbounded_inside(branch, inside) for branch in argument[1]):
                return True
        elif name in ("ASSERT", "ASSERT_NOT") and _unbounded_inside(argument[1], inside):
            return True
    return False


@pytest.mark.parametrize("name", _MODULES)
def test_no_pattern_repeats_without_end_inside_a_repeat(name: str) -> None:
    module = importlib.import_module(f"memory.{name}")
    parser = importlib.import_module("re._parser")
    patterns = [pattern for value in vars(module).values() for pattern in _patterns(value)]
    for pattern in patterns:
        assert not _unbounded_inside(parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)), pattern.pattern[:80]


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_repeats_without_end_inside_a_repeat(rule: Rule) -> None:
    parser = importlib.import_module("re._parser")
    conditions = [pattern for condition in rule.when for pattern in (*condition.forms, *condition.spelled)]
    for pattern in (*rule.forms, *rule.unless, *conditions):
        assert not _unbounded_inside(parser.parse(pattern, 0)), pattern[:80]


_ROW: Final = {
    "name": "greets",
    "means": "polite",
    "forms": ["hello {whom}"],
    "matches": ["hello you"],
    "misses": ["hey"],
}
_TABLE: Final = {
    "meanings": {
        "polite": {
            "kind": "fact", "category": "person", "stream": "identity", "layer": "user", "confidence": 0.5,
        }
    },
    "words": {"whom": "you all_of_you"},
    "rules": [_ROW],
}  # fmt: skip


def test_a_table_names_its_fragments() -> None:
    (rule,) = read_table("polite.toml", _TABLE)["rules"]
    assert rule.forms == ("hello (?:you|all of you)",)


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"misses": []}, "needs a text that it matches and one that it misses"),
        ({"means": "rude"}, "has or names no 'rude'"),
        ({"forms": ["hello {who}"]}, "has or names no 'who'"),
        ({"when": ["sunny"]}, "has or names no 'sunny'"),
        ({"examples": ["hello"]}, r"knows no \['examples'\]"),
    ],
)
def test_a_row_that_is_not_whole_is_an_error(changed: dict[str, object], wrong: str) -> None:
    with pytest.raises(ValueError, match=f"polite.toml: 'greets' {wrong}"):
        read_table("polite.toml", {**_TABLE, "rules": [{**_ROW, **changed}]})
