"""A pause holds at once, outlives the process, and is believed for a moment without asking the file system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memory.services.pause import LOOK_SECONDS, Pause


def test_it_holds_at_once_and_in_the_next_process(tmp_path: Path) -> None:
    pause = Pause(tmp_path / "paused")
    assert not pause.on
    pause.begin()
    assert pause.on and Pause(tmp_path / "paused").on
    pause.end()
    assert not pause.on and not Pause(tmp_path / "paused").on
    pause.end()


def test_what_another_process_did_is_seen_soon_and_not_asked_for_each_time(tmp_path: Path) -> None:
    now = 0.0
    pause = Pause(tmp_path / "paused", clock=lambda: now)
    assert not pause.on
    Pause(tmp_path / "paused").begin()
    now = LOOK_SECONDS * 0.9
    assert not pause.on
    now = LOOK_SECONDS
    assert pause.on


class Slow(type(Path())):  # type: ignore[misc]
    """A file; something happens between the moment it is looked for and the moment that is told."""

    meanwhile: Callable[[], None] | None = None

    def exists(self) -> bool:
        told = super().exists()
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return bool(told)


@pytest.mark.parametrize("begins", [True, False])
def test_a_look_that_is_under_way_does_not_undo_what_a_person_did_meanwhile(tmp_path: Path, begins: bool) -> None:
    file = Slow(tmp_path / "paused")
    pause = Pause(file, clock=lambda: 0.0)
    if not begins:
        Pause(tmp_path / "paused").begin()
    file.meanwhile = pause.begin if begins else pause.end
    assert pause.on is begins
    assert pause.on is begins
