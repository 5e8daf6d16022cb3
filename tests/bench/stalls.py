"""How long a server stands still for what it does itself, whatever the machine does meanwhile.

A thread of its own inside the server ticks: it sleeps for a moment and then has Python's lock given to it, and then has
the event loop call it back. What either takes too long is a stall of the lock or of the loop. On a busy machine most of
that is waiting for a processor, which a client's clock cannot tell from the server's own work. Here it is taken away,
by what Linux says of each thread (``schedstat``): first what the thread that was to tick has waited for a processor
itself; of the rest counts what the process computed meanwhile, or what is left of it without the time in which its
other threads wanted to run and could not, whichever is more.

    from tests.bench.stalls import watch; watch("stalls.json")     # at the beginning of a server's process
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

TICK = 0.01
WRITE_SECONDS = 0.5
LONG_MS = 20.0
"""Stalls from which on each is told."""
PLACE_MS = 50.0
"""Those from which on it is told, too, where the threads were when the lock was free again, or the loop late: one that
has held the lock in one call stands there still."""
PLACES = 40
DEPTH = 6
"""How many of them are kept, and how many lines of each thread."""
IDLE = frozenset({"threading.py", "selectors.py", "queue.py", "_worker", "_write_forever"})
"""Files and functions: who stands there waits."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """A moment: the time, what the process has computed by then, and for how long the thread that is watched and all
    others have waited to be run."""

    time: float
    computed: float
    waited: float
    others_waited: float

    @classmethod
    def now(cls, thread: int) -> Clocks:
        """This moment, of a thread by the system's number."""
        waited = _waited()
        own = waited.pop(thread, 0)
        return cls(time.monotonic(), time.process_time(), own / 1e9, sum(waited.values()) / 1e9)


def stall(before: Clocks, after: Clocks, usual: float = 0.0) -> float:
    """Of the time between two moments, beside what is ``usual``, the seconds that were the process's own doing."""
    late = after.time - before.time - usual - (after.waited - before.waited)
    own = max(after.computed - before.computed, late - (after.others_waited - before.others_waited))
    return max(min(late, own), 0.0)


def _waited() -> dict[int, int]:
    """Nanoseconds by thread."""
    found = {}
    for each in Path("/proc/self/task").iterdir():
        try:
            found[int(each.name)] = int((each / "schedstat").read_text().split()[1])
        except OSError:
            continue  # the thread has ended
    return found


@dataclass(slots=True)
class Stalls:
    """Milliseconds of the long ones, and of the longest."""

    ticks: int = 0
    longest: dict[str, float] = field(default_factory=lambda: {"lock": 0.0, "loop": 0.0})
    long: dict[str, list[float]] = field(default_factory=lambda: {"lock": [], "loop": []})
    places: list[tuple[float, str, list[str]]] = field(default_factory=list)

    def add(self, what: str, seconds: float, where: Sequence[str] = ()) -> None:
        """One more."""
        took = round(seconds * 1000, 1)
        if took >= PLACE_MS:
            self.places = sorted([*self.places, (took, what, [*where])], reverse=True)[:PLACES]
        self.longest[what] = max(self.longest[what], took)
        if took >= LONG_MS:
            self.long[what].append(took)

    def told(self) -> dict[str, Any]:
        """As it is written."""
        return {
            "ticks": self.ticks,
            "longest_ms": self.longest,
            "long_ms": {k: sorted(v) for k, v in self.long.items()},
            "places": self.places,
        }


def watch(to: str) -> None:
    """Watch this process from now on, and the loop that runs in it, and write what was seen to a file."""
    loops = list[tuple[asyncio.AbstractEventLoop, int]]()
    run_forever = asyncio.BaseEventLoop.run_forever

    def noted(loop: asyncio.BaseEventLoop) -> None:
        loops.append((loop, threading.get_native_id()))
        run_forever(loop)

    asyncio.BaseEventLoop.run_forever = noted  # type: ignore[assignment, method-assign]
    threading.Thread(target=_tick, args=(Path(to), loops), daemon=True).start()


def _tick(to: Path, loops: Sequence[tuple[asyncio.AbstractEventLoop, int]]) -> None:
    seen, written, own = Stalls(), time.monotonic(), threading.get_native_id()
    while True:
        before = Clocks.now(own)
        time.sleep(TICK)
        where = _places() if time.monotonic() - before.time > TICK + PLACE_MS / 1000 else []
        seen.add("lock", stall(before, Clocks.now(own), TICK), where)
        for loop, thread in loops[-1:]:
            called, after = threading.Event(), list[Clocks]()

            def back(called: threading.Event = called, after: list[Clocks] = after, thread: int = thread) -> None:
                after.append(Clocks.now(thread))
                called.set()

            before, where = Clocks.now(thread), []
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(back)
                while not called.wait(PLACE_MS / 1000):
                    where = where or _places()
                seen.add("loop", stall(before, after[0]), where)
                seen.ticks += 1
        if time.monotonic() - written > WRITE_SECONDS:
            beside = to.with_suffix(".new")
            beside.write_text(json.dumps(seen.told()))
            os.replace(beside, to)
            written = time.monotonic()


def _places() -> list[str]:
    """Where the other threads are that do something: the innermost lines of each."""
    own = threading.get_ident()
    found = (_place(frame) for thread, frame in sys._current_frames().items() if thread != own)
    return sorted(filter(None, found))


def _place(frame: FrameType | None) -> str:
    lines: list[str] = []
    while frame is not None and len(lines) < DEPTH:
        file = Path(frame.f_code.co_filename)
        if not lines and (file.name in IDLE or frame.f_code.co_name in IDLE):
            return ""
        lines.append(f"{file.parent.name}/{file.name}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return " < ".join(lines)


def read(path: Path) -> dict[str, Any]:
    """What a watched process has written; nothing where it has not come to that."""
    told: dict[str, Any] = json.loads(path.read_text()) if path.exists() else Stalls().told()
    return told


def since(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What has come between two readings: as a server starts it has much to do at once."""
    long = {
        what: sorted((Counter(took) - Counter(before["long_ms"][what])).elements())
        for what, took in after["long_ms"].items()
    }
    ticks = after["ticks"] - before["ticks"]
    known = [*map(str, before.get("places", ()))]
    return {
        "ticks": ticks,
        "longest_ms": {what: max(took, default=0.0) for what, took in long.items()},
        "long_ms": long,
        "places": [each for each in after.get("places", ()) if str(each) not in known],
    }
