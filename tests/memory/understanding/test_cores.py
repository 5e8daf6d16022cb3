import re
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.understanding.cores import LEAST, SHARE, core, is_core, parted, rest_of
from memory.understanding.packaged_weights import reader

WORDS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1, max_size=9), max_size=30
)


def pieces(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(r"\S+", text)]


def told(text: str, goes: Sequence[str]) -> str:
    """The core of a text of which some words surely go, and all others surely stay."""
    spans = pieces(text)
    return core(text, spans, [-4.0 if text[a:b] in goes else 4.0 for a, b in spans])


@given(WORDS, st.data())
def test_a_core_is_the_words_of_the_statement_in_their_order(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    spans = pieces(text)
    odds = data.draw(st.lists(st.floats(-9, 9), min_size=len(spans), max_size=len(spans)))
    read, stays = parted(text, spans, odds)
    assert read == spans and len(stays) == len(spans)
    assert all(stays) or sum(stays) >= max(LEAST, SHARE * len(spans))
    assert bool(core(text, spans, odds)) == (not all(stays))


@given(st.lists(st.tuples(st.text("abc,.", min_size=1, max_size=3), st.booleans()), max_size=12))
def test_the_rest_of_a_statement_is_the_words_that_a_line_leaves_out(words: list[tuple[str, bool]]) -> None:
    line = [word for word, stays in words if stays]
    rest = rest_of(" ".join(word for word, _ in words), " ".join(line)).split()
    bare = Counter(word.rstrip(",.") for word in [*line, *rest])
    assert bare == Counter(word.rstrip(",.") for word, _ in words)


@given(WORDS)
def test_what_was_not_read_stays(words: list[str]) -> None:
    assert core(" ".join(words), [], []) == ""


def test_a_reason_behind_a_mark_goes() -> None:
    text = "tag every release of ours with the date, my old boss insisted"
    assert told(text, text.split()[8:]) == "Tag every release of ours with the date"


def test_what_went_between_two_words_without_any_mark_is_told_by_a_comma() -> None:
    text = "the ledger job which I wrote on a train and am proud of runs at four every single night now"
    goes = text.split()[3:13]
    assert told(text, goes) == "The ledger job, runs at four every single night now"


def test_where_there_are_marks_nothing_is_torn_between_two_words() -> None:
    text = "the ledger job, which I wrote on a train and am proud of, runs at four every single night now"
    assert told(text, text.split()[5:9]) == ""


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("it is not true that the stage is in Oslo, it went to Bergen last year", 4),
        ("I doubt that, let us take the smaller queue for the nightly export", 3),
        ("Ich glaube nicht, dass wir hier eine zweite Datenbank brauchen werden", 3),
        ("Pim told us, that the quota of the sandbox is refilled on mondays", 3),
    ],
)
def test_what_denies_or_brings_in_the_rest_stays(text: str, goes: int) -> None:
    assert told(text, text.split()[:goes]) == ""


@pytest.mark.parametrize(
    ("text", "goes", "line"),
    [
        (
            "did anybody look at the scale no nobody did so please weigh each sack twice before it is booked",
            11,
            "Weigh each sack twice before it is booked",
        ),
        (
            "das war nicht dein Ernst, also bitte immer erst die Ventile schließen und dann spülen",
            5,
            "Also bitte immer erst die Ventile schließen und dann spülen",
        ),
    ],
)
def test_a_denial_before_an_order_of_its_own_may_go(text: str, goes: int, line: str) -> None:
    assert told(text, text.split()[:goes]) == line
    assert is_core(line, text)


@pytest.mark.parametrize(
    ("text", "goes"),
    [
        ("don't also rebuild the docs when you release a patch", 1),
        ("you must not under any circumstances also push straight to the main branch", 6),
        ("never please squash the commits of somebody else before merging", 1),
        ("where the file is not generated, please sort the imports by hand", 6),
        ("it is not so bad to leave the warnings of the old module alone", 3),
    ],
)
def test_a_denial_before_anything_else_stays(text: str, goes: int) -> None:
    assert told(text, text.split()[:goes]) == ""
    assert not is_core(" ".join(text.split()[goes:]), text)


def test_what_takes_it_back_stays() -> None:
    text = "the readme says the key rotates every week, which is not true any more"
    assert told(text, text.split()[8:]) == ""


@pytest.mark.parametrize(
    ("line", "text", "may"),
    [
        ("We keep the cache in Redis", "We keep the cache in Redis, the old box melted.", True),
        ("We keep the cache in Redis", "We must no longer keep the cache in Redis, the old box melted.", False),
        ("We keep the cache in Redis", "We keep the cache in Redis, except on stage.", False),
        ("Deploy on fridays to production", "We never deploy on fridays to production.", False),
        ("We keep the cache in Memcached", "We keep the cache in Redis, the old box melted.", False),
        ("", "We keep the cache in Redis.", False),
    ],
)
def test_a_line_may_stand_for_a_text_only_where_it_says_no_less(line: str, text: str, may: bool) -> None:
    assert is_core(line, text) is may


def test_an_exception_stays() -> None:
    text = "tag every release of ours with the date, unless Ravi insisted"
    assert told(text, text.split()[8:]) == ""


def test_what_explains_an_exception_stays() -> None:
    text = "spell all the labels in lower case except on the front page, which the designer keeps"
    assert told(text, text.split()[12:]) == ""


def test_what_a_request_asks_for_stays() -> None:
    text = "could we do without tables, please, in the docs and in the mails you write for me?"
    assert told(text, text.split()[:5]) == ""


def test_what_stands_behind_unless_and_a_mark_stays() -> None:
    text = "die Testdaten werden nicht neu erzeugt, es sei denn, das Schema war falsch"
    assert told(text, text.split()[9:]) == ""


def test_a_single_word_that_is_doubted_between_others_stays() -> None:
    text = "write the changelog in plain sentences for the people who read it"
    assert told(text, ["plain"]) == ""


def test_too_little_is_no_core() -> None:
    text = "well well well, it is a long story that began in spring, use tabs here"
    assert told(text, text.split()[:-3]) == ""


@pytest.mark.parametrize(
    ("statement", "gone", "stays"),
    [
        ("name the branches after the ticket, otherwise I lose my mind on fridays", "lose my mind", "after the ticket"),
        (
            "bitte schreib die Commits auf Englisch, sonst versteht das Team in Pune kein Wort davon",
            "Pune",
            "auf Englisch",
        ),
    ],
)
def test_the_shipped_weights_leave_out_why(statement: str, gone: str, stays: str) -> None:
    found = reader().core(statement)
    assert stays in found and gone not in found


@pytest.mark.parametrize(
    "statement",
    [
        "the importer must never write to the raw folder",
        "deploys go out on tuesdays only, unless Pim has said otherwise",
        "die Tabelle heißt jetzt kunden_neu und nicht mehr kunden",
    ],
)
def test_the_shipped_weights_keep_what_tells(statement: str) -> None:
    assert reader().core(statement) == ""
