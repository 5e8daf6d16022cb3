"""A year of memory: statements of many people over 365 days, said again, changed and corrected, with a night each week.

python -m tests.bench.year FOLDER [USERS]

FOLDER holds ``prefeval.jsonl.gz`` and ``locomo.jsonl.gz``, whose real statements are the body of the year. What changes
is said in the bench's own words, so that what holds, and what held, is known. Everything goes through the server's own
path: prepared, journaled, learned from, consolidated; only the clock is moved.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import orjson

from memory.bootstrap import new_id, open_memory
from memory.conversation import Conversation, Reply, Text
from memory.edits import Append
from memory.fact import Fact
from memory.parts import Memory
from memory.scope import Layer, Scope
from memory.session import Arrival, RequestKind
from memory.settings import MemorySettings, NightSettings, RecallSettings
from memory.strength import effective
from proxy.wire import dialect_of
from tests import rooms

T = TypeVar("T")
BEGAN = datetime(2025, 1, 6, 9, tzinfo=UTC)
DAYS = 365
CHAT = dialect_of("/v1/chat/completions")

CHANGING: Sequence[tuple[str, Sequence[str], Sequence[str], str]] = (
    (
        "Our staging server listens on port {}.",
        ("We moved staging: the server listens on port {new} now, no longer on {old}.",),
        ("8081", "9443", "7070", "5050"),
        "Which port does our staging server listen on?",
    ),
    (
        "I use {} as my editor for all projects.",
        ("I switched from {old} to {new} as my editor.", "I use {new} as my editor now instead of {old}."),
        ("Emacs", "Helix", "Zed", "Neovim"),
        "What is my editor?",
    ),
    (
        "We deploy to production on {}s.",
        ("We no longer deploy on {old}s, we deploy to production on {new}s now.",),
        ("Monday", "Tuesday", "Wednesday", "Thursday"),
        "On which day do we deploy to production?",
    ),
    (
        "My dentist is Dr. {}.",
        ("I changed my dentist from Dr. {old} to Dr. {new}.", "My dentist is Dr. {new} now, not Dr. {old} any more."),
        ("Hartwig", "Okonkwo", "Lindgren", "Moreau"),
        "Who is my dentist?",
    ),
    (
        "The billing service is written in {}.",
        ("We rewrote the billing service from {old} to {new}.", "The billing service is written in {new} now."),
        ("Kotlin", "Rust", "Elixir", "Scala"),
        "Which language is the billing service written in?",
    ),
    (
        "We use {} for our feature flags.",
        (
            "We switched from {old} to {new} for our feature flags.",
            "No, not {old}: we use {new} for our feature flags.",
        ),
        ("Unleash", "Flagsmith", "GrowthBook", "Flipt"),
        "What do we use for feature flags?",
    ),
    (
        "My daughter goes to the {} school.",
        ("My daughter changed schools: she goes to the {new} school now, no longer to the {old} school.",),
        ("Montessori", "Riverside", "Lakeview", "Hillcrest"),
        "Which school does my daughter go to?",
    ),
)
CRAMMED = "For release notes I like the {} style."
STYLES = ("narrative", "bulleted", "changelog", "haiku")


@dataclass(frozen=True, slots=True)
class Said:
    """Something that a person says on a day. ``times`` within one session."""

    at: datetime
    user: str
    text: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Changed:
    """What held until ``at``, and what holds since."""

    user: str
    question: str
    old: str
    new: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Year:
    """What is said, in order of time; what changed; for each person a style said in many sessions and one crammed."""

    said: Sequence[Said]
    changed: Sequence[Changed]
    styles: Sequence[tuple[str, str, str]]


def year(folder: Path, users: int, rng: random.Random) -> Year:
    """A year of so many people; the same for the same random numbers."""
    real = _statements(folder)
    said: list[Said] = []
    changed: list[Changed] = []
    styles: list[tuple[str, str, str]] = []
    for number in range(users):
        user = f"user{number}"
        for text in (next(real) for _ in range(40)):
            days = sorted(rng.sample(range(DAYS), rng.choice((1, 1, 1, 2, 3))))
            said += [Said(_at(day, rng), user, text) for day in days]
        for statement, changes, values, question in rng.sample(CHANGING, 5):
            old, new = rng.sample(values, 2)
            first, turn = rng.randrange(0, 150), rng.randrange(200, 350)
            again = sorted(rng.sample(range(first + 1, turn), rng.choice((0, 1, 2))))
            said += [Said(_at(day, rng), user, statement.format(old)) for day in (first, *again)]
            change = Said(_at(turn, rng), user, rng.choice(changes).format(old=old, new=new))
            said.append(change)
            changed.append(Changed(user, question, old, new, change.at))
        spread, crammed = rng.sample(STYLES, 2)
        said += [Said(_at(day, rng), user, CRAMMED.format(spread)) for day in (40, 110, 180, 250, 320)]
        said.append(Said(_at(320, rng), user, CRAMMED.format(crammed), times=5))
        styles.append((user, spread, crammed))
    return Year(sorted(said, key=lambda each: (each.at, each.user)), changed, styles)


class Life:
    """Memory on a moved clock."""

    def __init__(self, memory: Memory, clock: list[datetime]) -> None:
        self.memory = memory
        self._clock = clock

    async def say(self, said: Said) -> None:
        """One session in which a person says something, and the model nods."""
        self._clock[0] = said.at
        session = new_id()
        messages: list[dict[str, str]] = []
        for _ in range(said.times):
            messages.append({"role": "user", "content": said.text})
            conversation = _conversation(messages)
            prepared = await self.memory.preparation.prepare(conversation, _arrival(said.user, session, said.at))
            await self.memory.exchange_journal.record(
                prepared, conversation, Reply((Text("Noted."),), "stop", None, True), 200
            )
            messages.append({"role": "assistant", "content": "Noted."})

    async def asked(self, user: str, question: str, at: datetime) -> str:
        """What is given to the model with a question in a new session."""
        self._clock[0] = at
        conversation = _conversation([{"role": "user", "content": question}])
        prepared = await self.memory.preparation.prepare(conversation, _arrival(user, new_id(), at))
        return "\n".join(edit.text for edit in prepared.edits if isinstance(edit, Append))

    async def night(self, at: datetime) -> None:
        """A night at that moment."""
        self._clock[0] = at
        await self.memory.learner.catch_up()
        await rooms.nights(self.memory).runner.run()


async def main(folder: Path, users: int) -> dict[str, float]:
    """Live through the year and measure; prints a table."""
    plan = year(folder, users, random.Random(11))
    clock = [BEGAN]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="palimpsest-year-") as home:
        settings = MemorySettings(night=NightSettings(enabled=False), recall=RecallSettings(deadline_ms=10_000))
        memory = await open_memory(settings, Path(home), _unguarded, now=lambda: clock[0])
        assert memory is not None
        life = Life(memory, clock)
        week = BEGAN + timedelta(days=7)
        try:
            for said in plan.said:
                while said.at > week:
                    await life.night(week)
                    week += timedelta(days=7)
                await life.say(said)
            end = BEGAN + timedelta(days=DAYS)
            await life.night(end)
            await memory.learner.catch_up()
            figures = {
                **await _changes(life, plan, end),
                **await _styles(life, plan, end),
                **await _reachable(life, Path(home), end),
            }
        finally:
            await memory.close()
    print(f"{users} people, {len(plan.said)} sessions in {DAYS} days, {time.perf_counter() - began:.0f} s")
    for name, figure in figures.items():
        print(f"{name:60} {figure:.3f}")
    return figures


async def _changes(life: Life, plan: Year, end: datetime) -> dict[str, float]:
    told: Counter[str] = Counter()
    for change in plan.changed:
        given = await life.asked(change.user, change.question, end)
        told["new"] += change.new in given
        told["old alone"] += change.old in given and change.new not in given
        before = change.at - timedelta(days=1)
        found = await life.memory.commands.search(change.question, _owners(change.user), as_of=before)
        texts = " ".join(each.memory.text for each in found)
        told["as of"] += change.old in texts
        told["too early"] += change.new in texts
    count = len(plan.changed)
    return {
        "a changed fact answers with the new value": told["new"] / count,
        "a changed fact answers with the old value alone": told["old alone"] / count,
        "an as-of question finds the old value": told["as of"] / count,
        "an as-of question finds what was not known yet": told["too early"] / count,
    }


async def _styles(life: Life, plan: Year, end: datetime) -> dict[str, float]:
    first = 0
    for user, spread, crammed in plan.styles:
        facts = await life.memory.journal.facts_of(_owners(user))
        strength = dict.fromkeys((spread, crammed), 0.0)
        for fact in facts:
            for style in strength:
                if f"the {style} style" in fact.text:
                    strength[style] = max(strength[style], effective(fact, end))
        first += strength[spread] > strength[crammed]
    return {"what many sessions said outranks what one crammed": first / len(plan.styles)}


async def _reachable(life: Life, home: Path, end: datetime) -> dict[str, float]:
    """Whether a direct search for a fact's own words finds it, whatever became of it."""
    with sqlite3.connect(home / "journal.db") as connection:
        ids = [row[0] for row in connection.execute("SELECT id FROM facts")]
    facts = await life.memory.journal.facts(ids)
    held = sum([await _found(life, fact) for fact in facts])
    return {"facts": float(len(facts)), "facts that a direct search finds": held / max(len(facts), 1)}


async def _found(life: Life, fact: Fact) -> bool:
    by_text = await life.memory.journal.find_facts([fact.owner], fact.text, 20)
    return any(each.id == fact.id for each in by_text)


def _statements(folder: Path) -> Iterator[str]:
    """Real statements, one after the other, and from the start again."""
    texts: list[str] = []
    with gzip.open(folder / "prefeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts += [json.loads(line)["preference"] for line in lines]
    with gzip.open(folder / "locomo.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            sessions: list[dict[str, Any]] = json.loads(line)["sessions"]
            turns = [turn for session in sessions for turn in session["turns"]]
            texts += [turn["text"] for turn in turns if turn["role"] == "user" and len(turn["text"]) > 40]
    random.Random(5).shuffle(texts)
    while True:
        yield from texts


def _at(day: int, rng: random.Random) -> datetime:
    return BEGAN + timedelta(days=day, minutes=rng.randrange(600))


def _owners(user: str) -> list[str]:
    scope = _scope(user)
    return [owner for layer in Layer if (owner := scope.owner(layer))]


def _scope(user: str) -> Scope:
    return Scope(user=user, project="home")


def _arrival(user: str, session: str, at: datetime) -> Arrival:
    return Arrival(_scope(user), RequestKind.MAIN, "bench", user, at, session_key=session)


def _conversation(messages: Sequence[dict[str, str]]) -> Conversation:
    assert CHAT is not None
    return CHAT.read(orjson.dumps({"model": "m", "messages": list(messages)}), str).conversation


async def _unguarded(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
    return await awaitable, ""


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 30))
