"""Pictures of every page of the web page for the docs: ``python -m tests.e2e.screenshots [NAME...]`` (needs Debian's
``chromium``), or of those that are named.

Each page is opened on a home with something on it, in windows of three widths; what the window shows is written into
``docs/screenshots``, and ``docs/screenshots.md`` shows them side by side.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection
from pathlib import Path

from tests.e2e.chromium import Chromium, chromium, program
from tests.e2e.looking import SIZES, Looking
from tests.e2e.pages import filled
from tests.fake_provider import FakeProvider
from tests.running import Running

DOCS = Path(__file__).resolve().parents[2] / "docs"
FOLDER = DOCS / "screenshots"
LEFT_OUT = ("nothing", "said-often", "no-results")

HEAD = """\
# Screenshots

Every page of [the web page](web.md), in windows of {widths} pixels; `python -m tests.e2e.screenshots` makes them anew.
"""


async def taken(
    browser: Chromium, proxy: Running, provider: FakeProvider, rules: Path, only: Collection[str]
) -> list[str]:
    """Take the pictures, ``only`` of some pages where any are named; the names of all pages."""
    looking = Looking(browser, proxy, provider, rules, axe="", pictures=None)
    await browser.listen()
    await looking.log_in()
    addresses = await looking.addresses()
    names = [name for name in addresses if name not in LEFT_OUT]
    for name in names:
        for width, height in SIZES if not only or name in only else ():
            await browser.sized(width, height)
            await browser.visit(looking.root + addresses[name])
            await browser.screenshot(FOLDER / f"{name}-{width}.webp")
    return names


def page_of(names: list[str]) -> str:
    """The page of the docs that shows them."""
    widths = [str(width) for width, _ in SIZES]
    parts = [HEAD.format(widths=f"{', '.join(widths[:-1])} and {widths[-1]}")]
    for name in names:
        title = name.replace("-", " ").capitalize()
        pictures = "\n".join(f"![{title}, {width} pixels](screenshots/{name}-{width}.webp)" for width in widths)
        parts.append(f"## {title}\n\n{pictures}\n")
    return "\n".join(parts)


async def take(name: str, only: Collection[str] = ()) -> list[str]:
    """All of it, in a browser of its own."""
    async with filled() as (proxy, provider, rules), chromium(name) as browser:
        return await taken(browser, proxy, provider, rules, only)


def main() -> int:
    """The command; the process's status."""
    name = program()
    if name is None:
        print("there is no chromium here (apt-get install chromium)")
        return 1
    FOLDER.mkdir(exist_ok=True)
    only = frozenset(sys.argv[1:])
    for old in FOLDER.glob("*.webp") if not only else ():
        old.unlink()
    names = asyncio.run(take(name, only))
    if unknown := only.difference(names):
        print(f"there is no page {', '.join(sorted(unknown))}; there are {', '.join(names)}")
        return 1
    (DOCS / "screenshots.md").write_text(page_of(names), encoding="utf-8")
    print(f"{len(only or names)} pages, {len(only or names) * len(SIZES)} pictures in {FOLDER}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
