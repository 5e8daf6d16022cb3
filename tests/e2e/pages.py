"""The web page in a real Chromium: ``python -m tests.e2e.pages`` (needs Debian's ``chromium``, and npm for axe-core).

Every page is opened on a home with something on each, in three widths, light and dark, with scripts and without; the
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from aiohttp import web

from proxy.web.review import WEIGHED
from tests.e2e.browser import served
from tests.e2e.chromium import LEFT_OUT, chromium, program
from tests.e2e.install import NotInstalled, install_axe
from tests.e2e.looking import AXE_CHECK, FILLS, NAME, Looking
from tests.e2e.stage import Check
from tests.fake_provider import FakeProvider, fake_provider
from tests.proxy.api.asking import asking
from tests.proxy.drafts import draft
from tests.proxy.web.filled import SMALL, fill, projects
from tests.proxy.web.test_hostile import HOSTILE, plant
from tests.running import Running, running

ATTEMPTS = {
    "a request with the cookie": """
        const reply = await fetch(target, {credentials: "include"});
        return await reply.text()""",
    "a form in a frame": """
        const frame = document.createElement("iframe"); frame.name = "frame";
        const form = document.createElement("form");
        Object.assign(form, {method: "POST", target: "frame", action: target});
        const input = document.createElement("input");
        [input.name, input.value] = ["text", "I always use wicked.example."];
        form.append(input); document.body.append(frame, form);
        const loaded = new Promise(done => frame.addEventListener("load", done));
        form.submit(); await loaded;
        return frame.contentDocument?.body.textContent ?? ''""",
    "a form that is sent by a script": """
        const reply = await fetch(target, {method: "POST", mode: "no-cors", credentials: "include",
            body: new URLSearchParams({text: "I always use wicked.example."})});
        return reply.type === "opaque" ? '' : await reply.text()""",
    "a frame": """
        const frame = document.createElement("iframe"); frame.src = target; document.body.append(frame);
        await new Promise(done => frame.addEventListener("load", done));
        return frame.contentDocument?.body.textContent ?? ''""",
    "a window": """
        const opened = window.open(target);
        await new Promise(done => setTimeout(done, 500));
        return opened?.document?.body?.textContent ?? ''""",
}
"""What a page tries on another port; each returns what it could read."""

WITHOUT_AXE = "LEFT OUT: axe-core is not here, so it was not looked for what some people cannot use"

FOCUSES = "document.querySelector(within).querySelector('[data-candidate]').focus()"
"""Puts the focus on the first of a part of the page."""


@dataclass
class Pages(Looking):
    """What is tried beside."""

    async def play(self) -> None:
        """All of it."""
        await self.look()
        await self._hostile()
        await self._another_port()
        await self._decided_by_keys()
        await self._set_right()
        await self._brought_up_to_date()

    async def _hostile(self) -> None:
        """Texts that are programs elsewhere are texts here: no markup, so that the policy has nothing to refuse."""
        planted = await plant(self.proxy, self.provider)
        for path in ("", "memory", "memory?q=heron", *planted, "review", "page?project=loom", "why", "sessions"):
            await self.browser.visit(self.root + path)
            await self.complaints(f"hostile texts at /{path}")
            ran = await self.browser.run("return [window.hacked, document.querySelectorAll('main img').length].join()")
            self.check(f"hostile texts at /{path}: nothing runs", ran == ",0", str(ran))
        await self.browser.visit(self.root + planted[0])
        shown = await self.text()
        self.check("hostile texts are shown as they are", HOSTILE[0].partition(">")[0] in shown, shown[:300])

    async def _another_port(self) -> None:
        """A page on another port of the same name is sent the cookie, and can neither read nor change anything."""
        cookies: list[str] = []

        async def page(request: web.Request) -> web.Response:
            cookies.append(request.headers.get("Cookie", ""))
            return web.Response(text="<!doctype html><title>a page</title><body>", content_type="text/html")

        async with served(page) as port:
            await self.browser.visit(f"http://{NAME}:{port}/palimpsest/")
            self.check("another port: it is sent the cookie, as browsers are", "palimpsest-page-" in cookies[0])
            for name, script in ATTEMPTS.items():
                read = await self.browser.run(script, target=f"{self.root}memory")
                self.check(f"another port: {name} reads nothing", read == "", str(read))
        facts = (await asking(self.proxy)("GET", "api/facts?limit=1000"))["facts"]
        self.check("another port: nothing is written", not [each for each in facts if "wicked" in each["text"]])
        await self.browser.complaints()

    async def _decided_by_keys(self) -> None:
        await self.browser.visit(f"{self.root}review")
        title = await self.browser.run("return document.activeElement.querySelector('h2 a').textContent")
        rule = str(title)
        await self.browser.press("a")
        self.check("a: what would be written is shown", await self.soon("Approve this?"))
        self.check("nothing is written before", not self._written(rule))
        await self.browser.press("a")
        self.check("a, again: it is approved", await self.soon("Approved:"))
        self.check("two keys, and it stands in CONVENTIONS.md", self._written(rule), rule)
        await self._focused_undo()
        await self.browser.press("u")
        self.check("u: what would be taken back is shown", await self.soon("Take this back?"))
        await self.browser.press("u")
        self.check("u, again: it is taken back", await self.soon("Taken back:"))
        self.check("it stands in CONVENTIONS.md no more", not self._written(rule))
        await self._first()
        await self.browser.press("d")
        self.check("d: it is deferred", await self.soon("Deferred:"))
        await self._focused_undo()
        await self.browser.press("u")
        self.check("u: it waits again", await self.soon("Waits again:"))
        await self._first()
        await self.browser.press("e")
        self.check("e: it can be put in other words", await self.soon("In your words"))
        await self.browser.run(FILLS, action="/approve", text="Install packages with pnpm and nothing else.")
        self.check("its own words are shown", await self.soon("Install packages with pnpm and nothing else."))
        await self.browser.run("document.querySelector('[data-candidate]').focus()")
        await self.browser.press("a")
        self.check("they are approved", await self.soon("Approved:"))
        self.check("they stand in CONVENTIONS.md", self._written("Install packages with pnpm and nothing else."))
        await self._weighed_in_focus()
        await self._drafts_and_rivals_by_keys()
        await self.complaints("deciding by keys")

    async def _weighed_in_focus(self) -> None:
        """A draft behind the first ones says what it would change when it comes into the focus."""
        ask = asking(self.proxy)
        held = await ask("POST", "api/remember?project=loom", {"text": "The attic has three lamps"}, status=201)
        records = [draft(held["owner"], f"The attic has {number} windows") for number in range(4, 5 + WEIGHED)]
        for record in records:
            await ask("POST", "api/import/records?project=loom", record)
        # A window that nobody looks at tells no page of what comes into the focus.
        await self.browser.call("Emulation.setFocusEmulationEnabled", enabled=True)
        await self.browser.visit(f"{self.root}review")
        await self.browser.run(
            "document.querySelector('#drafts [data-candidate] [data-more]').closest('.draft').focus()"
        )
        inside = "return document.activeElement.querySelector('.weighed .hint') !== null"
        self.check("a draft in the focus says what it would change", await self.comes(inside))
        await self.browser.visit(f"{self.root}review")
        await self.browser.run("document.querySelector('#drafts a[data-more]').focus()")
        came = "return performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/holds'))"
        self.check("the link to it in the focus asks for it, too", await self.comes(came))
        stays = "return document.activeElement.matches('a[data-more]')"
        self.check("the link stays while it has the focus", await self.browser.run(stays) is True)
        await self.browser.run("document.activeElement.blur()")
        gone = "return document.querySelector('#drafts a[data-more]') === null"
        self.check("what was asked for takes its place then", await self.comes(gone))
        await ask("POST", "api/forget?project=loom", {"ids": [each["id"] for each in records]})

    async def _drafts_and_rivals_by_keys(self) -> None:
        """A draft is put off, taken back and dismissed, and a contradiction settled, by one key each."""
        memory, ask = self.proxy.edge.memory, asking(self.proxy)
        assert memory is not None
        held = [
            await ask("POST", "api/remember?project=loom", {"text": f"The spare key lies with {who}"}, status=201)
            for who in ("Rosa", "Tom")
        ]
        await ask("POST", "api/import/records?project=loom", draft(held[0]["owner"]))
        one, other = await memory.journal.facts([each["id"] for each in held], [held[0]["owner"]])
        await memory.journal.update(replace(one, contradicts=(other.id,)))
        await memory.journal.update(replace(other, contradicts=(one.id,)))
        await self.browser.visit(f"{self.root}review")
        await self.browser.run(FOCUSES, within="#drafts")
        for key, word in (("d", "Put off:"), ("u", "Waits again:"), ("r", "Dismissed:")):
            await self.browser.press(key)
            self.check(f"{key} on a draft: {word}", await self.soon(word))
            if key == "d":
                await self._focused_undo()
            else:
                await self.browser.run(FOCUSES, within="#drafts")
        await self.browser.visit(f"{self.root}review")
        await self.browser.run(FOCUSES, within="#contradictions")
        await self.browser.press("2")
        self.check("2 on a contradiction: that one holds", await self.soon("Confirmed:"))
        left = await memory.journal.facts([one.id, other.id], [held[0]["owner"]])
        self.check("the other holds no more", sorted(each.state for each in left) == ["active", "superseded"])
        await self._focused_undo()
        await self.browser.press("u")
        self.check("u: the contradiction is as it was", await self.soon("As it was:"))
        left = await memory.journal.facts([one.id, other.id], [held[0]["owner"]])
        self.check("both hold again", [each.state for each in left] == ["active", "active"])

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
        self.check("a wrong memory is set right", await self.soon("Set right."))
        await self.proxy.learned()
        await self.proxy.chat("When does the release train leave?", session="train")
        said = str(orjson.loads(self.provider.last.body)["messages"])
        self.check(
            "the next request has it as it was set right",
            "leaves on Thursday" in said and "leaves on Tuesday" not in said,
            said[-600:],
        )

    async def _brought_up_to_date(self) -> None:
        """Today changes by itself while nobody has a hand on it; else a line tells, and nothing moves."""
        place = "return document.activeElement.getBoundingClientRect().top"
        await self.browser.visit(self.root)
        await self._said("I prefer maps over tables of distances.", "maps")
        self.check("what was learnt comes by itself", await self.within("I prefer maps over tables of distances."))
        self.check("a line tells that", "Brought up to date: " in await self.text())
        await self.browser.run("document.querySelector('#live [data-list=learnt] button').focus()")
        before = await self.browser.run(place)
        await self._said("I prefer globes over flat maps.", "globes")
        self.check("with the focus on it only a line tells", await self.within("1 new memory: show"))
        self.check("nothing has moved", await self.browser.run(place) == before)
        self.check("and nothing has come", "globes over flat maps" not in await self.text())
        await self.browser.run("document.activeElement.blur()")
        self.check("it comes when the focus is gone", await self.within("I prefer globes over flat maps."))
        await self.complaints("a page that is brought up to date")

    async def _said(self, text: str, session: str) -> None:
        await self.proxy.chat(text, session=session)
        await self.proxy.learned()

    def _written(self, rule: str) -> bool:
        return self.rules.exists() and rule in self.rules.read_text()


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
        print(LEFT_OUT, flush=True)
        return 0
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    try:
        axe = install_axe().read_text(encoding="utf-8")
    except NotInstalled as error:
        print(f"{WITHOUT_AXE}: {error}", flush=True)
        axe = ""
    checks = asyncio.run(play(name, axe, given.pictures))
    passed = sum(check.passed for check in checks)
    looked = sum(each.name.endswith(AXE_CHECK) for each in checks)
    print(f"looked at by axe-core: {looked} times" if axe else WITHOUT_AXE)
    print(f"{passed} passed, {len(checks) - passed} failed")
    return 0 if passed == len(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
