"""The web page in a real Chromium: ``python -m tests.e2e.pages`` (needs Debian's ``chromium``, and npm for axe-core).

Every page is opened on a home with something on each, narrow and wide, light and dark, with scripts and without; the
browser must have nothing to complain of and axe-core nothing to find. Hostile texts must be texts; keys must decide
about a candidate; and what is set right on a page must be right in the next request that is forwarded.
``--pictures FOLDER`` writes a PNG of every page there.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from tests.e2e.chromium import Chromium, chromium, program
from tests.e2e.install import NotInstalled, install_axe
from tests.e2e.stage import Check
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.web.filled import SMALL, fill, projects
from tests.proxy.web.test_hostile import HOSTILE, plant
from tests.running import Running, running

NAME = "palimpsest.localhost"
SIZES = ((360, 740), (1280, 900))
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE = """
    const told = await axe.run(document, {runOnly: rules});
    return told.violations.map(each => each.id + ": " + each.nodes.map(node => node.html.slice(0, 160)).join(" | "));
"""
FILLS = """
    const area = document.querySelector(`form[action$="${action}"] textarea, form[action$="${action}"] input[name=q]`);
    area.value = text;
    area.form.querySelector("button").click();
"""
"""Fills the text of a form in and sends it, as somebody would who has no scripts."""


@dataclass
class Pages:
    """Everything that is tried."""

    browser: Chromium
    proxy: Running
    provider: FakeProvider
    rules: Path
    axe: str
    pictures: Path | None
    checks: list[Check] = field(default_factory=list)

    @property
    def root(self) -> str:
        """Where the pages are, under the name of their own."""
        return f"http://{NAME}:{self.proxy.url.rpartition(':')[2]}/palimpsest/"

    async def play(self) -> None:
        """All of it."""
        await self.browser.listen()
        await self._logged_in()
        addresses = await self._addresses()
        for name, path in addresses.items():
            await self._looked_at(name, path)
        await self._without_scripts(addresses)
        await self._hostile()
        await self._decided_by_keys()
        await self._set_right()

    async def _logged_in(self) -> None:
        await self.browser.visit(self.root)
        self._check("without a session there is the way to one", "palimpsest open" in await self._text())
        await self._complaints("the way to a session", expected=("401",))
        if self.axe:
            await self._usable("the way to a session")
        if self.pictures:
            await self._pictured("login")
        told = await asking(self.proxy)("POST", "api/tickets", {}, status=201)
        await self.browser.visit(self.root + told["path"].removeprefix("/palimpsest/"), self.root)
        self._check("a ticket lets in", "Learnt today" in await self._text())
        self._check("no script reads the cookie", await self.browser.run("return document.cookie") == "")

    async def _addresses(self) -> dict[str, str]:
        """The pages to look at, of single things one each."""
        ask = asking(self.proxy)
        memory = self.proxy.edge.memory
        assert memory is not None
        facts = (await ask("GET", "api/facts?project=loom&limit=200"))["facts"]
        fact = next((each for each in facts if "PostgreSQL" in each["text"]), facts[0])["id"]
        [candidate, *_] = (await ask("GET", "api/candidates"))["candidates"]
        [found, *_] = (await ask("GET", "api/research"))["research"]
        [night, *_] = (await ask("GET", "api/nights"))["nights"]
        receipts = (await ask("GET", "api/log?limit=200"))["receipts"]
        shed = next(each for each in receipts if each["shed"])
        return {
            "today": "",
            "why": "why?project=loom",
            "request": f"requests/{shed['id']}",
            "memories": "memory",
            "search": "memory?q=database&project=loom",
            "memory": f"memory/{fact}",
            "wrong": f"memory/{fact}/wrong",
            "forget": f"memory/{fact}/forget",
            "review": "review",
            "candidate": f"review/{candidate['id']}",
            "approve": f"review/{candidate['id']}/approve",
            "edit": f"review/{candidate['id']}/edit",
            "page": "page?project=loom",
            "sessions": "sessions",
            "session": f"sessions/{shed['session']}",
            "research": "research",
            "one-research": f"research/{found['handle']}",
            "stale": "research/stale",
            "nights": "nights",
            "night": f"nights/{night['number']}",
            "money": "money",
            "health": "status",
            "settings": "settings",
            "nothing": "memory/nothing-like-it",
        }

    async def _looked_at(self, name: str, path: str) -> None:
        for width, height in SIZES:
            for dark in (False, True):
                await self.browser.sized(width, height, dark)
                await self.browser.visit(self.root + path)
                where = f"{name}, {width} px, {'dark' if dark else 'light'}"
                await self._complaints(where, expected=("404",) if name == "nothing" else ())
                await self._fits(where)
                if self.axe:
                    await self._usable(where)
                if self.pictures:
                    await self._pictured(f"{name}-{width}{'-dark' if dark else ''}")

    async def _fits(self, where: str) -> None:
        over = await self.browser.run(
            """const wide = document.documentElement.clientWidth;
            return document.documentElement.scrollWidth <= wide ? '' : 'too wide by '
                + (document.documentElement.scrollWidth - wide)"""
        )
        self._check(f"{where}: nothing sticks out", over == "", str(over))

    async def _usable(self, where: str) -> None:
        await self.browser.call("Runtime.evaluate", expression=self.axe)
        found = await self.browser.run(AXE, rules=RULES)
        self._check(f"{where}: axe finds nothing", found == [], str(found))
        await self.browser.complaints()

    async def _pictured(self, name: str) -> None:
        assert self.pictures is not None
        await self.browser.picture(self.pictures / f"{name}.png")

    async def _complaints(self, where: str, expected: tuple[str, ...] = ()) -> None:
        told = [each for each in await self.browser.complaints() if not any(code in each for code in expected)]
        self._check(f"{where}: the browser complains of nothing", told == [], str(told))

    async def _without_scripts(self, addresses: dict[str, str]) -> None:
        await self.browser.sized(*SIZES[1])
        await self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            for name, path in addresses.items():
                await self.browser.visit(self.root + path)
                head = await self.browser.run("return document.querySelector('h1')?.textContent ?? ''")
                self._check(f"{name}: it is there without scripts", bool(head), str(head))
            await self.browser.visit(f"{self.root}memory?project=loom")
            await self.browser.run("document.querySelector('details.add').open = true")
            await self.browser.run(FILLS, action="memory?project=loom", text="The mirror lives in Oslo.")
            self._check("a form works without scripts", await self._soon("The mirror lives in Oslo."))
        finally:
            await self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        await self.browser.complaints()

    async def _hostile(self) -> None:
        """Texts that are programs elsewhere are texts here: no markup, so that the policy has nothing to refuse."""
        planted = await plant(self.proxy, self.provider)
        for path in ("", "memory", "memory?q=heron", *planted, "review", "page?project=loom", "why", "sessions"):
            await self.browser.visit(self.root + path)
            await self._complaints(f"hostile texts at /{path}")
            ran = await self.browser.run("return [window.hacked, document.querySelectorAll('main img').length].join()")
            self._check(f"hostile texts at /{path}: nothing runs", ran == ",0", str(ran))
        await self.browser.visit(self.root + planted[0])
        shown = await self._text()
        self._check("hostile texts are shown as they are", HOSTILE[0].partition(">")[0] in shown, shown[:300])

    async def _decided_by_keys(self) -> None:
        await self.browser.visit(f"{self.root}review")
        title = await self.browser.run("return document.activeElement.querySelector('h2 a').textContent")
        rule = str(title)
        await self.browser.press("a")
        self._check("a: what would be written is shown", await self._soon("Approve this?"))
        self._check("nothing is written before", not self._written(rule))
        await self.browser.press("a")
        self._check("a, again: it is approved", await self._soon("Approved:"))
        self._check("two keys, and it stands in CONVENTIONS.md", self._written(rule), rule)
        await self._focused_undo()
        await self.browser.press("u")
        self._check("u: what would be taken back is shown", await self._soon("Take this back?"))
        await self.browser.press("u")
        self._check("u, again: it is taken back", await self._soon("Taken back:"))
        self._check("it stands in CONVENTIONS.md no more", not self._written(rule))
        await self._first()
        await self.browser.press("d")
        self._check("d: it is deferred", await self._soon("Deferred:"))
        await self._focused_undo()
        await self.browser.press("u")
        self._check("u: it waits again", await self._soon("Waits again:"))
        await self._first()
        await self.browser.press("e")
        self._check("e: it can be put in other words", await self._soon("In your words"))
        await self.browser.run(FILLS, action="/approve", text="Install packages with pnpm and nothing else.")
        self._check("its own words are shown", await self._soon("Install packages with pnpm and nothing else."))
        await self.browser.run("document.querySelector('[data-candidate]').focus()")
        await self.browser.press("a")
        self._check("they are approved", await self._soon("Approved:"))
        self._check("they stand in CONVENTIONS.md", self._written("Install packages with pnpm and nothing else."))
        await self._complaints("deciding by keys")

    async def _focused_undo(self) -> None:
        await self.browser.run("document.querySelector('.undo button').focus()")

    async def _first(self) -> None:
        await self.browser.visit(f"{self.root}review")
        await self.browser.run("document.querySelector('[data-candidate]').focus()")

    async def _set_right(self) -> None:
        """A wrong memory that is set right on a page is right in the next request."""
        ask = asking(self.proxy)
        told = await ask(
            "POST", "api/remember?project=loom", {"text": "The release train leaves on Tuesday."}, status=201
        )
        await self.browser.visit(f"{self.root}memory/{told['id']}/wrong")
        await self.browser.run(FILLS, action="/edit", text="The release train leaves on Thursday.")
        self._check("a wrong memory is set right", await self._soon("Set right."))
        await self.proxy.learned()
        await self.proxy.chat("When does the release train leave?", session="train")
        said = str(orjson.loads(self.provider.last.body)["messages"])
        self._check(
            "the next request has it as it was set right",
            "leaves on Thursday" in said and "leaves on Tuesday" not in said,
            said[-600:],
        )

    def _written(self, rule: str) -> bool:
        return self.rules.exists() and rule in self.rules.read_text()

    async def _text(self) -> str:
        return str(await self.browser.run("return document.body.innerText"))

    async def _soon(self, text: str) -> bool:
        """Whether a page with this text comes up."""
        looked = "return document.readyState === 'complete' && document.body.innerText.includes(text)"
        for _ in range(100):
            if await self.browser.run(looked, text=text) is True:
                return True
            await asyncio.sleep(0.05)
        return False

    def _check(self, name: str, passed: bool, detail: str = "") -> None:
        self.checks.append(Check(name, passed, detail))
        if not passed:
            print(f"FAILED {name}: {detail}", flush=True)


@asynccontextmanager
async def filled() -> AsyncIterator[tuple[Running, FakeProvider, Path]]:
    """A proxy whose home has something on every page, its provider, and the file of a project's rules."""
    with tempfile.TemporaryDirectory(prefix="palimpsest-pages-") as folder:
        checkout = Path(folder) / "checkout"
        options: dict[str, Any] = {"projects": projects(checkout), **SMALL}
        async with fake_provider() as provider, running(provider, Path(folder) / "home", **options) as proxy:
            await fill(proxy, provider)
            yield proxy, provider, checkout / "CONVENTIONS.md"


async def play(name: str, axe: str, pictures: Path | None) -> list[Check]:
    """Everything, in a browser of its own."""
    async with filled() as (proxy, provider, rules), chromium(name) as browser:
        pages = Pages(browser, proxy, provider, rules, axe, pictures)
        await pages.play()
        return pages.checks


def main() -> int:
    """Play, and tell; the process's status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pictures", type=Path, help="write a PNG of every page into this folder")
    given = parser.parse_args()
    name = program()
    if name is None:
        print("SKIPPED: there is no chromium here (apt-get install chromium)")
        return 0
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    try:
        axe = install_axe().read_text(encoding="utf-8")
    except NotInstalled as error:
        print(f"without axe-core: {error}")
        axe = ""
    checks = asyncio.run(play(name, axe, given.pictures))
    passed = sum(check.passed for check in checks)
    print(f"{passed} passed, {len(checks) - passed} failed")
    return 0 if passed == len(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
