"""What a request left out, and what came of it, as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.explanations import money as money

Row = tuple[str, str]


def rows(held: dict[str, Any]) -> Iterator[Row]:
    """The lines of one receipt that tell its size, what was shed, for what money, what was paged in, and which rounds
    of the reply the client did not see."""
    if held.get("tokens"):
        window = held.get("window")
        share = f" of {window:,} ({held['tokens'] / window:.0%})" if window else ""
        yield "tokens", f"about {held['tokens']:,}{share}"
    # Below zero it is what memory added, which stands there in its own words.
    if (shorter := held.get("saved", 0)) > 0:
        yield "left out", f"{shorter:,} tokens, in this request and those before it"
    if shed := held.get("shed"):
        yield "shed", f"{shed['step']}: {shed['why']}"
        yield "removed", f"{shed['removed']:,} tokens"
        cache = "the cache was warm" if shed["warm"] else "the cache was cold: nothing is read anew for it"
        yield "rewritten", f"{shed['rewritten']:,} tokens; {cache}"
        if shed["expected"] is not None:
            yield "expected to save", money(shed["expected"])
        yield from _seen(held.get("seen") or {})
        yield from (("" if place else "what", line) for place, line in enumerate(shed["parts"]))
    if held.get("paged"):
        yield "paged in", ", ".join(held["paged"])
    for each in held.get("hidden", ()):
        usage = each["usage"]
        read = f" ({usage['input']:,} tokens read, {usage['cached']:,} of them from the cache)" if usage else ""
        yield "memory was asked", ", ".join(each["tools"]) + read


def short(held: dict[str, Any]) -> str:
    """A shed, and how much came back, in a few words for a list; empty where there was none."""
    shed = held.get("shed")
    parts = [f"{shed['step']} -{shed['removed']:,}"] if shed else []
    return ", ".join(parts + ([f"{len(held['paged'])} paged in"] if held.get("paged") else []))


def _seen(seen: dict[str, Any]) -> Iterator[Row]:
    names = ("this request", "the next one")
    for name, usage in zip(names, seen.get("requests", ()), strict=False):
        yield name, f"{usage['input']:,} tokens read, {usage['cached']:,} of them from the cache"
    if seen.get("saved") is not None:
        yield "saved so far", money(seen["saved"])
