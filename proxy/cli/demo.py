"""``palimpsest demo``: two sessions through the real proxy before a scripted model, with nothing to set up.

The proxy, its stores and its worker are the real ones, in a throwaway folder; only the model is made up.
"""

from __future__ import annotations

import asyncio
import logging
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from memory.scope import Scope
from proxy.cli import output, wording
from proxy.cli.options import Json

PROJECT = "demo"
FIRST = (
    "We always use pnpm instead of npm in this project.",
    "We decided to put the API on port 7311, because Jenkins has 8080. Please remember that.",
    "The nightly export to Lisbon failed again: the certificate of the mail relay had run out. Rosa renews it by hand.",
)
SECOND = "Why did the export to Lisbon fail the last time?"
NOISE = "What is the capital of Mongolia?"
ROUNDS = 5


@dataclass
class DemoResult:
    """What the demonstration saw. ``added`` is the text that the proxy put into the second session's request, and
    ``nothing`` says why nothing was recalled for it, where nothing was; milliseconds are medians of a few rounds, with
    the model's own time in both."""

    said: list[str] = field(default_factory=list)
    learned: list[dict[str, Any]] = field(default_factory=list)
    asked: str = SECOND
    sent: str = ""
    added: str = ""
    bytes_added: int = 0
    recalled: list[dict[str, Any]] = field(default_factory=list)
    nothing: str = ""
    answer: str = ""
    unrelated: str = NOISE
    unrelated_recalled: int = 0
    direct_ms: float = 0.0
    through_ms: float = 0.0
    prepare_ms: float = 0.0


def demo(
    story: Annotated[
        bool, typer.Option("--story", help="Two weeks of one developer: rules, a migration, a night, an approval.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Show it: two sessions, what was learned, what was recalled, and the bytes that were added. Needs no key."""
    logging.getLogger().setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="palimpsest-demo-") as folder:
        if story:
            _story(Path(folder), as_json)
            return
        seen = asyncio.run(play(Path(folder)))
    if as_json:
        output.as_json(asdict(seen))
    else:
        _print(seen)


def _story(folder: Path, as_json: bool) -> None:
    from proxy.cli.demo_story import play as played
    from proxy.cli.demo_story import print_story

    (folder / "project").mkdir()
    scenes = asyncio.run(played(folder / "home", folder / "project"))
    if as_json:
        output.as_json({"scenes": [asdict(each) for each in scenes]})
    else:
        print_story(scenes)


async def play(home: Path) -> DemoResult:
    """The two sessions."""
    import aiohttp

    from proxy.cli.scripted_model import newest, scripted_model

    seen = DemoResult()
    async with scripted_model() as model, _proxy(model.url, home) as (url, edge), aiohttp.ClientSession() as client:

        async def say(messages: list[dict[str, str]], session: str, base: str = url) -> tuple[str, float, str]:
            headers = {"Authorization": "Bearer no-key-needed", "x-palimpsest-project": PROJECT}
            headers["x-palimpsest-session"] = session
            began = time.perf_counter()
            body = {"model": "scripted", "messages": messages}
            async with client.post(f"{base}/chat/completions", json=body, headers=headers) as reply:
                data = await reply.json()
                receipt = reply.headers.get("x-palimpsest-receipt", "")
            return data["choices"][0]["message"]["content"], (time.perf_counter() - began) * 1000, receipt

        history: list[dict[str, str]] = []
        for text in FIRST:
            history.append({"role": "user", "content": text})
            reply, _, _ = await say(history, "first")
            history.append({"role": "assistant", "content": reply})
            seen.said += [text, reply]
        assert edge.memory is not None
        while edge.beside:
            await asyncio.wait(edge.beside)
        await edge.memory.learner.catch_up()
        owners = await edge.memory.commands.everything_of(Scope(edge.settings.org, edge.settings.user))
        seen.learned = [
            {"text": fact.text, "kind": fact.kind, "confidence": fact.confidence, "importance": fact.importance}
            for fact in await edge.memory.commands.facts(owners)
        ]

        seen.sent = SECOND
        seen.answer, _, name = await say([{"role": "user", "content": SECOND}], "second")
        seen.added = newest(model.bodies[-1]).removeprefix(SECOND)
        while edge.beside:
            await asyncio.wait(edge.beside)
        receipt = await edge.memory.journal.receipt(name)
        if receipt is not None:
            seen.bytes_added = receipt.bytes_added
            seen.nothing = "" if receipt.shown else receipt.note or receipt.status
            seen.recalled = [{"text": each.text, "why": dict(each.why)} for each in receipt.shown]
            seen.prepare_ms = receipt.steps.get("prepare", 0.0)

        _, _, name = await say([{"role": "user", "content": NOISE}], "third")
        while edge.beside:
            await asyncio.wait(edge.beside)
        receipt = await edge.memory.journal.receipt(name)
        seen.unrelated_recalled = len(receipt.shown) if receipt else 0

        direct, through = [], []
        for turn in range(ROUNDS):
            message = [{"role": "user", "content": f"{SECOND} ({turn})"}]
            direct.append((await say(message, f"direct {turn}", model.url))[1])
            through.append((await say(message, f"through {turn}"))[1])
        seen.direct_ms, seen.through_ms = sorted(direct)[ROUNDS // 2], sorted(through)[ROUNDS // 2]
    return seen


@asynccontextmanager
async def _proxy(upstream: str, home: Path) -> AsyncIterator[tuple[str, Any]]:
    """The real proxy before a model."""

    from proxy.app import listening, make_app
    from proxy.cli.scripted_model import UNHURRIED
    from proxy.edge import EDGE
    from proxy.settings import load

    settings = load(options={"home": str(home), "upstream.url": upstream, **UNHURRIED}).settings
    app = make_app(settings)
    async with listening(app) as url:
        yield f"{url}/v1", app[EDGE]


def _print(seen: DemoResult) -> None:
    from rich.panel import Panel
    from rich.text import Text

    console = output.screen()

    def panel(title: str, *lines: Text | str) -> None:
        body = Text("\n").join(line if isinstance(line, Text) else Text(line) for line in lines)
        console.print(
            Panel(body, title=Text(title), title_align="left", border_style="dim", expand=console.is_terminal)
        )

    spoken = [
        Text.assemble(("you    " if turn % 2 == 0 else "model  ", "dim"), text) for turn, text in enumerate(seen.said)
    ]
    panel("The first session", *spoken)
    panel(
        "What was learned from it",
        *(Text.assemble((f"{each['kind']:<12} ", "dim"), each["text"]) for each in seen.learned),
    )
    panel(
        "The second session, which knows nothing of the first",
        Text.assemble(("you    ", "dim"), seen.sent),
        Text.assemble(("model  ", "dim"), seen.answer),
    )
    recalled = [
        Text.assemble(
            each["text"],
            ("  (" + ", ".join(f"{name} {value:.2f}" for name, value in each["why"].items()) + ")", "dim"),
        )
        for each in seen.recalled
    ]
    panel("What was recalled for it, and why", *(recalled or [Text(f"nothing: {seen.nothing}")]))
    panel(
        f"The {seen.bytes_added} bytes that were added to the request, and nothing else changed",
        Text(seen.added.strip("\n"), "green"),
    )
    unrelated = wording.count(seen.unrelated_recalled, "memory")
    console.print(
        f"A question that has nothing to do with it ({seen.unrelated!r}) recalled {unrelated}.\n"
        f"Preparing the request took {seen.prepare_ms:.1f} ms; a whole answer took {seen.through_ms:.1f} ms through\n"
        f"the proxy and {seen.direct_ms:.1f} ms without it.\n\nNow start it: {wording.program()} serve"
    )
