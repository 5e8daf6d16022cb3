"""Lines that say whose words they are."""

from __future__ import annotations

import pytest

from memory.language.entities import speaker_in


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Caroline: I went there yesterday.", "Caroline"),
        ("**Ann Lee**: yes", "Ann Lee"),
        ("> Tomás: claro", "Tomás"),
        ("Note: the build is slow.", ""),
        ("Error: no such file", ""),
        ("Remember: the test server is down.", ""),
        ("Understood: it uses Kotlin.", ""),
        ("Decision: we keep it.", ""),
        ("Assistant: done", ""),
        ("I said: no", ""),
        ("Caroline went there.", ""),
        ("https://example.org", ""),
        ("", ""),
    ],
)
def test_a_name_at_the_head_of_a_line_is_its_speaker(line: str, name: str) -> None:
    assert speaker_in(line) == name
