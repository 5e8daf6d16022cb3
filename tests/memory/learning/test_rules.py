"""Every rule has a sentence that it reads and one that looks alike and is something else."""

import importlib
import re
from types import ModuleType

import pytest

from memory.learning import assistant, corrections, decisions, instructions, personal, preferences, statements
from memory.learning.rules import Rule, any_of, first
from memory.learning.speech import SpokenSentence

# room → rule → (read, not read by this rule)
CASES: dict[ModuleType, dict[str, tuple[str, str]]] = {
    preferences: {
        "likes": ("I really prefer quiet hotels to lively ones.", "I like the second one."),
        "gets": ("I get easily overwhelmed in crowds.", "I get a lot of mail."),
        "does not": ("I don't eat shellfish.", "I can't find the receipt."),
        "is": ("I'm allergic to peanuts.", "I'm interested in hearing your thoughts."),
        "has": ("I have a strong aversion to horror films.", "I have a train at nine."),
        "finds": ("I find long meetings exhausting.", "I found a way out of the maze."),
        "mine": ("My favourite season is autumn.", "My neighbour waved."),
        "for me": ("Early mornings work best for me.", "Keep me posted."),
        "would rather": ("I'd rather walk than drive.", "We would go there."),
        "does it best": ("I study better with background noise.", "The plants grow better here."),
        "usually": ("I usually take the train to work.", "I always wondered about that."),
        "wants": ("I need a window seat on every flight.", "I need some advice on flights."),
        "german": ("Ich mag keine lauten Restaurants.", "Ich möchte eine Suppe."),
    },
    instructions: {
        "how to talk to me": ("Please answer in German.", "Answer the question in the file."),
        "from now on": ("From now on, sign off with my initials.", "It was like that every time."),
        "always or never do": ("Always run the linter before committing.", "It always fails on Mondays."),
        "ask first": ("Ask me before you touch the database.", "I asked before."),
        "in this project": ("In this repo, use pnpm.", "In this repo there was a bug."),
        "use it for that kind": ("Use British spelling in docs.", "Use the skill on this."),
        "everywhere": ("Use metric units everywhere.", "Use metric units in this table."),
        "whenever": ("When you add a module, write its tests too.", "When I ran it, nothing happened."),
        "our practice": ("We always squash before merging.", "We usually got an answer."),
        "this over that": ("Prefer composition over inheritance.", "Choose that over the other."),
        "don't": ("Don't touch the generated files.", "Don't worry about the noise."),
        "keep it so": ("Keep the old naming scheme.", "Keep going."),
    },
    decisions: {
        "decided": ("We decided to store dates in UTC.", "We haven't decided yet."),
        "under way": ("We're migrating to the new scheduler.", "We're going to the cinema."),
        "it has ended": ("The XML export is no longer supported.", "It no longer works."),
        "not needed": ("We don't need the fallback route.", "No need to worry."),
        "away with it": ("Scrap the legacy importer.", "Scrap it, the watcher hangs."),
        "let's have it so": ("Let's use integers for the ids.", "Let's fix the tests."),
        "instead": ("Return an empty list instead of null.", "Why is it empty instead of null?"),
        "wanted so": ("We want a single config file.", "We want to see the log."),
        "preferred": ("I prefer the second hook in `setup.go`.", "I prefer tea to coffee."),
        "should be so": ("The `parser` should never guess the encoding.", "That should be fixed."),
        "verdict": ("A flat file is fine for now, since the API is internal.", "It's fine."),
        "moved": ("We switched from Jenkins to Buildkite.", "He switched branches."),
    },
    corrections: {
        "meant": ("I meant the outer loop.", "What do you mean by that loop?"),
        "that is wrong": ("That's not correct, the limit is per user.", "Something is wrong with it."),
        "no, it is": ("No, the second parameter is the path.", "No problem, thanks."),
        "this, not that": ("It's a warning, not an error.", "I am not sure about it."),
        "it does not do as it should": ("It still shows the old title.", "It still works well."),
        "undo": ("You shouldn't have touched the lock file.", "We should have lunch."),
    },
    statements: {
        "what has changed": ("The staging database is now on port 6543.", "The test is now on line 30."),
        "what holds from now on": ("We use Vitest now.", "We use this now."),
        "what was found": ("It turned out that the proxy closes idle sockets.", "It might turn out well."),
        "what holds until a day": (
            "The staging server is down until Friday.",
            "The staging server is down until we mend it.",
        ),
        "what its value is not": ("The release manager is not Bo.", "The release manager is not happy."),
        "what its value is": ("The staging port is 5433.", "The staging port is slow."),
        "where it belongs and when it happens": ("Deploys happen on Thursdays.", "It happens on Thursdays."),
        "what it needs": ("The deploy script needs `--no-cache`.", "The branch needs a rebase."),
        "where and what it is": ("The invoices are stored in the billing bucket.", "The build is in progress."),
        "what we use": ("We deploy to Hetzner.", "If we use it, it breaks."),
        "what a word means": ("SDU stands for service delivery unit.", "It means a lot."),
        "when it is due": ("The code freeze is on Friday.", "The pull request review is on main."),
        "what binds it": ("Our gateway only accepts TLS 1.3.", "The gateway is blue."),
        "how it behaves": ("The session token expires after an hour.", "The test keeps failing."),
    },
    assistant: {
        "the cause": ("The root cause was a stale lock file.", "It might be caused by the cache."),
        "done": ("Fixed the off-by-one error in `parse_range`.", "Let me know if the range would be fixed."),
    },
}  # fmt: skip
PERSONAL = {
    "where I am until a day": ("I'm away until next Monday.", "I'm away until it rains."),
    "my name, my place": ("My name is Ada.", "My phone is broken."),
    "I am called": ("I'm Anna, by the way.", "I'm happy, by the way."),
    "what I use": ("I use vim keybindings.", "I use it when I can."),
    "I am somebody": ("I'm a marine biologist.", "I'm a bit tired."),
    "I live and work": ("I grew up in a small village.", "They live upstairs."),
    "those near me": ("My sister plays the cello.", "Sisters play together."),
    "what I have booked": ("I've booked the ferry to Gotland.", "I've seen the ferry."),
    "what I shall do": ("I'm going to visit Rome in May.", "I'm going to check it."),
    "what happened to me": ("I finished my first marathon in the rain.", "I received the wrong order again and again."),
}
SOMEBODY = {
    "somebody is so": ("Priya prefers written updates.", "Priya smiled."),
    "somebody told me": ("Tomas told me the lift is out of order.", "Tomas told a story."),
}


def _flat() -> list[tuple[Rule, str, str]]:
    rooms: list[tuple[tuple[Rule, ...], dict[str, tuple[str, str]]]] = [
        (module.RULES, cases) for module, cases in CASES.items()
    ]
    rooms += [(personal.RULES, PERSONAL), (personal.PERSON_RULES, SOMEBODY)]
    found = []
    for rules, cases in rooms:
        assert {rule.name for rule in rules} == set(cases), "each rule has its two sentences"
        found += [(rule, *cases[rule.name]) for rule in rules]
    return found


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
    changed = next(rule for rule in statements.RULES if rule.name == "what has changed")
    assert changed.matches(SpokenSentence(said)) is read


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
    from_now_on = next(rule for rule in statements.RULES if rule.name == "what holds from now on")
    assert from_now_on.matches(SpokenSentence(said)) is read


@pytest.mark.parametrize(("rule", "said", "other"), _flat(), ids=lambda value: getattr(value, "name", ""))
def test_a_rule_reads_its_sentence_and_leaves_the_other(rule: Rule, said: str, other: str) -> None:
    assert rule.matches(SpokenSentence(said))
    assert not rule.matches(SpokenSentence(other))


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
    assert corrections.correction(SpokenSentence(said)) is None


@pytest.mark.parametrize("said", ["It is not the port, but the host.", "Not Redis, but rather Memcached."])
def test_what_holds_in_the_place_of_what_was_said_is_a_correction(said: str) -> None:
    assert corrections.correction(SpokenSentence(said)) is not None


def test_a_rule_without_its_cue_is_not_even_asked() -> None:
    rule = preferences.RULES[0]
    assert rule.cues
    assert not rule.matches(SpokenSentence("The sky above the port was grey."))


def test_the_first_rule_that_matches_speaks() -> None:
    found = first(instructions.RULES, SpokenSentence("From now on never use tabs."))
    assert found is not None
    assert found.standing


def test_an_underscore_in_a_list_of_words_is_a_space() -> None:
    assert re.fullmatch(any_of("stick_to opt"), "stick to")


def test_a_name_at_the_beginning_must_be_a_name() -> None:
    assert personal.person_finding(SpokenSentence("Marta prefers short meetings."))
    assert personal.person_finding(SpokenSentence("It prefers short meetings.")) is None
    assert personal.person_finding(SpokenSentence("Marta owns `scheduler.py`.")) is None


_MODULES = [
    *(f"language.{name}" for name in ("contradiction", "dates", "entities", "prose", "sentences")),
    *(f"learning.{name}" for name in ("assistant", "choice", "corrections", "decisions", "extract", "importance")),
    *(f"learning.{name}" for name in ("instructions", "stated_time", "passages", "personal", "preferences")),
    *(f"learning.{name}" for name in ("explicit_requests", "sensitivity", "speech", "statements")),
]


def _patterns(value: object) -> list[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        return [value]
    if isinstance(value, Rule):
        return [value.pattern, *([value.unless] if value.unless else [])]
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
