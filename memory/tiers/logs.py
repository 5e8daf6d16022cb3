"""The overview of a log, a test run or a build: how it ended, what failed and where, how much there was of the rest.

The lines of an error stay with their neighbours: the last frames of a traceback stand before it, the place in the file
and the expected value behind it. Lines that differ in their numbers only are one line with a count.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from memory.tiers.lines import LEAST, clean, ends, led_by, pieces, with_any
from memory.tiers.shape import Hint

# What an error or a warning is told with. Searched for as plain text in the whole log, which is many times faster than
# one pattern on each line; the pattern then judges the few lines that have one.
_ERROR_WORDS: Final = (
    "error", "fail", "exception", "panic", "fatal", "traceback", "assert", "segfault", "segmentation fault",
    "undefined reference", "unhandled", "abort", "critical", "\ne  ", "✗", "✖", "❌", "✘", "not ok",
)  # fmt: skip
_WARNING_WORDS: Final = (
    "warn", "deprecat", "not found", "no such", "denied", "refused", "timed out", "timeout", "cannot", "could not",
    "expected", "missing", "invalid",
)  # fmt: skip
_ERROR = re.compile(
    r"(?<![\w-])(?:errors?|fail(?:ed|ures?|ing|s)?|exception|panic(?:ked)?|fatal|traceback|assert(?:ion)?|segfault|"
    r"segmentation fault|undefined reference|unhandled|abort(?:ed)?|critical)(?![\w-])(?! ?[=:]? ?0\b)|"
    r"[a-z](?:error|exception|failure)\b|^e  |[✗✖❌✘]|\bnot ok\b"
)
_NONE_FAILED = re.compile(r"\b(?:0|no) (?:errors?|fail(?:ed|ures?|ing)?)\b")
_SUMMARY = re.compile(
    r"\b\d+ (?:tests? )?(?:passed|failed|skipped|passing|failing|pending|errors?|warnings?|problems?|todo)\b|"
    r"^(?:\W{0,4})(?:Tests?|Test Suites|Test Files|Snapshots|Ran \d+|test result|Result|Summary|BUILD|Finished|"
    r"Done in|Compiled|Exit code|make\S{0,20} \*\*\*|ok\s+\S|FAIL\s+\S|--- FAIL|npm ERR!)\b",
)
_LOG_ROW = re.compile(
    r"^\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|\w{3} +\d{1,2} \d\d:\d\d:\d\d|"
    r"(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|TRACE|CRITICAL)\b|\[?(?:debug|info|warn|error)\]|level=|"
    r"--- (?:FAIL|PASS|SKIP)|=== (?:RUN|PAUSE|CONT|NAME)|ok\s+\S+\s+[\d.(]|FAIL\b|PASS\b|not ok \d|ok \d|"
    r"(?=\S+?::\S)\S++ (?:PASSED|FAILED|SKIPPED)|test \S+ \.\.\. |[✓✔✗✖√×●]|\((?:pass|fail|skip|todo)\) |"
    r"npm (?:ERR|warn|notice)|\s{1,8}(?:Compiling|Downloading|Downloaded|Checking|Finished|Running)\b|"
    r"Collecting \S|#\d+ [\d.]+ |"
    r"Traceback \(most|\s{2,12}at \S+ ?\(|\s{2}File \"|E   |[\w./\\-]{1,120}:\d+:\d+: (?:error|warning|note)|"
    r"remote: |Step \d+|Get:\d|\[\d+/\d+\])",
)
_RUNS = re.compile(
    r"\b(?:pytest|jest|vitest|mocha|tox|nox|go (?:test|build|vet|run|install)|golangci-lint|cargo (?:test|build|check|"
    r"clippy|run)|make|cmake|ninja|mvn|gradlew?|npm (?:test|run|ci|i|install)|pnpm|yarn|bun (?:test|run|install)|tsc|"
    r"eslint|ruff|mypy|pip3? install|docker (?:build|compose|logs)|kubectl logs|journalctl|dotnet (?:test|build)|"
    r"mise run|xcodebuild|swift (?:test|build)|ctest|rspec|phpunit|unittest|terraform|apt(?:-get)? install)\b"
)
_LOG_FILE = re.compile(r"\.(?:log|out|err|trace)(?:\.\d+)?$")
_DIGITS = str.maketrans("", "", "0123456789")

_SHARE: Final = 0.4
"""Of the room for errors, sums and ends before what tells most of the rest gets its own."""
_SAMPLE: Final = 60
_MOST_ERRORS: Final = 60
"""Different errors that are listed before anything else gets room."""
_MOST_WARNINGS: Final = 20
_MOST_SUMMARIES: Final = 12
_NEAR_END: Final = 300
"""Lines from the end in which sums are looked for."""
# What stands around an error, the nearest first: the line behind it, the frame before it.
_AROUND = (1, -1, -2, 2, -3, 3)


def log(text: str, hint: Hint, limit: int) -> str | None:
    """Errors with what stands around them, sums, head and tail; None where the text is no log."""
    if limit < LEAST:
        return None
    rows = pieces(ends(clean(text)))
    if not is_log(rows, hint):
        return None
    lowered = [row.lower() for row in rows]
    errors = _error_line_numbers(lowered)
    warnings = sorted(with_any(lowered, _WARNING_WORDS).difference(errors))
    summary = _tally(len(rows), len(errors), len(warnings))
    kinds = _kinds_of_rows(rows)
    folded = _folded_rows(rows, kinds)
    urgent = _most_urgent_rows(
        rows, _first_of_each_kind(errors, kinds)[:_MOST_ERRORS], _first_of_each_kind(warnings, kinds)[:_MOST_WARNINGS]
    )
    body = led_by((each for each in urgent if folded[each]), folded, hint, limit - len(summary) - 1, _SHARE)
    return f"{summary}\n{body}" if body else None


def is_log(rows: Sequence[str], hint: Hint) -> bool:
    """Whether these lines are what a program told while it ran."""
    if _LOG_FILE.search(hint.path):
        return True
    filled_rows = [row for row in rows if row.strip()]
    step = max(1, len(filled_rows) // _SAMPLE)
    sample = filled_rows[::step]
    share = sum(1 for row in sample if _LOG_ROW.match(row)) / max(1, len(sample))
    return share >= (0.08 if _RUNS.search(hint.command) else 0.3)


def first_error(rows: Sequence[str]) -> str:
    """The first line that tells of an error, or nothing."""
    return next((rows[number].strip() for number in _error_line_numbers([row.lower() for row in rows])), "")


def outcome(rows: Sequence[str]) -> str:
    """The last line that sums up, or nothing."""
    return next((row.strip() for row in reversed(rows[-_NEAR_END:]) if _SUMMARY.search(row)), "")


def _error_line_numbers(lowered: Sequence[str]) -> list[int]:
    """The numbers of the lines, given in lower case, that tell of an error."""
    found = sorted(with_any(lowered, _ERROR_WORDS))
    return [each for each in found if _ERROR.search(lowered[each]) and not _NONE_FAILED.search(lowered[each])]


def _kinds_of_rows(rows: Sequence[str]) -> list[str]:
    """Each row without its digits: what is alike but for times and counts is the same."""
    return "\n".join(rows).translate(_DIGITS).split("\n")


def _tally(rows: int, errors: int, warnings: int) -> str:
    parts = [f"{rows} lines"]
    if errors:
        parts.append(f"{errors} with errors")
    if warnings:
        parts.append(f"{warnings} with warnings")
    return "[" + ", ".join(parts) + "]"


def _folded_rows(rows: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """The rows; of a run of alike ones the first with their count, and nothing in the place of the others."""
    folded = list(rows)
    start = 0
    for number in range(1, len(rows) + 1):
        if number < len(rows) and kinds[number] == kinds[start]:
            continue
        count = number - start
        if count > 2 and kinds[start].strip():
            folded[start:number] = [f"{rows[start]}  (×{count})", *[""] * (count - 1)]
        start = number
    return folded


def _most_urgent_rows(rows: Sequence[str], errors: Sequence[int], warnings: Sequence[int]) -> Iterable[int]:
    """What is kept before anything else: the end, the sums, each different error, what is around it, the head."""
    total = len(rows)
    near_end = range(total - 1, max(-1, total - _NEAR_END), -1)
    end = [number for number in near_end if rows[number].strip()][:3]
    sums = [number for number in near_end if _SUMMARY.search(rows[number])][:_MOST_SUMMARIES]
    around = [number + step for step in _AROUND for number in errors if 0 <= number + step < total]
    head = [number for number in range(min(total, 12)) if rows[number].strip()][:3]
    return chain(end, sums, errors, around, head, warnings)


def _first_of_each_kind(numbers: Iterable[int], kinds: Sequence[str]) -> list[int]:
    found: dict[str, int] = {}
    for number in numbers:
        found.setdefault(kinds[number].strip(), number)
    return list(found.values())
