"""Which regular expressions of `proxy` and `memory` take time that grows faster than what they read.

    python -m tests.bench.patterns [--begin 0] [--count 0] [--seconds 1500] [--each 1.0] [--packages memory,proxy]

Every pattern that importing the packages compiles, and every literal one inside their functions, is put to text made
from its own parse tree: what stands before a repeat, then what the repeat takes, 16 KB of it and more, then something
that does not match. A pattern whose time grows more than 2.5-fold with each doubling, and which costs more than a few
milliseconds, is told: place, the way it is called, the unit that was repeated, what stood before it, and the growth.

The ways tried are the methods that its own module calls on its name; all of them where the name says nothing. Whether
so much text can come there is for the reader to find out. The patterns are tried in a child process, and a match that
does not end is ended with it. `memory.models.training` is left out: it reads only its own data.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import pkgutil
import random
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from tests.bench.pumped_text import attacks

ROOT = Path(__file__).resolve().parents[2]

LENGTHS = (4096, 8192, 16384, 32768)
"""Characters of the texts; the growth counts over the last three."""

GROWTH = 2.5
"""What a doubling of the text may multiply the time by: 2 is linear, 4 quadratic."""

WORTH_TELLING = 0.004
"""Seconds at 16,384 characters below which growth does not matter."""

TOO_SLOW = 0.25
"""Seconds beyond which no longer text is tried."""

QUICK = 0.0004
"""Seconds at 4,096 characters below which even cubic growth stays small at 16,384 (`WORTH_TELLING` is ten times it)."""

ENDLESS = 20.0
"""Seconds without a word from the child after which its match is ended."""

WAYS = ("match", "fullmatch", "search", "finditer")
SCANNING = {"sub": "finditer", "subn": "finditer", "findall": "finditer", "split": "finditer"}
CALLED = re.compile(r"\.(match|fullmatch|search|finditer|sub|subn|findall|split)\b")

ENDS = ("", "\x00")


@dataclass(frozen=True)
class Found:
    """A pattern, where it is made (`file:line`), and the methods that are called on it."""

    place: str
    pattern: re.Pattern[Any]
    ways: tuple[str, ...]


@dataclass(frozen=True)
class Slow:
    """The worst text for a pattern: `prefix`, then `unit` again and again, then `end`."""

    place: str
    way: str
    unit: str
    prefix: str
    end: str
    length: int
    milliseconds: float
    growth: float
    pattern: str


# Collecting


def collected(packages: list[str], root: Path = ROOT) -> list[Found]:
    """All patterns of the packages, by place. What was imported before is not seen to compile."""
    made: dict[tuple[str | bytes, int], tuple[str, int, re.Pattern[Any]]] = {}
    with _compiling(lambda pattern, frame: _noted(made, pattern, frame, root)):
        for package in packages:
            module = importlib.import_module(package)
            for each in pkgutil.walk_packages(module.__path__, f"{package}."):
                if ".training" not in each.name and not each.name.endswith("__main__"):
                    # An extra that is not installed.
                    with suppress(ImportError):
                        importlib.import_module(each.name)
    sources = {path: path.read_text() for package in packages for path in sorted((root / package).rglob("*.py"))}
    found = [
        Found(f"{file}:{line}", pattern, _ways(sources.get(root / file, ""), line))
        for file, line, pattern in made.values()
    ]
    for path, source in sources.items():
        if "training" not in path.parts:
            found += _literal(source, str(path.relative_to(root)))
    return sorted(found, key=lambda each: (each.place.partition(":")[0], int(each.place.rpartition(":")[2])))


@contextmanager
def _compiling(note: Callable[[re.Pattern[Any], FrameType], None]) -> Iterator[None]:
    """Tells of every pattern that `re.compile` makes meanwhile."""
    compile = re.compile

    def noting(pattern: Any, flags: int | re.RegexFlag = 0) -> re.Pattern[Any]:
        made = compile(pattern, flags)
        note(made, sys._getframe(1))
        return made

    setattr(re, "compile", noting)  # noqa: B010 (mypy knows the overloads that this is not)
    try:
        yield
    finally:
        setattr(re, "compile", compile)  # noqa: B010


def _noted(made: dict[Any, Any], pattern: re.Pattern[Any], frame: FrameType | None, root: Path) -> None:
    # The module that asked, where a function of another one compiles for it.
    while frame and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    if frame and Path(frame.f_code.co_filename).is_relative_to(root):
        file = Path(frame.f_code.co_filename).relative_to(root)
        if ".venv" not in file.parts and file.parts[0] != "tests":
            made.setdefault((pattern.pattern, pattern.flags), (str(file), frame.f_lineno, pattern))


def _ways(source: str, line: int) -> tuple[str, ...]:
    """What the module calls on the name that this line binds; every way where it cannot be told."""
    for statement in ast.parse(source).body:
        if statement.lineno <= line <= (statement.end_lineno or line):
            target = statement.targets[0] if isinstance(statement, ast.Assign) else None
            target = statement.target if isinstance(statement, ast.AnnAssign) else target
            if isinstance(target, ast.Name):
                called = {each[1] for each in re.finditer(rf"\b{target.id}{CALLED.pattern}", source)}
                # Named without a call too: handed on, and called elsewhere in another way.
                handed = len(re.findall(rf"\b{target.id}\b(?!{CALLED.pattern})", source)) > 1
                if called and not handed and target.id.startswith("_"):
                    return tuple(sorted({SCANNING.get(each, each) for each in called}))
    return WAYS


def _literal(source: str, file: str) -> Iterator[Found]:
    """Patterns written inside functions: `re.sub(r"…", …)`."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for call in ast.walk(function):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and isinstance(call.func.value, ast.Name)
                and call.func.value.id == "re"
                and call.args
                and isinstance(call.args[0], ast.Constant)
                and isinstance(call.args[0].value, str | bytes)
            ):
                named = {
                    each.attr
                    for part in (*call.args[1:], *(word.value for word in call.keywords))
                    for each in ast.walk(part)
                    if isinstance(each, ast.Attribute) and hasattr(re.RegexFlag, each.attr)
                }
                flags = 0
                for name in named:
                    flags |= re.RegexFlag[name]
                way = SCANNING.get(call.func.attr, call.func.attr)
                yield Found(
                    f"{file}:{call.lineno}", re.compile(call.args[0].value, flags), (way,) if way in WAYS else WAYS
                )


# Measuring


Timed = Callable[[re.Pattern[Any], str, str], float]
"""How long a pattern takes, called in one of the ways, on a text, in seconds."""


def slow(found: Found, seconds: float, seed: int = 5, timed: Timed | None = None) -> Slow | None:
    """The text on which the pattern takes longest, if its time grows too fast; `seconds` of CPU bound the search."""
    timed = timed or _timed
    worst: Slow | None = None
    end_of_search = time.process_time() + seconds
    for before, unit in attacks(found.pattern, random.Random(seed)):
        for end in ENDS:
            for way in found.ways:
                if time.process_time() > end_of_search:
                    return worst
                took = _grows(partial(timed, found.pattern, way), partial(_pumped, before, unit, end))
                if took and (worst is None or took[1] / took[0] ** 2 > worst.milliseconds / 1000 / worst.length**2):
                    length, spent, growth = took
                    worst = Slow(
                        found.place, way, unit, before, end, length, round(spent * 1000, 1), round(growth, 1),
                        str(found.pattern.pattern),
                    )  # fmt: skip
    return worst


def _pumped(before: str, unit: str, end: str, length: int) -> str:
    return before + (unit * (length // len(unit) + 1))[:length] + end


def _grows(timed: Callable[[str], float], text: Callable[[int], str]) -> tuple[int, float, float] | None:
    """Length, seconds and the smallest growth of a doubling, where that is too much."""
    times: list[float] = []
    # Short ones first: what is worse than quadratic would not end on the long ones.
    for length in (32, 512):
        if (spent := timed(text(length))) > TOO_SLOW / 5:
            return length, spent, float("inf")
    for length in LENGTHS:
        spent = timed(text(length))
        if not times and spent < QUICK:
            return None
        times.append(spent)
        if spent > TOO_SLOW:
            break
        if len(times) > 1 and spent < GROWTH * times[-2] and length > LENGTHS[1]:
            return None
    # Of one length only: at that cost a character it cannot have been linear.
    growth = min((after / before for before, after in pairwise(times[-3:])), default=float("inf"))
    if growth <= GROWTH or times[min(2, len(times) - 1)] < WORTH_TELLING:
        return None
    return LENGTHS[len(times) - 1], times[-1], growth


def _timed(pattern: re.Pattern[Any], way: str, text: str) -> float:
    """CPU seconds of a call: the better of two where it is quick."""
    subject: Any = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
    best = float("inf")
    for _ in range(2):
        begin = time.process_time()
        made = getattr(pattern, way)(subject)
        if way == "finditer":
            for _found in made:
                pass
        best = min(best, time.process_time() - begin)
        if not QUICK < best < TOO_SLOW / 5:
            break
    return best


# The child tells, the parent listens


def tell(packages: list[str], root: Path, begin: int, count: int, each: float) -> None:
    """Prints a line of JSON before and after each pattern."""
    found = collected(packages, root)
    for index, one in enumerate(found[begin : begin + count if count else None], begin):
        print(json.dumps({"index": index, "of": len(found), "place": one.place}), flush=True)
        if worst := slow(one, each):
            print(json.dumps({"slow": asdict(worst)}), flush=True)
    print(json.dumps({"index": None}), flush=True)


def tried(
    packages: list[str], *, root: Path = ROOT, begin: int = 0, count: int = 0, seconds: float = 1500.0,
    each: float = 1.0, endless: float = ENDLESS, told: Callable[[Slow], None] = lambda _: None,
) -> tuple[list[Slow], int | None]:  # fmt: skip
    """All patterns that grow too fast, and the index to go on at where the time did not suffice."""
    slow_ones: list[Slow] = []
    until = time.monotonic() + seconds
    last = begin + count if count else sys.maxsize
    while begin < last:
        command = [sys.executable, "-m", "tests.bench.patterns", "--child", "--packages", ",".join(packages)]
        command += ["--root", str(root), "--begin", str(begin), "--count", str(count and last - begin)]
        with subprocess.Popen(
            [*command, "--each", str(each)], stdout=subprocess.PIPE, bufsize=0, cwd=root, env=_env(root)
        ) as child:
            assert child.stdout
            at: dict[str, Any] = {}
            try:
                while True:
                    # Importing everything takes a while too, beside other work.
                    if not select.select([child.stdout], [], [], endless if at else 60 + endless)[0]:
                        if not at:
                            raise TimeoutError("the packages were not imported in time")
                        slow_ones.append(Slow(at["place"], "?", "", "", "", 0, endless * 1000, float("inf"), ""))
                        told(slow_ones[-1])
                        break
                    if not (said := child.stdout.readline()):
                        raise RuntimeError("the child process ended by itself")
                    line = json.loads(said)
                    if "slow" in line:
                        slow_ones.append(Slow(**line["slow"]))
                        told(slow_ones[-1])
                    elif line["index"] is None:
                        return slow_ones, None
                    elif time.monotonic() > until:
                        return slow_ones, int(line["index"])
                    else:
                        at = line
            finally:
                child.kill()
        begin = at["index"] + 1
    return slow_ones, None


def _env(root: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{ROOT}"}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--begin", type=int, default=0, help="index of the first pattern")
    options.add_argument("--count", type=int, default=0, help="how many; 0 for all")
    options.add_argument("--seconds", type=float, default=1500.0, help="of the whole run")
    options.add_argument("--each", type=float, default=1.0, help="seconds of CPU for each pattern")
    options.add_argument("--packages", default="memory,proxy")
    options.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    options.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    asked = options.parse_args()
    packages = asked.packages.split(",")
    if asked.child:
        tell(packages, asked.root, asked.begin, asked.count, asked.each)
        return

    def told(one: Slow) -> None:
        print(
            f"{one.place} {one.way}: {one.milliseconds} ms at {one.length} (x{one.growth}) "
            f"unit={one.unit!r} prefix={one.prefix[:60]!r} end={one.end!r} :: {one.pattern[:110]!r}",
            flush=True,
        )

    slow_ones, next_index = tried(
        packages, begin=asked.begin, count=asked.count, seconds=asked.seconds, each=asked.each, told=told
    )
    print(f"{len(slow_ones)} grow too fast" + (f"; go on with --begin {next_index}" if next_index is not None else ""))


if __name__ == "__main__":
    main()
