"""What a memory makes of changes, exceptions and temporary things that people mention in passing.

python -m tests.bench.changes [--only changes_a] [--words]

The cases lie in ``tests/data/changes``. Each is said in sessions of its own, with an agent at work, through the
server's own path; its question comes as the first message of a new session. What is added to that is cut into lines.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import orjson

from memory.bootstrap import new_id, open_memory
from memory.conversation import Conversation, Reply, Text
from memory.edits import Append
from memory.parts import Memory
from memory.scope import Scope
from memory.session import Arrival, RequestKind
from memory.settings import MemorySettings, NightSettings, RecallSettings
from proxy.wire import dialect_of

T = TypeVar("T")
CASES = Path(__file__).parent.parent / "data" / "changes"
BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
CHAT = dialect_of("/v1/chat/completions")
TOOL = {"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {}}}}
MARKED = re.compile(
    r"\b(?:until|till|earlier|before|formerly|was|were|no longer|used to|since|unsettled|outdated"
    r"|bis|früher|vorher|antes|hasta)\b",
    re.IGNORECASE,
)
"""Words by which a line says that what it tells is over, or not certain."""


@dataclass
class Life:
    """Memory on a moved clock, with an agent at work."""

    memory: Memory
    clock: list[datetime]

    async def say(self, user: str, project: str, at: datetime, turns: Sequence[tuple[str, str]]) -> None:
        """One session: what the person typed and what the agent answered, turn by turn."""
        self.clock[0] = at
        session = new_id()
        messages: list[dict[str, str]] = []
        for said, answer in turns:
            messages.append({"role": "user", "content": said})
            arrival = _arrival(user, project, session, self.clock[0])
            prepared = await self.memory.preparation.prepare(_conversation(messages), arrival)
            reply = Reply((Text(answer),), "stop", None, True)
            await self.memory.exchange_journal.record(prepared, _conversation(messages), reply, 200)
            messages.append({"role": "assistant", "content": answer})
            self.clock[0] += timedelta(minutes=2)
        await self.memory.learner.catch_up()

    async def asked(self, user: str, project: str, at: datetime, question: str) -> list[str]:
        """The lines that are given to the model with the first message of a new session."""
        self.clock[0] = at
        conversation = _conversation([{"role": "user", "content": question}])
        prepared = await self.memory.preparation.prepare(conversation, _arrival(user, project, new_id(), at))
        added = "\n".join(edit.text for edit in prepared.edits if isinstance(edit, Append))
        return [line for line in added.split("\n") if line.strip() and not line.startswith(("<", "#"))]


def shows(text: str, wanted: Iterable[Iterable[str]]) -> bool:
    """Whether for each list one of its alternatives stands in a text."""
    low = text.lower()
    return all(any(each in low for each in alternatives) for alternatives in wanted)


def judged(case: Mapping[str, Any], lines: Sequence[str]) -> set[str]:
    """What can be said of the lines that were given for a case."""
    everything = "\n".join(lines)
    newest = shows(everything, case["newest"])
    found = {"newest"} if newest else set()
    if case["kind"] == "exception":
        return found | ({"both"} if newest and shows(everything, case["still"]) else set())
    old = case.get("old") or []
    stale = [at for at, line in enumerate(lines) if old and shows(line, old) and not shows(line, case["newest"])]
    bare = [at for at in stale if not any(MARKED.search(each) for each in lines[max(at - 1, 0) : at + 1])]
    if stale and not newest:
        found.add("only old")
    if bare and newest:
        found.add("old beside, unmarked")
    return found


async def play(cases: Sequence[Mapping[str, Any]], words: bool) -> dict[str, Counter[str]]:
    """Live through the cases, each as a person of its own, and count what they were given."""
    clock = [BEGAN]
    figures: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory(prefix="palimpsest-changes-") as home:
        memory = await open_memory(quiet(), Path(home), unguarded, now=lambda: clock[0])
        assert memory is not None
        life = Life(memory, clock)
        try:
            for case in cases:
                user = f"user-{case['id']}"
                for said in case["said"]:
                    at = BEGAN + timedelta(days=said["day"])
                    await life.say(user, case["project"], at, [(said["text"], "Done.")])
                at = BEGAN + timedelta(days=case["ask"]["day"])
                lines = await life.asked(user, case["project"], at, case["ask"]["text"])
                found = judged(case, lines)
                own = figures.setdefault(case["kind"], Counter())
                own.update({"cases": 1, "tokens": sum(map(len, lines)) // 4, **dict.fromkeys(found, 1)})
                if words:
                    print(case["id"], case["kind"], sorted(found), case["ask"]["text"], *lines, "", sep="\n  ")
        finally:
            await memory.close()
    return figures


def quiet() -> MemorySettings:
    """Settings without nights of their own, and with time enough for a busy machine."""
    return MemorySettings(night=NightSettings(enabled=False), recall=RecallSettings(deadline_ms=10_000))


async def unguarded(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    """A guard that lets every fault through."""
    return await awaitable, ""


def read(names: str) -> list[dict[str, Any]]:
    """The cases of the files whose name begins so."""
    files = sorted(CASES.glob(f"{names}*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text("utf-8").splitlines()]


def _arrival(user: str, project: str, session: str, at: datetime) -> Arrival:
    return Arrival(Scope(user=user, project=project), RequestKind.MAIN, "bench", user, at, session_key=session)


def _conversation(messages: Sequence[dict[str, str]]) -> Conversation:
    assert CHAT is not None
    body = {"model": "m", "messages": list(messages), "tools": [TOOL]}
    return CHAT.read(orjson.dumps(body), str).conversation


def main() -> None:
    """Play the cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="changes", help="files whose name begins so")
    parser.add_argument("--words", action="store_true", help="print each case with what was given")
    given = parser.parse_args()
    for kind, own in asyncio.run(play(read(given.only), given.words)).items():
        shares = ", ".join(
            f"{name} {own[name] / own['cases']:.2f}" for name in sorted(own) if name not in ("cases", "tokens")
        )
        print(f"{kind}: {own['cases']} cases, {own['tokens'] / own['cases']:.0f} tokens each: {shares}")


if __name__ == "__main__":
    main()
