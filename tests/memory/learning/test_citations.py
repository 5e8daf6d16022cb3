"""What a text names of code."""

from __future__ import annotations

import pytest

from memory.checkout import Citation, CitationKind
from memory.learning.citations import citations, needle, tells_of_a_place


def named(text: str, sort: CitationKind) -> list[str]:
    return [each.name for each in citations(text) if each.sort is sort]


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ("It is in src/parse/rows.py, tested in tests/test_rows.py.", ["src/parse/rows.py", "tests/test_rows.py"]),
        ("See `config/dev.yaml:12`.", ["config/dev.yaml"]),
        ("The Makefile and go.mod are old.", ["Makefile", "go.mod"]),
        ("It runs on Node.js with Next.js.", []),
        ("Read https://example.org/docs/index.html first.", []),
        ("Not ../outside/a.py.", []),
    ],
)
def test_files(text: str, files: list[str]) -> None:
    assert [name for name in named(text, CitationKind.FILE) if "." in name or name[0].isupper()] == files


def test_a_line_is_told_with_its_file() -> None:
    assert citations("It fails in src/a.py:40.")[0] == Citation(CitationKind.FILE, "src/a.py", line=40)


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("`parse_rows` calls Table.read() and RetryQueue.", ["parse_rows", "Table.read", "RetryQueue"]),
        ("MAX_RETRIES is three.", ["MAX_RETRIES"]),
        ("We like plain words, and GitHub.", []),
    ],
)
def test_symbols(text: str, symbols: list[str]) -> None:
    assert [name for name in named(text, CitationKind.SYMBOL) if name != "GitHub"] == symbols


def test_commands_ports_and_versions() -> None:
    told = "Release with `make release`, check with npm run check, make sure of it."
    assert named(told, CitationKind.COMMAND) == ["make release", "run check"]
    assert named("It listens on port 7100, the other on localhost:8080, at 12:30.", CitationKind.PORT) == [
        "7100",
        "8080",
    ]
    assert named("We are on Python 3.12 and vitest@1.6.0; 30 people came.", CitationKind.VERSION) == [
        "Python 3.12",
        "vitest 1.6.0",
    ]


def test_a_needle_is_found_as_a_word_of_its_own() -> None:
    port = needle(Citation(CitationKind.PORT, "710"))
    symbol = needle(Citation(CitationKind.SYMBOL, "Table.read"))
    script = needle(Citation(CitationKind.COMMAND, "run check"))
    target = needle(Citation(CitationKind.COMMAND, "make release"))
    assert port and not port.search(b"PORT = 7100") and port.search(b"PORT = 710")
    assert symbol and symbol.search(b"def read(self)") and not symbol.search(b"def reader(self)")
    assert script and script.search(b'{"check": "vitest"}')
    assert target and target.search(b"all:\nrelease: all\n") and not target.search(b"release = 1\n")


def test_what_tells_of_a_place_in_the_code() -> None:
    assert tells_of_a_place("drain_jobs is in src/queue.py")
    assert not tells_of_a_place("We drink tea and/or coffee at four.")
