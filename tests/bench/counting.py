"""How near a request's estimate is to what its provider reports, by the number of the exchange in its session.

    python -m tests.bench.counting FOLDER [--most 120]

Recorded sessions are played to two providers that never answer: one counts with o200k, its own frame and 350 tokens
that nobody sees; the other has four bytes of JSON to a token, and so disagrees with us on every kind of text.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import TypeVar

import orjson

from memory.conversation import Usage
from memory.models.tokens import TokenCounter
from memory.models.windows import ModelTable, ModelWindows
from memory.services.window.counting import RequestCounter
from memory.services.window.usage_calibration import UsageCalibration
from proxy.wire import dialect_of
from tests.bench.transcripts import Body, Transcript, schemas_of, text_of, transcripts

T = TypeVar("T")

ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 20, 50)
"""Exchanges from which on a row of the report begins."""

Truth = Callable[[Body], float]
"""A message → the provider's own tokens."""


async def _plainly(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    return await awaitable, ""


class _Nowhere:
    async def meta(self, name: str) -> bytes | None:
        return None

    async def set_meta(self, name: str, value: bytes) -> None:
        return None


def _o200k(tokens: TokenCounter) -> Truth:
    def size(body: Body) -> float:
        calls = [call["function"] for call in body.get("tool_calls") or []]
        return 3 + tokens.count(text_of(body)) + sum(12 + tokens.count(f"{c['name']}{c['arguments']}") for c in calls)

    return size


def _quarter_bytes(body: Body) -> float:
    return len(orjson.dumps(body)) / 4


async def play(sessions: Sequence[Transcript], tokens: TokenCounter, truth: Truth, unseen: int, each_new: bool) -> None:
    """Print a row for each stretch of exchanges. ``each_new`` forgets what was learned of the model in between."""
    dialect = dialect_of("/v1/chat/completions")
    assert dialect is not None
    counting = RequestCounter(tokens, _plainly)
    reported = UsageCalibration(counting, _Nowhere(), ModelWindows(ModelTable({})), _plainly)
    errors: dict[int, list[float]] = defaultdict(list)
    spent = []
    for session in sessions:
        if each_new:
            await reported.settle()
            reported = UsageCalibration(counting, _Nowhere(), ModelWindows(ModelTable({})), _plainly)
        sizes = [truth(body) for body in session.messages]
        tools = schemas_of(session.messages)
        exchange, real = 0, float(unseen)
        for index, body in enumerate(session.messages):
            if body["role"] == "assistant" and index and session.messages[index - 1]["role"] in ("user", "tool"):
                exchange += 1
                sent = orjson.dumps({"model": "m", "messages": session.messages[:index], "tools": tools})
                asked = dialect.read(sent, lambda text: text).conversation
                began = time.thread_time()
                expected = reported.expected(session.id, "m", counting.weigh(asked).total)
                spent.append(time.thread_time() - began)
                errors[max(row for row in ROWS if row <= exchange)].append(abs(expected - real) / real)
                usage = Usage(input=round(real))
                await reported.reported(session.id, asked, lambda asked=asked: counting.weigh(asked).total, usage)  # type: ignore[misc]
            real += sizes[index]
    await reported.settle()
    for row, found in sorted(errors.items()):
        near = sum(error <= 0.03 for error in found) / len(found)
        print(f"  exchange {row:>3} on: mean {mean(found):6.2%}   within 3 %: {near:6.1%}   of {len(found)}")
    slow = sorted(spent)[len(spent) * 99 // 100]
    print(f"  estimating a request: median {median(spent) * 1e3:.2f} ms, p99 {slow * 1e3:.2f} ms")


async def main() -> None:
    """Play all four."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--most", type=int, default=120)
    options = parser.parse_args()
    sessions = transcripts(options.folder, 0, options.most)
    tokens = TokenCounter()
    tokens.load()
    for name, truth, unseen in (("o200k", _o200k(tokens), 350), ("bytes / 4", _quarter_bytes, 0)):
        for each_new in (True, False):
            print(f"{name}, {'a model not seen before' if each_new else 'a known model'}")
            await play(sessions, tokens, truth, unseen, each_new)


if __name__ == "__main__":
    asyncio.run(main())
