"""Every page in a real browser: narrow and wide, light and dark, with scripts and without."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.chromium import Chromium
from tests.e2e.stage import Check
from tests.fake_provider import FakeProvider
from tests.proxy.api.asking import asking
from tests.running import Running

NAME = "palimpsest.localhost"
SIZES = ((360, 740), (1280, 900), (1920, 1080))
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE_CHECK = "axe finds nothing"
AXE = """
    const told = await axe.run(document, {runOnly: rules});
    return told.violations.map(each => each.id + ": " + each.nodes.map(node => node.html.slice(0, 160)).join(" | "));
"""
PEOPLE = (
    "Petra and Viktor run the Heron cluster in Basel with Rosa.",
    "Viktor asks Nadia before he restarts Grafana or Prometheus.",
    "Petra pays Hetzner and Cloudflare for the Loom project.",
    "Rosa, Petra and Tomasz review what goes to Terraform.",
    "Petra showed Nadia how Kafka and Redis are backed up in Zurich.",
)
"""What is told so that names stand beside each other."""
OPENS = "for (const each of document.querySelectorAll('details')) each.open = true"
"""Opens all that stands behind a line."""
FILLS = """
    const area = document.querySelector(`form[action$="${action}"] textarea, form[action$="${action}"] input[name=q]`);
    area.value = text;
    area.form.querySelector("button").click();
"""
"""Fills the text of a form in and sends it, as somebody would who has no scripts."""


@dataclass
class Looking:
    """Every page, looked at in a browser."""

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

    async def look(self) -> None:
        """Log in, and look at every page."""
        await self.browser.listen()
        await self.log_in()
        addresses = await self.addresses()
        for name, path in addresses.items():
            await self._looked_at(name, path)
        await self._without_scripts(addresses)

    async def log_in(self) -> None:
        """By a ticket, as somebody does at the terminal."""
        await self.browser.visit(self.root)
        self.check("without a session there is the way to one", "palimpsest open" in await self.text())
        await self.complaints("the way to a session", expected=("401",))
        if self.axe:
            await self._usable("the way to a session")
        if self.pictures:
            await self._pictured("login")
        told = await asking(self.proxy)("POST", "api/tickets", {}, status=201)
        await self.browser.visit(self.root + told["path"].removeprefix("/palimpsest/"), self.root)
        self.check("a ticket lets in", "Learnt today" in await self.text())
        self.check("no script reads the cookie", await self.browser.run("return document.cookie") == "")

    async def addresses(self) -> dict[str, str]:
        """The pages to look at, of single things one each."""
        ask = asking(self.proxy)
        memory = self.proxy.edge.memory
        assert memory is not None
        for text in PEOPLE:
            await ask("POST", "api/remember?project=loom", {"text": text}, status=201)
        await memory.entity_graph.catch_up()
        await ask("POST", "api/members?org=acme", {"user": "ada", "role": "owner"}, status=201)
        await ask("POST", "api/members?org=acme", {"user": "bob"}, status=201)
        await ask("PATCH", "api/members/bob?org=acme", {"role": "maintainer", "project": "loom"})
        await ask("POST", "api/keys", {"name": "laptop", "user": "bob", "org": "acme"}, status=201)
        facts = (await ask("GET", "api/facts?project=loom&limit=200"))["facts"]
        fact = next((each for each in facts if "PostgreSQL" in each["text"]), facts[0])["id"]
        often = max(facts, key=lambda each: int(each["sessions"]))["id"]
        [candidate, *_] = (await ask("GET", "api/candidates"))["candidates"]
        [found, *_] = (await ask("GET", "api/research"))["research"]
        [night, *_] = (await ask("GET", "api/nights"))["nights"]
        receipts = (await ask("GET", "api/log?limit=200"))["receipts"]
        shed = next(each for each in receipts if each["shed"])
        whole = await ask("GET", f"api/log/{shed['id']}")
        return {
            "today": "",
            "why": "why?project=loom",
            "request": f"requests/{shed['id']}",
            "content": f"content/{whole['shed']['parts'][0].split()[0]}",
            "memories": "memory",
            "search": "memory?q=database&project=loom",
            "memory": f"memory/{fact}",
            "said-often": f"memory/{often}",
            "no-results": "memory?q=zeppelin&kind=decision&state=archived",
            "wrong": f"memory/{fact}/wrong",
            "forget": f"memory/{fact}/forget",
            "if-it-holds": f"memory/{fact}/holds",
            "names": "names",
            "one-name": "names?name=petra",
            "review": "review",
            "candidate": f"review/{candidate['id']}",
            "approve": f"review/{candidate['id']}/approve",
            "edit": f"review/{candidate['id']}/edit",
            "page": "page?project=loom",
            "page-as-it-was": "page/history?project=loom",
            "sessions": "sessions",
            "session": f"sessions/{shed['session']}",
            "research": "research",
            "one-research": f"research/{found['handle']}",
            "stale": "research/stale",
            "nights": "nights",
            "night": f"nights/{night['number']}",
            "money": "money",
            "thresholds": "settings/try?trim=0.5",
            "health": "status",
            "organisation": "organisation?org=acme",
            "submit": f"review/{candidate['id']}/submit",
            "settings": "settings",
            "nothing": "memory/nothing-like-it",
        }

    async def _looked_at(self, name: str, path: str) -> None:
        for width, height in SIZES:
            await self.browser.sized(width, height)
            await self.browser.visit(self.root + path)
            where = f"{name}, {width} px"
            await self.complaints(where, expected=("404",) if name == "nothing" else ())
            await self._fits(where)
            # Dark is the same page in other colours, as it is for somebody whose evening comes while it is open.
            for dark in (False, True):
                colours = "dark" if dark else "light"
                await self.browser.sized(width, height, dark)
                if self.pictures:
                    # Of what it shows before anything is opened.
                    await self.browser.visit(self.root + path)
                    await self._pictured(f"{name}-{width}{'-dark' if dark else ''}")
                await self.browser.run(OPENS)
                await self._fits(f"{where}, {colours}, all opened")
                if self.axe:
                    await self._usable(f"{where}, {colours}")

    async def _fits(self, where: str) -> None:
        over = await self.browser.run(
            """const wide = document.documentElement.clientWidth;
            return document.documentElement.scrollWidth <= wide ? '' : 'too wide by '
                + (document.documentElement.scrollWidth - wide)"""
        )
        self.check(f"{where}: nothing sticks out", over == "", str(over))

    async def _usable(self, where: str) -> None:
        if not await self.browser.run("return 'axe' in window"):
            await self.browser.call("Runtime.evaluate", expression=self.axe)
        found = await self.browser.run(AXE, rules=RULES)
        self.check(f"{where}: {AXE_CHECK}", found == [], str(found))
        await self.browser.complaints()

    async def _pictured(self, name: str) -> None:
        assert self.pictures is not None
        await self.browser.picture(self.pictures / f"{name}.png")

    async def complaints(self, where: str, expected: tuple[str, ...] = ()) -> None:
        told = [each for each in await self.browser.complaints() if not any(code in each for code in expected)]
        self.check(f"{where}: the browser complains of nothing", told == [], str(told))

    async def _without_scripts(self, addresses: dict[str, str]) -> None:
        await self.browser.sized(*SIZES[1])
        await self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        try:
            for name, path in addresses.items():
                await self.browser.visit(self.root + path)
                head = await self.browser.run("return document.querySelector('h1')?.textContent ?? ''")
                self.check(f"{name}: it is there without scripts", bool(head), str(head))
            await self.browser.visit(f"{self.root}memory?project=loom")
            await self.browser.run("document.querySelector('details.add').open = true")
            await self.browser.run(FILLS, action="memory?project=loom", text="The mirror lives in Oslo.")
            self.check("a form works without scripts", await self.soon("The mirror lives in Oslo."))
        finally:
            await self.browser.call("Emulation.setScriptExecutionDisabled", value=False)
        await self.browser.complaints()

    async def text(self) -> str:
        return str(await self.browser.run("return document.body.innerText"))

    async def soon(self, text: str) -> bool:
        """Whether a page with this text comes up."""
        return await self.comes(
            "return document.readyState === 'complete' && document.body.innerText.includes(text)", text
        )

    async def comes(self, looked: str, text: str = "") -> bool:
        """Whether a script that looks for something, a ``text`` say, comes to say yes."""
        for _ in range(100):
            if await self.browser.run(looked, text=text) is True:
                return True
            await asyncio.sleep(0.05)
        return False

    async def within(self, text: str) -> bool:
        """Whether a text comes to the page that is open, which asks every few seconds."""
        for _ in range(4):
            if await self.soon(text):
                return True
        return False

    def check(self, name: str, passed: bool, detail: str = "") -> None:
        self.checks.append(Check(name, passed, detail))
        if not passed:
            print(f"FAILED {name}: {detail}", flush=True)
