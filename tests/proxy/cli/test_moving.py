"""``palimpsest move`` where it does not end: it says that what has come is a copy, which nothing is forgotten from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.stores.errors import StoreFault
from memory.stores.postgresql import moving
from proxy.cli.faults import STOPPED
from tests.proxy.cli.running import run

URL = "postgresql://ada@db/palimpsest"
Progress = Callable[[int, int], None]


@pytest.mark.parametrize(
    ("error", "code", "begins"),
    [(StoreFault("the line is cut"), 1, "the move failed: the line is cut"), (KeyboardInterrupt(), STOPPED, "stopped")],
)
def test_a_move_that_does_not_end_says_what_it_leaves(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, begins: str
) -> None:
    def move_out(url: str, file: Path, told: object, progress: Progress) -> None:
        moving.part_of(file).touch()
        raise error

    def move_in(file: Path, url: str, told: object, progress: Progress) -> None:
        progress(1000, 2000)
        raise error

    monkeypatch.setattr(moving, "move_out", move_out)
    monkeypatch.setattr(moving, "move_in", move_in)
    left = f"; what is forgotten now is not taken out of {home / 'journal.db.part'}: "
    done = run("move", "--from", URL)
    assert done.code == code and done.err.startswith(f"palimpsest: {begins}") and left in done.err
    (home / "journal.db").touch()
    done = run("move", "--to", URL)
    assert done.code == code and done.err.startswith(f"palimpsest: {begins}")
    assert "; what is forgotten now is not taken out of the database: " in done.err


def test_a_move_that_never_began_leaves_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise StoreFault("it is in use")

    monkeypatch.setattr(moving, "move_out", refuses)
    done = run("move", "--from", URL)
    assert done.code == 1 and "not taken out" not in done.err
