"""Two tenants on one server, asking for what the other has said: is a word of either seen where the other looks?

    python -m tests.bench.tenants [--seconds 60] [--clients 3] [--seed 1]

Both have a user, a project and sessions of the same names, teach about the same things, and ask for them under their
own key, sometimes claiming the other's organisation. Whatever one of them teaches carries a mark of its own. Looked
through for the other's mark: each body that was forwarded, replies, what our endpoints and their exports answer to a
token of each, and the files of each. The log and the metrics may hold neither's.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proxy.auth.tokens import FILE, TokenRole, new_token, write_tokens
from tests.bench import targets
from tests.bench.client import Broken, Connection

CHAT = "/v1/chat/completions"
USER, PROJECT = "kim", "depot"
THINGS = (
    "gate code",
    "night guard",
    "fuel card",
    "loading dock",
    "spare key",
    "alarm line",
    "forklift",
    "radio channel",
)
LOOKS = (
    "api/facts?limit=1000",
    "api/search?query=gate%20code%20night%20guard%20fuel%20card&limit=50",
    "api/export",
    "api/page?project=depot",
    "api/sessions?limit=1000",
    "api/log?limit=1000",
    "api/candidates",
    "api/research",
    "api/why",
    "api/conflicts",
    "api/content?query=depot",
)
"""What each tenant asks our endpoints with its own token."""


@dataclass(frozen=True)
class Tenant:
    """One of them; its name is its organisation's, and begins each of its marks."""

    name: str
    key: str

    @property
    def entry(self) -> dict[str, Any]:
        """Its row in the table of credentials."""
        return {"key": self.key, "user": USER, "org": self.name}

    def taught(self, lot: random.Random) -> str:
        """A sentence that is to be remembered, with a mark."""
        return f"We decided that the {lot.choice(THINGS)} of the depot is {self.name}{lot.randrange(10**6):06}."

    def marked(self, text: str) -> list[str]:
        """Its marks in a text."""
        return re.findall(rf"{self.name}\d{{6}}", text)


TENANTS = (Tenant("northern", "key-of-the-northern-tenant"), Tenant("southern", "key-of-the-southern-tenant"))


def other(tenant: Tenant) -> Tenant:
    """The one that it is not."""
    return TENANTS[TENANTS[0] is tenant]


@dataclass
class Seen:
    """What was asked, and where a mark stood that had no business there."""

    done: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)

    def look(self, where: str, text: str, *strangers: Tenant) -> None:
        """Look for the marks of tenants in a text."""
        self.done[where.partition(":")[0]] += 1
        for each in strangers:
            self.leaks += [f"{mark} in {where}" for mark in each.marked(text)[:1]]


def requests(tenant: Tenant, lot: random.Random) -> Iterator[tuple[dict[str, str], bytes]]:
    """What its clients send: headers and bodies. The model says whose a body is."""
    number = 0
    while True:
        number += 1
        says = tenant.taught(lot) if lot.random() < 0.4 else f"What is the {lot.choice(THINGS)} of the depot?"
        headers = {
            "x-palimpsest-key": tenant.key,
            "x-session-id": f"s-{number % 40}",
            "x-palimpsest-project": PROJECT,
        }
        if lot.random() < 0.1:
            headers["x-palimpsest-org"] = other(tenant).name
        messages = [{"role": "user", "content": says}]
        yield headers, json.dumps({"model": tenant.name, "stream": lot.random() < 0.5, "messages": messages}).encode()


def look_through(seen: Seen, forwarded: Iterable[bytes]) -> None:
    """Look through the bodies that were forwarded, and count those to which something of one's own was added."""
    for body in forwarded:
        told = json.loads(body)
        tenant = next(each for each in TENANTS if each.name == told["model"])
        text = body.decode()
        seen.look("forwarded", text, other(tenant))
        seen.done["with memory"] += len(set(tenant.marked(text))) > ("We decided" in text.partition("<recalled")[0])


def issue(home: Path) -> dict[str, str]:
    """A token of our endpoints for each, by its name."""
    made = {each.name: new_token(each.name, TokenRole.USER, datetime.now(UTC), USER, each.name) for each in TENANTS}
    write_tokens(home / FILE, [token for _, token in made.values()])
    return {name: text for name, (text, _) in made.items()}


def owned(seen: Seen, home: Path) -> None:
    """Look through the files that are one's own by their folders."""
    for file in (each for each in (home / "pages").rglob("*") if each.is_file()):
        of = [each for each in TENANTS if each.name in str(file)]
        seen.look(f"files: {file}", file.read_text(errors="replace"), *(other(each) for each in of))


async def asks(port: int, tenant: Tenant, seen: Seen, lot: random.Random, until: float) -> None:
    """One client."""
    connection = Connection(port)
    for headers, body in requests(tenant, lot):
        if time.monotonic() > until:
            break
        try:
            timed = await connection.post(CHAT, body, headers)
        except Broken:
            seen.done["broken"] += 1
            continue
        seen.look("replies", (timed.head + timed.body).decode(errors="replace"), other(tenant))
    await connection.close()


def answer(port: int, path: str, token: str) -> str:
    """What one of our endpoints says, its refusals too."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/palimpsest/{path}", headers={"x-palimpsest-token": token}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return str(reply.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        return error.read().decode(errors="replace")


def paths(owners: Iterable[str]) -> Iterator[str]:
    """All that a tenant asks: its own, and the other's by name."""
    yield from LOOKS
    yield from (f"{path}{'&' if '?' in path else '?'}org={each.name}" for path in LOOKS for each in TENANTS)
    for owner in owners:
        yield from (f"api/export/{sort}?limit=1000&owner={quote(owner)}" for sort in ("fact", "passage", "candidate"))


def looked(seen: Seen, port: int, tokens: dict[str, str], admin: str) -> None:
    """Ask our endpoints as each of them."""
    owners = json.loads(answer(port, "api/export?org=northern&user=kim", admin))["owners"]
    owners += json.loads(answer(port, "api/export?org=southern&user=kim", admin))["owners"]
    for tenant in TENANTS:
        for path in paths(owners):
            told = answer(port, path, tokens[tenant.name])
            seen.look(f"endpoints: {path} as {tenant.name}", told, other(tenant))
            seen.done["endpoints with one's own"] += bool(tenant.marked(told))
    seen.look("metrics", answer(port, "metrics", admin), *TENANTS)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Both on a server of their own; what was seen."""
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-tenants-"))
    seen, home = Seen(), folder / "home"
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        provider = targets.provider(folder, spacing_ms=1.0, log=folder / "taken")
        assert provider.process is not None
        stack.callback(provider.process.kill)
        table = json.dumps([each.entry for each in TENANTS])
        server = targets.palimpsest("tenants", folder, home, provider.port, CREDENTIALS=table)
        assert server.process is not None
        stack.callback(server.process.kill)
        until = time.monotonic() + arguments.seconds

        async def load() -> None:
            lots = ((each, f"{arguments.seed} {each.name} {n}") for each in TENANTS for n in range(arguments.clients))
            await asyncio.gather(*(asks(server.port, each, seen, random.Random(lot), until) for each, lot in lots))

        asyncio.run(load())
        looked(seen, server.port, issue(home), (home / "token").read_text().strip())
        log = server.process.written()
        stopped = server.process.stop()
        look_through(seen, (line.partition(b"\t")[2] for line in (folder / "taken").read_bytes().splitlines()))
        seen.look("log", log, *TENANTS)
        owned(seen, home)
    return {
        "load_average": round(os.getloadavg()[0], 1),
        "looked_through": dict(seen.done),
        "leaks": len(seen.leaks),
        "of_them": seen.leaks[:10],
        "tracebacks": log.count("Traceback (most recent call last)"),
        "stopped_with": stopped,
    }


def main() -> None:
    """The command: fails where something was seen where it must not be, or memory took no part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=3, help="of each tenant")
    parser.add_argument("--seed", type=int, default=1)
    result = run(parser.parse_args())
    print(json.dumps(result, indent=1))
    sys.exit(1 if result["leaks"] or result["tracebacks"] or not result["looked_through"]["with memory"] else 0)


if __name__ == "__main__":
    main()
