"""What runtimes put around an output."""

import json

import pytest

from memory.tiers.tier_choice import UnframedOutput, unframed


@pytest.mark.parametrize(
    ("text", "framed"),
    [
        ("plain output\n", UnframedOutput("plain output\n", None)),
        ("Exit code 1\nboom\n", UnframedOutput("boom\n", 1)),
        (
            "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nboom\n",
            UnframedOutput("boom\n", 2),
        ),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nfine", UnframedOutput("fine", 0)),
        (
            json.dumps({"output": "a long output " * 30, "metadata": {"exit_code": 3}}),
            UnframedOutput("a long output " * 30, 3),
        ),
        (
            json.dumps([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]),
            UnframedOutput("one\ntwo", None),
        ),
        ("1→x = 1\n<system-reminder>\nBe good.\n</system-reminder>\n", UnframedOutput("1→x = 1\n\n", None)),
        (
            "<system-reminder>\nOnly this.\n</system-reminder>",
            UnframedOutput("<system-reminder>\nOnly this.\n</system-reminder>", None),
        ),
        ("it says <system-reminder> and stops", UnframedOutput("it says <system-reminder> and stops", None)),
    ],
)
def test_the_frame_is_taken_off_and_its_exit_code_is_known(text: str, framed: UnframedOutput) -> None:
    assert unframed(text) == framed


def test_json_that_is_content_stays_json() -> None:
    text = json.dumps({"output": "short", "rows": list(range(50))})
    assert unframed(text).body == text
