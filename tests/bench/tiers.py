"""How long the two lower tiers of a text take, by kind: CPU milliseconds, the best of several runs, on made-up input.

python -m tests.bench.tiers
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import tree_sitter_python
from tree_sitter import Language, Parser

from memory.tiers.code import code
from memory.tiers.shape import Hint, budget_of, hint_of
from memory.tiers.tier_choice import tiers

_SIZE = 100_000
_RUNS = 7


def log(size: int) -> str:
    """A server's log in which every fiftieth line is an error."""
    rows = (
        f"2026-01-01T10:{n // 60 % 60:02}:{n % 60:02} "
        + (
            f"ERROR store.disk cannot open /var/data/{n}.db: Permission denied"
            if n % 50 == 0
            else f"INFO server.handler request id={n * 7919} path=/api/items/{n} took {n % 97} ms"
        )
        for n in range(size // 60)
    )
    return "\n".join(rows)[:size]


def program(lines: int) -> str:
    """Python with a class of ten methods after another."""
    out = ["import os", "from shop.store import Store, Row", ""]
    number = 0
    while len(out) < lines:
        out += [f"class Part{number}(Store):", f'    """Keeps part {number} of the shop."""', ""]
        for step in range(10):
            out += [
                f"    def load_{number}_{step}(self, key: str, *, limit: int = {step}) -> list[Row]:",
                f"        rows = self.read('part_{number}', key)[:limit]",
                f"        return [row for row in rows if row.step_{step} > self.least_{number}]",
                "",
            ]
        number += 1
    return "\n".join(out[:lines])


def page(size: int) -> str:
    """Markdown with a heading for every ten lines."""
    part = (
        "## Part {n}: how to set up `tool_{n}`\n\n"
        + "Run `make part{n}` and look at `build/part_{n}.txt`.\n" * 9
        + "\n"
    )
    return "".join(part.format(n=n) for n in range(size // 500 + 1))[:size]


def web(size: int) -> str:
    """The same kind of page, as HTML."""
    part = "<h2>Part {n}</h2><p>Run <code>make part{n}</code> and see <a href='/part/{n}'>part {n}</a>.</p>\n"
    return "<!doctype html><html><body>" + "".join(part.format(n=n) for n in range(size // 80))[:size]


def novel(size: int) -> str:
    """Sentences with a few names in them."""
    part = "In the year {n} Priya moved the service to host-{n}. Nobody had asked for it. The old host was slow. "
    return "".join(part.format(n=n) + ("\n" if n % 5 == 0 else "") for n in range(size // 90))[:size]


def records(size: int) -> str:
    """A JSON list of small objects, indented."""
    items = [
        {"id": f"shop-{n}", "path": f"src/part_{n}.py", "tags": ["a", "b"], "at": {"x": n}} for n in range(size // 130)
    ]
    return json.dumps(items, indent=1)


def found(size: int) -> str:
    """What grep says."""
    return "\n".join(f"src/part_{n // 9}/store.py:{n}:    self.retry_{n}(limit)" for n in range(size // 48))[:size]


def cpu(work: Callable[[], object]) -> float:
    """The least CPU time of several runs, in milliseconds."""
    least = float("inf")
    for _ in range(_RUNS):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least * 1000


def main() -> None:
    """Print the table; the last line is what the outline of all those lines would cost to begin with."""
    read = '{{"file_path": "{}"}}'
    source = program(3000)
    cases: list[tuple[str, str, Hint]] = [
        ("log, 100 KB", log(_SIZE), hint_of("Bash", '{"command": "journalctl -u shop"}')),
        ("code, 3,000 lines", source, hint_of("Read", read.format("shop/store.py"))),
        ("search, 100 KB", found(_SIZE), hint_of("Grep", '{"pattern": "retry"}')),
        ("JSON, 100 KB", records(_SIZE), Hint()),
        ("Markdown, 100 KB", page(_SIZE), hint_of("Read", read.format("README.md"))),
        ("web page, 100 KB", web(_SIZE), Hint()),
        ("prose, 100 KB", novel(_SIZE), Hint()),
        ("anything, 100 KB", found(_SIZE).replace(":", "~"), Hint()),
        ("log, 5 MB", log(5_000_000), Hint()),
        ("one line of 5 MB", "a" * 5_000_000, Hint()),
    ]
    print(f"{'kind':20} {'characters':>12} {'L1':>6} {'CPU ms':>8}")
    for name, text, hint in cases:
        spent = cpu(lambda text=text, hint=hint: tiers(text, hint))  # type: ignore[misc]
        print(f"{name:20} {len(text):12,} {len(tiers(text, hint).overview):6} {spent:8.1f}")
    outline = cpu(lambda: code(source, hint_of("Read", read.format("shop/store.py")), budget_of(source)))
    print(f"{'the outline alone':20} {len(source):12,} {'':6} {outline:8.1f}")
    parser = Parser(Language(tree_sitter_python.language()))
    parsing = cpu(lambda: parser.parse(source.encode()))
    print(f"{'parsing all of it':20} {len(source):12,} {'':6} {parsing:8.1f}")


if __name__ == "__main__":
    main()
