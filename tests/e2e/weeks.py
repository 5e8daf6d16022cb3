"""Two weeks later: a script fails, the fix is found, the session ends; weeks after it the same failure brings it back.

The clock is moved by moving what is remembered: while the proxy rests, every time in its journal becomes that much
older. Then a new session meets the same failure, and the fix must stand in the very next request that is forwarded,
inside the tool result that shows the failure, with the day on which it was found.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Set
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory.learning.behaviour.habits import mine
from memory.learning.behaviour.skills import SkillThresholds, skills
from memory.settings import ProjectFolder
from tests.e2e.model import Forwarded
from tests.e2e.stage import Failed, Stage
from tests.memory.learning.behaviour.making import did

WEEKS = timedelta(days=16)
ERROR = "rate table lacks EUR_USD since schema_v2"
SCRIPT = f"""grep -q EUR_USD "$(dirname "$0")/rates.env" || {{
    echo "report.sh[$$]: error: {ERROR}" >&2; exit 3
}}
echo "the report is made"
"""
FIX = "cp rates.example.env rates.env"
LOADS = ("claude", "codex", "opencode")
"""Those that read one of the folders into which skills are written by default."""
TIMES = {
    "sessions": ("started_at", "seen_at"),
    "exchanges": ("at",),
    "facts": ("recorded_at", "valid_from", "used_at"),
    "passages": ("at",),
    "steps": ("at",),
}
SECONDS = {"sessions": ("seen",), "facts": ("recorded",)}


class Weeks(Stage):
    """A failure and its fix, then the same failure long after."""

    name = "weeks"
    _days: Set[str] = frozenset()
    """Those on which the fix was found, as they will be told weeks later."""

    async def scenes(self) -> None:
        """All of it."""
        await self.check("a script fails, and the fix is found", self._fixed)
        await self.check("it is told among the habits", self._told)
        await self.check("weeks go by", self._weeks)
        await self.check("the fix stands in the result of the same failure", self._again)
        await self.check("another error brings nothing", self._other)
        if self.client.name in LOADS:
            await self.check("a skill that was approved is loaded", self._loads)

    async def _fixed(self) -> None:
        (self.project / "report.sh").write_text(SCRIPT)
        (self.project / "rates.env").write_text("EURUSD=1\n")
        (self.project / "rates.example.env").write_text("EUR_USD=1\n")
        run, fix = self.client.shell("sh report.sh"), self.client.shell(FIX)
        began = datetime.now().astimezone()
        _, forwarded = await self.turn("Make the report.", calls=(run, fix, run), say="The report is made.")
        if not any(ERROR in one.raw for one in forwarded) or "the report is made" not in forwarded[-1].raw:
            raise Failed("the script did not fail and then work")
        # Midnight may have passed on the way.
        self._days = {(at - WEEKS).date().isoformat() for at in (began, datetime.now().astimezone())}

    async def _loads(self) -> None:
        """A habit's SKILL.md where it is written by default."""
        steps = [step for n in range(3) for step in did(f"s{n}", "edit *.rates", "sh check.sh", "sh report.sh")]
        [skill] = skills(mine(steps), SkillThresholds(3, 3))
        for folder in ProjectFolder().skills:
            file = self.project / folder / skill.name / "SKILL.md"
            file.parent.mkdir(parents=True)
            file.write_text(skill.text)
        _, forwarded = await self.turn("Hello again.", say="Hello.")
        if not any(skill.name in one.raw and "sh check.sh" in one.raw for one in forwarded):
            raise Failed("the runtime does not offer the skill to its model")

    async def _told(self) -> None:
        told: dict[str, Any] = {}

        async def habit() -> bool | None:
            nonlocal told
            told = await self.ask("api/habits")
            fixes = [fix for project in told["projects"] for fix in project["fixes"]]
            return any(FIX in str(fix["between"]) for fix in fixes) or None

        await self.soon(habit, lambda: f"no such fix: {json.dumps(told)[:400]}")
        await self.learnt()

    async def _weeks(self) -> None:
        await self.stop()
        age(self.folder / "palimpsest" / "journal.db", WEEKS)
        (self.project / "rates.env").write_text("EURUSD=1\n")
        await self.start()

    async def _again(self) -> None:
        calls = (self.client.shell("sh report.sh"),)
        _, forwarded = await self.turn("Good morning! The monthly report, please.", calls=calls, say="It fails.")
        failing = next((one for one in forwarded if ERROR in one.raw), None)
        if failing is None:
            raise Failed("the script did not fail")
        shown = [text for text in results(failing) if ERROR in text]
        dated = [text for text in shown if any(day in text for day in self._days)]
        if not any(FIX in text and "<recalled-memory>" in text for text in dated):
            raise Failed(
                f"no fix of {' or '.join(self._days)} in the result: {shown[-1][-500:] if shown else 'no result'}"
            )

    async def _other(self) -> None:
        (self.project / "report.sh").write_text("echo 'error: cannot open the frob_nicator' >&2; exit 4\n")
        calls = (self.client.shell("sh report.sh"),)
        _, forwarded = await self.turn("And the yearly one?", calls=calls, say="It fails too.")
        if any(FIX in text for one in forwarded for text in results(one)):
            raise Failed("the fix of another error stands in the result")


def age(journal: Path, by: timedelta) -> None:
    """Make all that is remembered older. The proxy must not run."""
    with sqlite3.connect(journal) as connection:
        for table, columns in TIMES.items():
            for column in columns:
                rows = connection.execute(f"SELECT number, {column} FROM {table} WHERE {column} IS NOT NULL")
                older = [((datetime.fromisoformat(at) - by).isoformat(), number) for number, at in rows.fetchall()]
                connection.executemany(f"UPDATE {table} SET {column} = ? WHERE number = ?", older)
        for table, columns in SECONDS.items():
            for column in columns:
                connection.execute(f"UPDATE {table} SET {column} = {column} - ?", (by.total_seconds(),))
    connection.close()


def results(one: Forwarded) -> Iterator[str]:
    """The texts of a request's tool results, in any wire format."""
    for item in one.messages:
        if item.get("role") == "tool" or str(item.get("type", "")).endswith("_call_output"):
            yield from _texts(item.get("content", item.get("output")))
        for part in item["content"] if isinstance(item.get("content"), list) else ():
            if isinstance(part, Mapping) and part.get("type") == "tool_result":
                yield from _texts(part.get("content"))


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield "\n".join(part.get("text", "") for part in content if isinstance(part, Mapping))
