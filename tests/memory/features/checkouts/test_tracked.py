"""What a project has approved, as a file of its repository: written, read again, and merged with what others wrote."""

from __future__ import annotations

from memory.fact import FactKind
from memory.features.checkouts.tracked import HEAD, Rule, blamed, parsed, written

ONE, TWO, THREE = (f"00000000-0000-4000-8000-00000000000{number}" for number in (1, 2, 3))
DEPLOY = Rule(ONE, "We deploy with make ship.", FactKind.CONVENTION)
PORT = Rule(TWO, "The gateway listens on port 7443.", FactKind.FACT)
REDIS = Rule(THREE, "We decided for Redis.", FactKind.DECISION)


def lines(text: str) -> list[str]:
    return [line for line in text.removeprefix(HEAD).splitlines() if line]


def test_rules_stand_in_sections_with_their_ids_and_are_read_again() -> None:
    told = written([PORT, DEPLOY, REDIS], frozenset(), "")
    assert lines(told.text) == [
        *("## Decisions", f"- We decided for Redis. <!-- {THREE} -->"),
        *("## Conventions", f"- We deploy with make ship. <!-- {ONE} -->"),
        *("## Facts", f"- The gateway listens on port 7443. <!-- {TWO} -->"),
    ]
    assert {each.id: each.said for each in parsed(told.text)} == {each.id: each.said for each in (DEPLOY, PORT, REDIS)}
    assert written([REDIS, DEPLOY, PORT], frozenset(), told.text) == told, "writing it again changes nothing"


def test_writing_leaves_what_others_wrote_and_takes_out_what_holds_no_longer() -> None:
    before = written([DEPLOY, PORT], frozenset(), "").text
    others = before + "- A line of somebody's.\n- Another. <!-- 00000000-0000-4000-8000-0000000000ff -->\n"
    told = written([PORT], frozenset((ONE,)), others)
    assert "make ship" not in told.text and "A line of somebody's." in told.text and "Another." in told.text
    assert (told.left, told.differing) == (2, 0)


def test_words_that_somebody_changed_stay_and_our_own_former_words_do_not() -> None:
    file = written([DEPLOY], frozenset(), "").text
    changed = file.replace("make ship", "make haste")
    told = written([DEPLOY], frozenset(), changed)
    assert told.text == changed and told.differing == 1
    later = Rule(ONE, "We deploy with make launch.", FactKind.CONVENTION, frozenset((DEPLOY.said,)))
    assert "make launch" in written([later], frozenset(), file).text


def test_a_line_that_cannot_be_seen_whole_is_read_as_it_is_seen() -> None:
    text = f"- Go on \u202emondays\u202c.\u200b <!-- {ONE} -->\n* Short\n-no bullet\n- {'x' * 1001}\n- twice\n- twice\n"
    assert [(each.said, each.number) for each in parsed(text)] == [
        ("Go on mondays .", 1),
        ("Short", 2),
        ("twice", 5),
    ]
    assert len({each.id for each in parsed(text)}) == 3
    assert len(parsed("".join(f"- line {number}\n" for number in range(2000)))) == 500


def test_what_git_says_of_lines_is_read() -> None:
    one, other = "a" * 40, "b" * 40
    told = f"{one} 3 1 2\nauthor Ada\n\t- one\n{other} 4 2\nsummary {one} 1 1\nfilename x\n\t{one} 9 9\n"
    assert blamed(told) == {"- one": one, f"{one} 9 9": other}
