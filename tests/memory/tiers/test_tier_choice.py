"""The tiers of any text: the laws, and the way from one kind to the next."""

import json

from hypothesis import given
from hypothesis import strategies as st

from memory.tiers.shape import MAX_LINE_CHARS, MAX_OVERVIEW_CHARS, Hint, budget_of, hint_of
from memory.tiers.tier_choice import tiers

LOG = "".join(f"12:00:{n % 60:02} INFO handler_{n} served /items/{n}\n" for n in range(200))
HINTS = st.sampled_from(
    [
        Hint(),
        hint_of("Read", '{"file_path": "a/b.py"}'),
        hint_of("Read", '{"file_path": "notes.md", "offset": 3}'),
        hint_of("Read", '{"file_path": "data.json"}'),
        hint_of("Bash", '{"command": "pytest -q | tail -50"}', failed=True),
        hint_of("Grep", '{"pattern": "x"}'),
        hint_of("LS", '{"path": "."}'),
        hint_of("Bash", '{"command": "git diff"}'),
    ]
)
STARTS = [
    "",
    "{",
    "[",
    "<html>",
    "# ",
    "def f(): ",
    "diff --git a/x b/x\n",
    "a.py:1:",
    "ERROR ",
    "12:00:00 ",
    "| a | b |\n",
]
PIECES = st.lists(st.tuples(st.sampled_from(STARTS), st.text(alphabet=st.characters(), max_size=40)), max_size=12)


@given(PIECES, st.integers(min_value=1, max_value=8), st.sampled_from(["\n", "\r\n", "\r", " "]), HINTS)
def test_an_overview_is_a_fifth_at_most_and_always_the_same(
    pieces: list[tuple[str, str]], times: int, end: str, hint: Hint
) -> None:
    text = end.join(start + rest for start, rest in pieces * times)
    made = tiers(text, hint)
    assert len(made.overview) * 5 <= len(text)
    assert len(made.overview) <= MAX_OVERVIEW_CHARS
    assert 0 < len(made.line) <= MAX_LINE_CHARS
    assert "\n" not in made.line
    made.overview.encode()
    assert made == tiers(text, hint)


def test_a_short_text_has_a_line_only() -> None:
    assert tiers("fine\n" * 20, Hint()).overview == ""
    assert tiers("", Hint()).overview == ""


def test_room_that_an_overview_leaves_is_filled() -> None:
    for text in (LOG, json.dumps([{"id": n, "path": f"src/part_{n}.py"} for n in range(200)])):
        assert len(tiers(text, Hint()).overview) > 0.6 * budget_of(text)


def test_a_failed_command_says_so_first() -> None:
    made = tiers("Exit code 2\n" + LOG, hint_of("Bash", '{"command": "make"}'))
    assert made.overview.startswith("Exit code 2\n")


def test_program_text_keeps_its_signatures_as_they_stand() -> None:
    body = "        total = total + self.rate * step\n" * 20
    text = "".join(f"class Part{n}:\n    def price_{n}(self, step: int) -> int:\n{body}" for n in range(6))
    made = tiers(text, hint_of("Read", '{"file_path": "shop/parts.py"}')).overview
    assert all(f"def price_{n}(self, step: int) -> int:" in made for n in range(6))


def test_reminders_of_the_runtime_take_no_room() -> None:
    text = LOG + "<system-reminder>\nConsider unconditionally whether frobnication applies.\n</system-reminder>\n"
    assert "frobnication" not in tiers(text, Hint()).overview
