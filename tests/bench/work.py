"""What a request costs, counted: statements, commits, JSON loads, hashes, thread hops and function calls.

    python -m tests.bench.work [--only NAME] [--facts 1000] [--detailed]
    python -m tests.bench.work --cpu 300 --facts 10000 [--only NAME]

The real proxy with real stores runs in this process, its clock, ids and keys stand still, and between two requests all
that memory puts off is done in one order. Counts say the same on a busy machine as on an idle one. The client and the
provider live in a thread of their own, of which nothing is counted.

With ``--cpu`` the proxy is a process of its own, lives by its own pace, and is told by the processor time that all its
threads take for a request, what it learns behind it included. That is to be read on a quiet machine only.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import sqlite3
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import BuiltinFunctionType, FrameType
from typing import Any

from memory.parts import Memory
from memory.scope import Scope
from memory.services.lessons import rules
from memory.stores import database
from tests import rooms
from tests.bench import targets
from tests.bench.client import Timed
from tests.bench.outside import Outside, outside
from tests.bench.processes import Process
from tests.bench.scenarios import SCENARIOS, Asked, Scenario, human_message
from tests.bench.seed import NOW, PROJECT, facts, seed_home
from tests.corpus.fixed import Clock, fixed
from tests.running import Running, running

WARM = 8
"""Requests before processor time is measured."""

BEGINNING = 4
"""Messages that are played before anything is counted: patterns are compiled with the first text that needs
them, once in the life of a process."""

COUNTS = ("statements", "commits", "json", "hashes", "hops", "calls")
"""What is counted: statements that SQLite runs (each row of a list is one), transactions, JSON texts read, digests
taken, answers of a thread to the loop, and calls of functions, C's included, but for those of the loop and of threads,
of which there are more where somebody has to wait, and those of the counting itself."""

KEPT_STILL = {"memory.night.enabled": False, "memory.research.deadline_ms": 60_000, "memory.page.device": "bench"}

_PASSED_OVER = re.compile(r"/(asyncio|concurrent/futures)/|/(selectors|threading|queue|weakref|bench/work)\.py$")
_ENVELOPES = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK", "PRAGMA", "--")
_LOADS = {"loads": ("orjson",), "decode": ("msgspec",), "scan_once": ("json",), "raw_decode": ("json",)}
_DIGESTS = ("digest", "hexdigest", "hmac_digest")


class Counting:
    """Counts what threads do that are begun while it is :meth:`installed`, and the one that installs it."""

    def __init__(self, detailed: bool = False) -> None:
        self._on = False
        self._connections: list[sqlite3.Connection] = []
        self._detailed = detailed
        self._by_thread: dict[int, Counter[str]] = {}
        self._statements: Counter[str] = Counter()
        self._running: dict[int, str] = {}
        self.by_function: Counter[str] = Counter()
        self.by_statement: Counter[str] = Counter()

    @property
    def on(self) -> bool:
        """Whether it counts."""
        return self._on

    @on.setter
    def on(self, on: bool) -> None:
        self._on = on
        # SQLite writes a statement out with its values for whoever listens, once more for each trigger of each row.
        for connection in [*self._connections]:
            try:
                connection.set_trace_callback(self._run if on else None)
            except sqlite3.ProgrammingError as error:
                if "closed" not in str(error):
                    raise
                self._connections.remove(connection)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Within this it may be switched :attr:`on`."""
        connect = sqlite3.connect

        def watched(*given: Any, **named: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*given, **named)
            self._connections.append(connection)
            if self._on:
                connection.set_trace_callback(self._run)
            return connection

        sqlite3.connect = watched  # type: ignore[assignment]
        threading.setprofile(self._called)
        sys.setprofile(self._called)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            sqlite3.connect = connect
            self._connections.clear()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within this the thread that installed it is not slowed down by it."""
        sys.setprofile(None)
        try:
            yield
        finally:
            sys.setprofile(self._called)

    def taken(self) -> Counter[str]:
        """What was counted since this was asked last."""
        on, self._on = self._on, False
        total = sum(self._by_thread.values(), Counter[str]()) + self._statements
        for each in self._by_thread.values():
            each.clear()
        self._statements.clear()
        self._on = on
        return total

    def _run(self, statement: str) -> None:
        thread = threading.get_ident()
        # What a trigger does is told as the statement that set it off, once more.
        if not self._on or self._running.get(thread) == statement:
            return
        self._running[thread] = statement
        if statement.startswith(_ENVELOPES):
            self._statements["commits"] += statement.startswith("COMMIT")
        else:
            self._statements["statements"] += 1
            if self._detailed:
                self.by_statement[_shape(statement)] += 1

    def _called(self, frame: FrameType, event: str, arg: Any) -> None:
        if not self._on or event not in ("call", "c_call"):
            return
        mine = self._by_thread.setdefault(threading.get_ident(), Counter())
        mine["calls"] += not _PASSED_OVER.search(frame.f_code.co_filename)
        if event == "call":
            mine["hops"] += frame.f_code.co_name == "call_soon_threadsafe"
            if self._detailed:
                self.by_function[f"{frame.f_code.co_filename[-40:]}:{frame.f_code.co_qualname}"] += 1
            return
        name = arg.__name__
        if name.startswith("execute"):
            self._running.pop(threading.get_ident(), None)
        if name in _LOADS and _module_of(arg).startswith(_LOADS[name]):
            mine["json"] += 1
        elif name in _DIGESTS:
            mine["hashes"] += 1
        if self._detailed:
            self.by_function[f"C {_module_of(arg)}.{name}"] += 1


def _shape(statement: str) -> str:
    """A statement without its values."""
    return re.sub(r"'(?:[^']|'')*'|\bx'[^']*'|\b\d+\b", "?", " ".join(statement.split()))[:110]


def _module_of(function: BuiltinFunctionType) -> str:
    return function.__module__ or type(function.__self__).__module__


@dataclass(frozen=True, slots=True)
class Counted:
    """What a request costs on average: until its reply has ended, and what is learned behind it. ``shown`` is how many
    memories recall showed in one."""

    scenario: str
    requests: int
    answering: Mapping[str, float]
    learning: Mapping[str, float]
    shown: float

    def total(self, what: str) -> float:
        """Of both."""
        return self.answering[what] + self.learning[what]


async def count(
    home: Path, known: int, scenarios: Mapping[str, tuple[Scenario, int]], counting: Counting | None = None
) -> list[Counted]:
    """Play scenarios, each in a home of its own with so many facts in it."""
    counting = counting or Counting()
    counted = []
    for place, (name, (scenario, requests)) in enumerate(scenarios.items()):
        with fixed(), _in_time():
            async with outside() as beyond:
                with counting.installed():
                    options = {key.replace(".", "__"): value for key, value in KEPT_STILL.items()}
                    clock = Clock()
                    clock.at = NOW
                    upstream = f"http://127.0.0.1:{beyond.port}"
                    async with running(upstream, home / str(place), now=clock, **options) as proxy:
                        with counting.paused():
                            await _still(proxy, known)
                        asked = _behind_others(scenario(requests))
                        counted.append(await _played(name, asked, proxy, beyond, clock, counting))
    return counted


def _behind_others(asked: Iterator[Asked]) -> Iterator[Asked]:
    """Behind a few messages that are not counted."""
    for each in human_message(2_000, seed=29)(BEGINNING):
        yield replace(each, session=f"before-{each.session}", counted=False)
    yield from asked


@contextmanager
def _in_time() -> Iterator[None]:
    """What nobody waits for goes with the next transaction. On a slow machine that is late, and it would go alone."""
    seconds, database.LATER_SECONDS = database.LATER_SECONDS, 3600.0
    try:
        yield
    finally:
        database.LATER_SECONDS = seconds


async def _still(proxy: Running, known: int) -> None:
    """Nothing happens any more by itself; so much is known."""
    memory = _memory(proxy)
    await memory.cache_warmer.settle()
    for following in memory.followers:
        await following.stop()
    for worker in (memory.entity_graph, memory.index_repair, memory.retention):
        await worker.stop()
    memory.token_counting._tokenizer.count("")
    # What reads whole sentences is loaded when the first is to be read.
    await rules.at_hand()
    await memory.learner.remember(list(facts(known)))
    # What is read beforehand when somebody asks for the first time.
    memory.cache_warmer.owner_seen(Scope(user="local", project=PROJECT))
    await memory.cache_warmer.settle()
    await _behind(proxy)


async def _played(
    name: str, asked: Iterator[Asked], proxy: Running, beyond: Outside, clock: Clock, counting: Counting
) -> Counted:
    answering, learning = Counter[str](), Counter[str]()
    port = int(proxy.url.rpartition(":")[2])
    requests = shown = 0
    for each in asked:
        counting.taken()
        counting.on = each.counted
        reply = await beyond.ask(port, each)
        assert reply.status == 200, reply
        while proxy.edge.beside:
            await asyncio.wait(proxy.edge.beside)
            await asyncio.sleep(0)
        answering += counting.taken()
        await _behind(proxy)
        counting.on = False
        learning += counting.taken()
        if each.counted:
            requests += 1
            shown += recalled(reply)
        clock.pass_by(seconds=20)
    assert not proxy.edge.degradations.counts, proxy.edge.degradations
    during, behind = ({what: round(part[what] / requests, 1) for what in COUNTS} for part in (answering, learning))
    return Counted(name, requests, during, behind, shown / requests)


def recalled(reply: Timed) -> int:
    """How many memories recall showed in the request."""
    found = re.search(r"recalled=(\d+)", reply.header("x-palimpsest-status"))
    return int(found[1]) if found else 0


async def _behind(proxy: Running) -> None:
    """All that memory puts off."""
    memory = _memory(proxy)
    await memory.preparation.settle()
    await proxy.learned()
    await memory.tier_worker.catch_up()
    await rooms.subagents(memory).worker.catch_up()
    await memory.entity_graph.catch_up()
    await memory.recall.weighing.settle()
    await memory.token_counting.settle()
    await memory.usage_calibration.settle()
    await memory.pages.settle()


def _memory(proxy: Running) -> Memory:
    assert proxy.edge.memory is not None
    return proxy.edge.memory


def table(counted: Sequence[Counted]) -> str:
    """As Markdown: of each what a request costs, and in brackets until its reply has ended + behind it."""
    lines = ["| a request | " + " | ".join(COUNTS) + " | shown |", "| --- |" + " --: |" * (len(COUNTS) + 1)]
    for each in counted:
        cells = [f"{each.total(what):.0f} ({each.answering[what]:.0f} + {each.learning[what]:.0f})" for what in COUNTS]
        lines.append(f"| {each.scenario} | " + " | ".join(cells) + f" | {each.shown:.1f} |")
    return "\n".join(lines)


async def processor_time(folder: Path, home: Path, name: str, scenario: Scenario, requests: int) -> str:
    """Milliseconds of all threads of a proxy of its own for a request that is counted: until the last reply, and behind
    them all. What only leads to one of them comes before, of every session, and is done with by then."""
    async with outside() as beyond:
        target = await asyncio.to_thread(targets.palimpsest, "memory on", folder, home, beyond.port)
        assert target.process is not None
        try:
            for each in scenario(WARM):
                await beyond.ask(target.port, replace(each, session=f"warm-{each.session}"))
            for each in scenario(requests):
                if not each.counted:
                    await beyond.ask(target.port, each)
            await _at_rest(target.process)
            began, shown, counted = target.process.cpu_seconds(), 0, 0
            for each in scenario(requests):
                if each.counted:
                    counted += 1
                    shown += recalled(await beyond.ask(target.port, each))
            answered = target.process.cpu_seconds()
            await _at_rest(target.process)
            behind = target.process.cpu_seconds()
        finally:
            target.process.stop()
    during, learning = (answered - began) / counted * 1000, (behind - answered) / counted * 1000
    return f"| {name} | {during + learning:.2f} | {during:.2f} | {learning:.2f} | {shown / counted:.1f} | {counted} |"


async def _at_rest(process: Process) -> None:
    """Until it has done what it put off."""
    before = -1.0
    while (now := process.cpu_seconds()) - before > 0.02:
        before = now
        await asyncio.sleep(1.5)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="scenarios in whose name this stands")
    parser.add_argument("--facts", type=int, default=1000)
    parser.add_argument("--cpu", type=int, default=0, metavar="REQUESTS", help="measure processor time instead")
    parser.add_argument("--detailed", action="store_true", help="tell the statements and functions that came most")
    arguments = parser.parse_args()
    wanted = {name: each for name, each in SCENARIOS.items() if arguments.only in name}
    with tempfile.TemporaryDirectory(prefix="palimpsest-work-") as kept:
        folder = Path(kept)
        if not arguments.cpu:
            counting = Counting(detailed=arguments.detailed)
            print(table(asyncio.run(count(folder, arguments.facts, wanted, counting))))
            for told in (counting.by_statement, counting.by_function) if arguments.detailed else ():
                print("\n".join(f"{times:>8} {what}" for what, times in told.most_common(60)), end="\n\n")
            return
        (folder / "home").mkdir(mode=0o700)
        asyncio.run(seed_home(folder / "home", arguments.facts))
        print("| a request | CPU, ms | during | behind | shown | requests |\n| --- | --: | --: | --: | --: | --: |")
        for place, (name, (scenario, _)) in enumerate(wanted.items()):
            shutil.copytree(folder / "home", home := folder / f"home-{place}")
            print(asyncio.run(processor_time(folder, home, name, scenario, arguments.cpu)), flush=True)


if __name__ == "__main__":
    main()
