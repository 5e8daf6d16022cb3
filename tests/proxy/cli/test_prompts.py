"""What is asked at a terminal."""

from __future__ import annotations

import os
import pty
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from proxy.cli import prompts

LOCAL_FLAGS: Final = 3


@pytest.mark.parametrize(
    ("pressed", "told"),
    [("y", "y"), ("\x1b", "\x1b"), ("\x03", "q"), ("\x04", "q")],
    ids=["y", "esc", "ctrl-c", "ctrl-d"],
)
def test_a_key_is_told_as_it_is_and_who_wants_to_leave_has_had_enough(
    pressed: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    outer, inner = pty.openpty()
    with open(inner, encoding="utf-8") as terminal, ThreadPoolExecutor(1) as thread:
        monkeypatch.setattr(sys, "stdin", terminal)
        asked = thread.submit(prompts.key)
        # What comes before the terminal gives single keys is lost.
        while not asked.done() and termios.tcgetattr(outer)[LOCAL_FLAGS] & termios.ICANON:
            os.sched_yield()
        os.write(outer, pressed.encode())
        assert asked.exception(timeout=30) is None
        assert asked.result() == told
    os.close(outer)
