"""What the process keeps of sessions that are over: each container that lives as long as the server, and what it is
bounded by.

    python -m tests.bench.kept [--sessions 200]

The real proxy runs in this process. So many sessions come, some of them sub-agents', with page edits, forgets and a
night among them; then as many again. What has grown in the second half grows with every session: it is a memory's own
(its bound is a setting), a cache that fills (its bound stands in :data:`BOUNDS`), or a leak. Lengths are counted, so
that a busy machine tells the same as an idle one.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sized
from contextlib import suppress
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any, Final

from tests import rooms
from tests.bench.seed import facts, questions
from tests.fake_provider import fake_provider
from tests.proxy.api.asking import Asking, asking
from tests.running import Running, running

BOUNDS: Final[Mapping[str, str]] = {
    # What is remembered itself.
    "memory.stores.point_table.PointTable.ids": "memory.recall.points_at_hand",
    "memory.stores.point_table.PointTable.rows": "memory.recall.points_at_hand",
    "memory.stores.tenant_vectors.TenantVectors._owners": "memory.recall.points_at_hand",
    "memory.stores.memory_cache.KnownMemories._young": "3 MiB, and as much of the generation before",
    "memory.features.checkouts.rows.Rows._known": "4,096",
    "memory.stores.memory_cache.ChangedMemories._ids": "8,192, until who follows them looks",
    # What was said lately.
    "proxy.wire.slices.SliceCache._known": "8 MiB",
    "memory.stores.history_cache.OpenedMessages._cache": "6 MiB",
    "memory.stores.history_cache.RecentHistories._by_session": "4 MiB",
    "memory.stores.recent_commits.RecentCommits._exchanges": "256, and 4 MiB of digests",
    "memory.stores.recent_commits.RecentCommits._numbers": "512",
    "memory.stores.recent_commits.RecentCommits._sessions": "512",
    "memory.services.window.counting._Counts.young": "10,000 messages, 2,048 texts; as many of the generation before",
    # Who spoke lately.
    "memory.services.sessions.live_sessions.LiveSessions._live": "1,024",
    "memory.services.sessions.live_sessions.LiveSessions._by_key": "1,024",
    "memory.services.sessions.live_sessions.LiveSessions._by_link": "4,096",
    "memory.services.sessions.subagent_detection.RecentErrands._sessions": "16,384",
    "memory.services.window.usage_calibration.UsageCalibration._anchors": "2,000",
    # What is counted lately.
    "memory.services.deadline.ServiceTime._last": "64",
    "proxy.fail_open.Degradations.latest": "50",
}
"""The containers that grow for a while, and up to what. One that is missing here is a leak, or wants its bound told."""

WITHOUT: Final = frozenset(
    {
        "memory.language.common_directions.common_directions",
        "memory.language.leaving._forms",
        "memory.tiers.languages._edges",  # by language
        "memory.tiers.languages.load",  # by language
        "memory.learning.rules.rule_table",  # by table
        "memory.learning.secrets.issued._prefixes_by_head",
        "memory.learning.user_claims._forms",
        "memory.stores.postgresql.lease.machine",
        "memory.version.release",
        "proxy.web.rendering.environment",
        "proxy.web.static.files",
    }
)
"""Functions whose results are all kept: there are few."""

UNDER_WAY: Final = 2
"""By how much a container may have grown without being told: what is under way when it is counted."""


@dataclass(slots=True)
class Kept:
    """How much everything holds that is long-lived: containers by class and attribute, with how many objects own one,
    module-level ones by name, and lru_caches by function with their bound."""

    lengths: Counter[str] = field(default_factory=Counter)
    owners: Counter[str] = field(default_factory=Counter)
    cached: dict[str, tuple[int, int | None]] = field(default_factory=dict)


def kept() -> Kept:
    """What is held now."""
    gc.unfreeze()  # what the collector passes over is held, too
    gc.collect()
    found = Kept()
    for each in gc.get_objects():
        if isinstance(each, _lru_cache_wrapper):
            of, told = each.__wrapped__, each.cache_info()
            if str(getattr(of, "__module__", "")).startswith(("memory", "proxy")):
                found.cached[f"{of.__module__}.{of.__qualname__}"] = told.currsize, told.maxsize
        elif str(type(each).__module__).startswith(("memory", "proxy")):
            for name, value in _attributes(each):
                found.lengths[name] += len(value)
                found.owners[name] += 1
    for name, module in list(sys.modules.items()):
        if name.startswith(("memory", "proxy")):
            for key, value in vars(module).items():
                if isinstance(value, dict | list | set | deque) and not key.startswith("__"):
                    found.lengths[f"{name}.{key}"] = len(value)
                    found.owners[f"{name}.{key}"] = 1
    return found


def _attributes(of: object) -> Iterator[tuple[str, Sized]]:
    kind = type(of)
    slots = [name for base in kind.__mro__ for name in _slots(base)]
    for name in {*slots, *getattr(of, "__dict__", ())}:
        with suppress(Exception):  # a slot that was never set
            value: Any = getattr(of, name)
            if isinstance(value, dict | list | set | deque | bytearray):
                yield f"{kind.__module__}.{kind.__qualname__}.{name}", value


def _slots(kind: type) -> tuple[str, ...]:
    slots = kind.__dict__.get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(slots)


def grown(before: Kept, after: Kept, least: int) -> dict[str, tuple[int, int]]:
    """The containers that as many objects own as before, and that hold at least so much more: what belongs to things
    that are themselves kept somewhere is told there."""
    return {
        name: (before.lengths[name], length)
        for name, length in sorted(after.lengths.items())
        if length - before.lengths[name] >= least and after.owners[name] == before.owners[name]
    }


async def lived(proxy: Running, ask: Asking, first: int, sessions: int, night: bool) -> None:
    """Sessions of two turns each, and now and then all else that happens to a server."""
    told, asked = facts(first + sessions), questions()
    for number in range(first + sessions):
        said, question = next(told).text, next(asked)
        if number < first:
            continue
        name, more = f"kept-{number}", {}
        if number % 5 == 4:
            more["x_parent_session_id"] = f"kept-{number - 1}"
        messages = [{"role": "user", "content": said}]
        for words in (question, ""):
            body = {"model": f"m{number % 3}", "messages": messages}
            headers = {"x_session_id": name, "x_palimpsest_project": "loom", **more}
            status, reply, _ = await proxy.post("/v1/chat/completions", body, **headers)
            assert status == 200, reply
            messages = [*messages, {"role": "assistant", "content": "As decided."}, {"role": "user", "content": words}]
        await proxy.learned()
        if number % 7 == 6:
            await ask("PUT", "api/page?project=loom", {"own": f"# Mine\n\n- Ask me before release {number}.\n"})
        if number % 9 == 8:
            found = (await ask("GET", "api/facts?project=loom&limit=5"))["facts"]
            await ask("POST", "api/forget?project=loom", {"ids": [found[-1]["id"]]})
    memory = proxy.edge.memory
    assert memory is not None
    if night:
        await rooms.nights(memory).runner.run()
    await memory.preparation.settle()
    await memory.tier_worker.catch_up()
    await rooms.subagents(memory).worker.catch_up()
    await memory.token_counting.settle()
    await memory.pages.settle()


async def halves(home: Path, sessions: int, night: bool = True) -> tuple[Kept, Kept]:
    """What is kept after so many sessions, and after as many again, with a ``night`` behind either."""
    async with fake_provider() as provider, running(provider, home) as proxy:
        ask = asking(proxy)
        await lived(proxy, ask, 0, sessions, night)
        before = kept()
        await lived(proxy, ask, sessions, sessions, night)
        return before, kept()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=200)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="palimpsest-kept-") as folder:
        before, after = asyncio.run(halves(Path(folder) / "home", arguments.sessions))
    for name, (was, now) in grown(before, after, UNDER_WAY).items():
        print(f"{now - was:>7} {was:>7} {now:>7}  {name}: {BOUNDS.get(name, 'NO BOUND IS KNOWN')}")
    for name, (held, most) in sorted(after.cached.items()):
        print(f"{held - before.cached.get(name, (0, 0))[0]:>7} {held:>15}  {name}: {most} at most")


if __name__ == "__main__":
    main()
