"""Logs, test runs and builds."""

from memory.tiers.logs import first_error, log, outcome
from memory.tiers.shape import Hint


def run_of_tests() -> str:
    passed = [f"tests/unit/test_{number}.py::test_it_{number} PASSED [{number}%]" for number in range(90)]
    failure = [
        "tests/unit/test_cart.py::test_total_with_discount FAILED [91%]",
        "Traceback (most recent call last):",
        '  File "/app/shop/cart.py", line 41, in total',
        "    return sum(self.prices) - self.discount",
        "TypeError: unsupported operand type(s) for -: 'int' and 'NoneType'",
    ]
    return "\n".join([*passed[:50], *failure, *passed[50:], "=== 1 failed, 90 passed, 3 warnings in 4.10s ==="])


def made(text: str, hint: Hint = Hint(command="pytest"), share: int = 5) -> str:  # noqa: B008
    overview = log(text, hint, len(text) // share)
    assert overview is not None
    assert len(overview) <= len(text) // share
    return overview


def test_the_error_the_last_frame_and_the_sum_are_kept() -> None:
    overview = made(run_of_tests())
    assert "TypeError: unsupported operand type(s) for -: 'int' and 'NoneType'" in overview
    assert 'File "/app/shop/cart.py", line 41, in total' in overview
    assert "test_total_with_discount FAILED" in overview
    assert "1 failed, 90 passed, 3 warnings" in overview


def test_lines_that_differ_in_numbers_only_are_one_with_a_count() -> None:
    rows = [f"12:00:{number % 60:02} INFO poll {number} ok" for number in range(300)]
    rows += ["12:06:00 ERROR poll of db-7 gave up", *[f"12:07:{number % 60:02} INFO poll ok" for number in range(40)]]
    overview = made("\n".join(rows), Hint())
    assert "INFO poll 0 ok  (×300)" in overview
    assert "ERROR poll of db-7 gave up" in overview
    assert overview.count("poll") < 10


def test_an_error_that_repeats_is_listed_once() -> None:
    rows = []
    for number in range(200):
        rows += [f"12:00:00 INFO request {number} for /items/{number}", f"12:00:00 ERROR pool {number} is exhausted"]
    overview = made("\n".join(rows), Hint(path="server.log"), share=20)
    assert overview.count("is exhausted") < 20


def test_a_compiler_names_file_line_and_column() -> None:
    rows = [f"   Compiling crate-{number} v0.{number}.0" for number in range(80)]
    rows.insert(60, "src/main.rs:17:9: error: cannot borrow `ledger` as mutable")
    assert "src/main.rs:17:9: error: cannot borrow `ledger` as mutable" in made(
        "\n".join(rows), Hint(command="cargo build")
    )


def test_no_failures_are_no_failure() -> None:
    assert first_error(["0 errors, 0 failed", "no errors found", "all fine"]) == ""
    assert first_error(["fine", "  E   assert 3 == 4"]) == "E   assert 3 == 4"
    assert outcome(["x", "Ran 12 tests in 0.1s", "", "bye"]) == "Ran 12 tests in 0.1s"


def test_prose_and_code_are_no_log() -> None:
    assert log("It was a dark night. The error was mine.\n" * 40, Hint(), 400) is None
    assert log("def error():\n    raise ValueError('failed')\n" * 40, Hint(path="a.py"), 400) is None
