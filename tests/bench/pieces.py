"""A long bench in pieces, each with a seed and a server of its own: what was run stands in a file, and the next run
goes on behind it."""

from __future__ import annotations

import json
import signal
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Result = dict[str, Any]


def add_options(parser: ArgumentParser, piece: int, seconds: float) -> None:
    """The options of a bench that runs in pieces."""
    parser.add_argument("--piece", type=int, default=piece, help="how many of them share one server")
    parser.add_argument("--seconds", type=float, default=seconds, help="no new piece begins after so long")
    parser.add_argument("--resume", type=Path, help="a file of pieces that have run; those that run now are added")
    parser.add_argument("--seed", type=int, default=1, help="the first piece's; each other has the next number")


def in_pieces(arguments: Namespace, wanted: int, run: Callable[[int, int], Result]) -> list[Result]:
    """Run ``run(seed, count)`` until as many are done as wanted, or the time is over; all results, with those of the
    file."""
    # Who is asked to end stops the servers that it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    until = time.monotonic() + arguments.seconds
    done = dict(_read(arguments.resume))
    for seed, count in _plan(arguments.seed, wanted, arguments.piece):
        if seed in done:
            continue
        if time.monotonic() > until:
            break
        done[seed] = run(seed, count)
        if arguments.resume:
            with arguments.resume.open("a") as file:
                file.write(json.dumps({"seed": seed, "result": done[seed]}) + "\n")
        print(f"seed {seed} of {count} done", file=sys.stderr, flush=True)
    return [done[seed] for seed in sorted(done)]


def summed(results: Sequence[Result], name: str) -> Any:
    """What the pieces told under one name as one: numbers and counts added, lists joined."""
    first, *rest = [result[name] for result in results]
    if isinstance(first, Mapping):
        return dict(sum((Counter(each) for each in rest), Counter(first)).most_common())
    if isinstance(first, list):
        return [each for told in (first, *rest) for each in told]
    return sum(rest, first)


def _plan(seed: int, wanted: int, piece: int) -> Iterator[tuple[int, int]]:
    for number, begun in enumerate(range(0, wanted, piece)):
        yield seed + number, min(piece, wanted - begun)


def _read(file: Path | None) -> Iterator[tuple[int, Result]]:
    if file is not None and file.exists():
        for line in file.read_text().splitlines():
            told = json.loads(line)
            yield told["seed"], told["result"]
