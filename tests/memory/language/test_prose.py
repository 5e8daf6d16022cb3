import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.language.sentences import is_machine_output, own_words, prose, without_tags


def test_code_quotes_and_tables_are_not_the_speakers_words() -> None:
    text = "Look at this:\n```\nalways fail\n```\n> never do that\n| a | b |\nWhat do you think?"
    assert prose(text) == "Look at this:\n\nWhat do you think?"


@pytest.mark.parametrize(
    "line",
    [
        "2026-02-15T15:05:29 session started",
        "[ERROR] cannot open file",
        "    at Object.<anonymous> (index.js:10:3)",
        'File "app.py", line 3, in main',
        "--- FAIL: TestParse (0.01s)",
        "+++ b/app.py",
        "@@ -1,3 +1,4 @@",
        "❯ git push",
        "main.go:12:4: undefined: foo",
        '{"level": "info"}',
        "def main():",
        "const x = 1;",
        "x := compute(3)",
        "ValueError: broken",
        "<div class='a'>",
    ],
)
def test_what_a_program_printed_is_known_by_its_form(line: str) -> None:
    assert is_machine_output(line)


@pytest.mark.parametrize(
    "line",
    [
        "Always use pnpm, never npm.",
        "I want it to return an empty list (not null).",
        "error messages should be short",
        "If it fails, tell me: I'd like to know.",
        "import the data before you start",
        "- keep the old name",
        "10 people came",
    ],
)
def test_what_a_person_typed_is_kept(line: str) -> None:
    assert not is_machine_output(line)


def test_what_follows_a_lead_is_somebody_elses() -> None:
    text = "I got this feedback:\n\nThe parser should never guess.\n\nEvery call must be checked."
    assert "never guess" not in prose(text)
    assert "I got this feedback" in prose(text)


def test_the_speaker_is_heard_again_after_a_paste() -> None:
    text = "I got this feedback:\n\nThe parser must never guess.\n\nI think we should ignore it."
    assert "ignore it" in prose(text)


def test_a_ticket_of_a_review_tool_is_nobodys_word() -> None:
    assert own_words("Wrong flag\n\nMedium Severity\n\nThe flag must always be set by the caller.") == ()


def test_a_long_text_full_of_code_names_in_which_nobody_speaks_was_pasted() -> None:
    text = "The parse_header function must never return null because load_config and ReadTree rely on it. " * 4
    assert own_words(text) == ()
    assert own_words("I think the parse_header function must never return null for us. " * 4)


def test_blocks_of_ours_and_of_runtimes_are_taken_out() -> None:
    assert without_tags("a <palimpsest-memory id='1'>always lie</palimpsest-memory> b") == "a  b"
    assert without_tags("<system-reminder>\nnever mind\n</system-reminder>\nhello").strip() == "hello"


def test_a_tag_without_its_end_takes_nothing_with_it() -> None:
    assert "hello" in without_tags("<some-tag>\nhello")


@given(st.text(max_size=500))
def test_prose_invents_no_words(text: str) -> None:
    for word in prose(text).split():
        assert word in text
