import pytest

from memory.language.sentences import BlockShape, TextBlock
from memory.learning.choice import choice, options
from memory.learning.speech import SpokenSentence, clauses

OFFERED = (
    "Which approach do you prefer?\n\n"
    "1. Keep one table per tenant\n2. A single table with a tenant column\n3. A schema per tenant"
)
INLINE = "You have several options: 1. A hike along the coast. 2. A day at the spa. 3. A cooking class."


def picked(said: str, offered: str = OFFERED) -> str | None:
    found = choice(clauses([TextBlock(BlockShape.PROSE, said)]), offered)
    return found.option if found else None


def test_options_are_read_from_lists_and_from_running_text() -> None:
    assert options(OFFERED)["2"] == "A single table with a tenant column"
    assert list(options(INLINE)) == ["1", "2", "3"]
    assert options("There is only 1. one way") == {}


def test_options_are_read_from_bullets_and_from_one_sentence() -> None:
    assert list(options("Some options:\n- walk the dog\n- read a book").values()) == ["walk the dog", "read a book"]
    said = "For the evening you could cook at home, order a pizza, or go out to eat."
    assert list(options(said).values()) == ["cook at home", "order a pizza", "go out to eat"]
    assert options("You could cook at home.") == {}


def test_a_pick_is_found_by_its_stems() -> None:
    assert picked("The hiking option sounds great.", INLINE) == "A hike along the coast."


def test_only_the_last_list_is_answered() -> None:
    assert options("1. a first\n2. a second\n\nThen:\n\n1. b first\n2. b second")["1"] == "b first"


@pytest.mark.parametrize(
    "said",
    [
        "Let's go with the second one.",
        "option 2 please",
        "I'll take the second option.",
        "I think the single table with the column would be best.",
    ],
)
def test_a_pick_finds_what_was_offered(said: str) -> None:
    assert picked(said) == "A single table with a tenant column"


@pytest.mark.parametrize(
    "said",
    ["2", "2.", "2!", "number 2, please", "2 because of the backups", "2 - and push it", "second one, it is simpler"],
)
def test_who_is_asked_which_one_answers_with_a_number_alone(said: str) -> None:
    assert picked(said) == "A single table with a tenant column"


@pytest.mark.parametrize("said", ["2", "second one"])
def test_a_number_alone_picks_nothing_where_nothing_was_asked(said: str) -> None:
    assert picked(said, "I considered these alternatives:\n1. one queue\n2. two queues\nThe first is built.") is None


def test_a_letter_alone_picks_what_it_stands_before() -> None:
    offered = "Two ways: A) write to the log, or B) write to a table. A or B?"
    assert picked("A, the other is too much", offered) == "write to the log"
    assert picked("b", offered) == "write to a table."
    assert picked("a good start", offered) is None


def test_the_question_behind_the_last_way_is_no_part_of_it() -> None:
    lines = "Options:\n1. keep it\n2. drop it\nWhich one do you want?"
    assert options(lines) == {"1": "keep it", "2": "drop it"}
    assert options("Options: 1. keep it 2. drop it. Which one?") == {"1": "keep it", "2": "drop it."}


def test_the_last_one_is_the_last() -> None:
    assert picked("I'd go with the last one.") == "A schema per tenant"


@pytest.mark.parametrize(
    "said",
    [
        "What about option 2?",
        "none of these",
        "yes please",
        "Tell me more about tables.",
        "2 of them are slow",
        "2?",
        "2, 3",
        "2 and 3 together",
        "b",
        "second, run the tests",
    ],
)
def test_what_picks_nothing_is_no_choice(said: str) -> None:
    assert picked(said) is None


def test_without_an_offer_there_is_no_choice() -> None:
    assert choice([SpokenSentence("Let's go with the second one.")], "Done. All tests pass.") is None


def test_what_is_said_of_the_others_belongs_to_the_choice_and_another_topic_does_not() -> None:
    found = choice(
        clauses(
            [
                TextBlock(
                    BlockShape.PROSE,
                    "I'll go with the day at the spa. The others are too tiring for me. My aunt sends regards.",
                )
            ]
        ),
        INLINE,
    )
    assert found is not None
    assert found.option == "A day at the spa."
    assert "too tiring" in found.said
    assert "aunt" not in found.said
