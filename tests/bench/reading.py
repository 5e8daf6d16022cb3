"""The processor time of reading what a person says, and of reading pairs of statements.

    python -m tests.bench.reading [--messages 1000] [--plain]

Messages are those of the validation set, which nothing was fitted to, each with the reply that it answers; pairs are
made of their neighbours. What is told is the time of the reading thread, one after the other, each text for the first
time. With --plain numpy multiplies in place of numkong, as where that is not installed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median

import orjson

ONE_THREAD = "OPENBLAS_NUM_THREADS"
"""As the server has it: products of matrices are worked out on the thread that asks for them."""
PAIRS = 4
"""Pairs that are read together: as many as a request of an agent has read at most."""


def spent(work: Callable[[], object]) -> float:
    """The milliseconds of this thread's processor time that something takes."""
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1e3


def row(name: str, times: Sequence[float]) -> str:
    """A line of the answer."""
    ordered = sorted(times)
    return f"{name}: p50 {median(ordered):.1f} ms, p99 {ordered[len(ordered) * 99 // 100]:.1f} ms ({len(ordered)})"


def measure(most: int) -> str:
    """Read the messages, then the pairs."""
    from memory.clock import local_now
    from memory.fact import Origin
    from memory.learning.extract import extract
    from memory.models.training.talk import DATA, labelled_clauses
    from memory.understanding.packaged_weights import encoder

    files = sorted((DATA / "validation").glob("*.jsonl"))
    talk = [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]
    said = list(dict.fromkeys((reply, " ".join(texts)) for reply, texts, _ in labelled_clauses(talk)))[: most + 1]
    at, read = local_now(), encoder()

    def message(reply: str, text: str) -> float:
        return spent(lambda: extract(text, Origin.USER, at, before=reply, work=True))

    message(*said[-1])
    messages = [message(*each) for each in said[:-1]]
    beside = [(older[:200], newer[:200]) for (_, older), (_, newer) in pairwise(said)]
    together = [beside[start : start + PAIRS] for start in range(0, len(beside) - PAIRS + 1, PAIRS)]
    pairs = [spent(lambda own=each: read.relations(own)) for each in together]  # type: ignore[misc]
    return "\n".join((row("a message", messages), row(f"{PAIRS} pairs", pairs)))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=1000, help="at most; 1000 where nothing is said")
    parser.add_argument("--plain", action="store_true")
    arguments = parser.parse_args()
    if os.environ.get(ONE_THREAD) != "1":
        again = [sys.executable, "-m", "tests.bench.reading", *sys.argv[1:]]
        os.execve(sys.executable, again, {**os.environ, ONE_THREAD: "1"})
    if arguments.plain:
        sys.modules["numkong"] = None  # type: ignore[assignment]
    print(measure(arguments.messages))


if __name__ == "__main__":
    main()
