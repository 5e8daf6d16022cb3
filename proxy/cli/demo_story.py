"""``palimpsest demo --story``: two weeks of one developer in less than a minute, through the real proxy with its clock
moved.

The proxy, its stores, its worker, the night and the approval are the real ones, in a throwaway folder; only the model
and the clock are made up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from proxy.cli import output, wording
from proxy.cli.scripted_model import UNHURRIED, ScriptedModel, newest, scripted_model

PROJECT = "orders"
EARLY, NIGHT = 5, 13
"""The day after which the page is shown first, and that of the night."""

MAX_SPEAKER_CHARS = 30
"""Letters of who said something."""

PATIENCE = 60.0
"""Seconds that a night may take."""


@dataclass(frozen=True, slots=True)
class Day:
    """A session on one of the days: what is said in it, turn by turn."""

    day: int
    title: str
    said: tuple[str, ...]
    hour: int = 10


SERVICE = "the orders service"
RULE = "Write all commit messages as conventional commits."
DAYS = (
    Day(
        1,
        "The first session: rules, and a decision",
        (
            "We always use pnpm instead of npm in this project.",
            f"We decided to use MySQL 8 for {SERVICE}. Please remember that.",
            "Never push to main without asking me first.",
        ),
    ),
    Day(2, "Another session knows them", ("Which database does the orders service use?",)),
    Day(3, "A correction, and a rule", ("No, don't use jest here, use vitest for the unit tests.", RULE)),
    *(Day(day, "The same rule, said in yet another session", (RULE,)) for day in (5, 6, 8)),
    Day(
        9,
        "A migration",
        ("We switched the orders service from MySQL 8 to PostgreSQL 16 yesterday. Please remember that.",),
    ),
    Day(
        10,
        "An exception",
        (RULE, "Only in the folder legacy/ we keep npm, because the lockfile there is npm's."),
    ),
)
AFTER = (
    Day(14, "Two weeks later, a new session", ("Which database does the orders service use?",)),
    Day(14, "And another one", ("Which package manager is right in the folder legacy/?",), 11),
    Day(14, "Something that has nothing to do with it", ("What is the capital of Mongolia?",), 12),
)


@dataclass
class StoryTurn:
    """What the person said, and what memory put behind it: the page's lines, and what was recalled."""

    said: str
    page: list[str] = field(default_factory=list)
    recalled: list[str] = field(default_factory=list)


@dataclass
class Scene:
    """What happened once: turns, or ``lines`` that are to be seen."""

    day: int
    at: str
    title: str
    turns: list[StoryTurn] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


@dataclass
class Clock:
    """What time it is in the story."""

    at: datetime

    def __call__(self) -> datetime:
        return self.at


async def play(home: Path, folder: Path) -> list[Scene]:
    """The two weeks. ``folder`` is where the project's file is written."""
    today = datetime.now().astimezone().replace(hour=9, minute=0, second=0, microsecond=0)
    clock = Clock(today - timedelta(days=15))
    async with scripted_model(tells=False) as model, _playing(model, home, folder, clock) as teller:
        scenes = [await teller.session(day) for day in DAYS if day.day <= EARLY]
        scenes.append(await teller.page("The page, MEMORY.md, by now"))
        scenes += [await teller.session(day) for day in DAYS if day.day > EARLY]
        scenes.append(await teller.night())
        scenes += await teller.approval()
        scenes.append(await teller.page("The page now"))
        scenes.append(await teller.past())
        scenes += [await teller.session(day) for day in AFTER]
    return scenes


@asynccontextmanager
async def _playing(model: ScriptedModel, home: Path, folder: Path, clock: Clock) -> AsyncIterator[StoryPlayer]:
    import aiohttp

    from proxy.app import listening, make_app
    from proxy.edge import EDGE
    from proxy.settings import load

    options = {
        "home": str(home),
        "upstream.url": model.url,
        "projects": {PROJECT: {"folder": str(folder)}},
        **UNHURRIED,
    }
    app = make_app(load(options=options).settings, now=clock)
    async with listening(app) as url, aiohttp.ClientSession() as client:
        yield StoryPlayer(url, app[EDGE], client, model, clock)


class StoryPlayer:
    """Plays a developer before the proxy, and asks it as the command line does."""

    def __init__(self, url: str, edge: Any, client: Any, model: ScriptedModel, clock: Clock) -> None:
        self._url = url
        self._edge = edge
        self._client = client
        self._model = model
        self._clock = clock
        self._began = clock.at

    async def session(self, day: Day) -> Scene:
        """One session, whole."""
        self._move(day.day, day.hour)
        scene, history = self._scene(day.title), list[dict[str, str]]()
        for text in day.said:
            history.append({"role": "user", "content": text})
            reply = await self._say(history, f"day {day.day} {day.hour} {day.title}")
            history.append({"role": "assistant", "content": reply})
            scene.turns.append(_turn(text, newest(self._model.bodies[-1])))
            self._clock.at += timedelta(minutes=5)
        await self._learned()
        return scene

    async def night(self) -> Scene:
        """What is consolidated, and what that changed."""
        self._move(NIGHT, 23)
        await self._ask("POST", "api/consolidate", {})
        async with asyncio.timeout(PATIENCE):
            await self._learned()
        response = await self._ask("GET", "api/consolidate")
        scene = self._scene("A night: what was said is consolidated")
        for night in response["night"]["nights"]:
            for change in night["changes"]:
                scene.lines.append(f"{change['action']}: {change['why']}")
                scene.lines += [f"  {'+' if fact['made'] else '-'} {fact['text']}" for fact in change["facts"]]
            scene.lines += [f"put forward, {each['why']}: {each['title']}" for each in night["candidates"]]
        return scene

    async def approval(self) -> list[Scene]:
        """What waits for a person, and a yes to it."""
        self._move(NIGHT + 1, 9)
        scenes = []
        for each in (await self._ask("GET", "api/candidates"))["candidates"]:
            path = f"api/candidates/{each['id']}/approve"
            would = await self._ask("POST", path, {})
            lines = [line for file in would["files"] for line in file["diff"].splitlines() if line[:1] in "+-"]
            await self._ask("POST", path, {"confirm": would["confirm"]})
            scene = self._scene(f"A rule waits for a person ({each['why']}); approved, it is written for everybody")
            scene.lines = [line for line in lines if not line.startswith(("+++", "---"))]
            scenes.append(scene)
        return scenes

    async def page(self, title: str) -> Scene:
        """MEMORY.md, line by line."""
        scene = self._scene(title)
        response = await self._ask("GET", f"api/page?project={PROJECT}")
        scene.lines = [line for line in response["text"].splitlines() if line.startswith("- ")]
        return scene

    async def past(self) -> Scene:
        """What something newer took the place of: it is kept, and found by who asks for that time."""
        scene = self._scene("What holds no longer")
        response = await self._ask("GET", f"api/facts?project={PROJECT}&state=superseded")
        scene.lines = [f"- {each['text']}" for each in response["facts"]]
        return scene

    def _move(self, day: int, hour: int) -> None:
        self._clock.at = self._began + timedelta(days=day, hours=hour - 9)

    def _scene(self, title: str) -> Scene:
        return Scene((self._clock.at - self._began).days, self._clock.at.isoformat(), title)

    async def _say(self, messages: Sequence[dict[str, str]], session: str) -> str:
        headers = {"x-palimpsest-project": PROJECT, "x-palimpsest-session": session}
        body = {"model": "scripted", "messages": list(messages)}
        async with self._client.post(f"{self._url}/v1/chat/completions", json=body, headers=headers) as reply:
            text: str = (await reply.json())["choices"][0]["message"]["content"]
            return text

    async def _learned(self) -> None:
        while self._edge.beside:
            await asyncio.wait(self._edge.beside)
        await self._edge.memory.learner.catch_up()

    async def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._edge.token}"}
        async with self._client.request(method, f"{self._url}/palimpsest/{path}", json=body, headers=headers) as reply:
            data: dict[str, Any] = await reply.json()
            if "error" in data:
                raise RuntimeError(data["error"])
            return data


def _turn(text: str, sent: str) -> StoryTurn:
    """A turn, by what reached the model."""
    page = sent.partition("<memory-page>")[2].partition("</memory-page>")[0]
    recalled = sent.partition("<recalled-memory>")[2].partition("</recalled-memory>")[0]
    turn, day = StoryTurn(text, [line for line in page.splitlines() if line.startswith("- ")]), ""
    for line in recalled.splitlines()[2:]:
        who, colon, _ = line.partition(": ")
        if colon and len(who) < MAX_SPEAKER_CHARS:
            turn.recalled.append(f"{day}  {line}".strip())
        elif line:
            day = line
    return turn


def print_story(scenes: Sequence[Scene]) -> None:
    """The story on a terminal. A page that is as it was is only counted."""
    from rich.text import Text

    console = output.screen()
    page: list[str] = []
    for scene in scenes:
        console.print(Text(f"\nday {scene.day}, {scene.at[:10]}  {scene.title}", "bold"), soft_wrap=True)
        for turn in scene.turns:
            console.print(Text.assemble(("  you     ", "dim"), turn.said), soft_wrap=True)
            if turn.page and turn.page == page:
                console.print(
                    Text(f"  memory  the page as before, {wording.count(len(page), 'line')}", "dim"), soft_wrap=True
                )
            for place, line in enumerate(turn.page if turn.page != page else []):
                console.print(
                    Text.assemble(("  page    " if not place else "          ", "dim"), (line, "green")), soft_wrap=True
                )
            page = turn.page or page
            for place, line in enumerate(turn.recalled):
                console.print(
                    Text.assemble(("  recall  " if not place else "          ", "dim"), (line, "green")), soft_wrap=True
                )
        for line in scene.lines:
            console.print(Text(f"  {line}", "green" if line.startswith("+") else ""), soft_wrap=True)
        if not scene.turns and not scene.lines:
            console.print(Text("  nothing", "dim"), soft_wrap=True)
    end = "All of it went through the real proxy; only the model and the clock were made up."
    console.print(f"\n{end}\nNow start it: {wording.program()}", soft_wrap=True)
