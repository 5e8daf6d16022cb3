"""Whether we are well, and what is counted.

Whether a balancer should send requests here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal, NotRequired, TypedDict

from aiohttp import web
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from memory.hooks.command import count
from memory.hooks.feature import Follower
from memory.learning.redact import redact
from memory.services.person.commands import MemoryStatus
from memory.session import Mode
from memory.stores.engine import RowSecurity
from memory.version import release
from proxy.api.auth import may_know
from proxy.api.responses import Json, answer
from proxy.edge import EDGE, Edge
from proxy.fail_open import LATE, SET_ASIDE, bounding_setting, fail_open
from proxy.settings import Role

routes = web.RouteTableDef()

OPENING = "opening the stores"

RECENT = 300.0
"""Seconds for which a failure makes us unwell."""

BEHIND = 500
"""Exchanges that the worker may be behind before that is told."""

WAITING = 5000
"""Memories that the index may have still to take in before that is told."""


STILL = 180.0
"""Seconds for which a worker may get nowhere before that is told: one exchange takes a few at most."""


NO_WORKER = (
    "no worker is heard of: nothing is learnt, and nothing can be changed, until one runs "
    "(palimpsest serve --role worker, over the same database)"
)


MemoryMode = Mode | Literal["paused", "missing"]
"""How far memory takes part; ``missing`` while it is not open."""


class Health(TypedDict):
    """Whether all is well, and how far memory takes part; for who may know it also what this server does of the work,
    what is not well, in sentences, and how many candidates wait."""

    status: Literal["ok", "degraded", "opening"]
    memory: MemoryMode
    role: NotRequired[Role]
    why: NotRequired[list[str]]
    version: NotRequired[str]
    candidates: NotRequired[int]
    row_security: NotRequired[RowSecurity]


@routes.get("/health")
async def health(request: web.Request) -> Json[Health]:
    """200, because model calls always go through, but for a start: 503 while the stores are being opened. Without a
    token, as a balancer asks, `status` and `memory` are all that is told; with an admin's, or one that reads what is
    everybody's, ``why`` has a sentence for each thing that is wrong. With PostgreSQL `row_security` tells whether the
    database keeps owners apart by itself, of which tables, and of which it does not."""
    edge = request.app[EDGE]
    why = [redact(sentence).text for sentence in await unwell(edge)]
    told: Health = {"status": "opening" if edge.opening else "degraded" if why else "ok", "memory": mode(edge)}
    if await may_know(request):
        told |= {
            "role": edge.settings.server.role,
            "why": why,
            "version": release(),
            "candidates": await edge.candidates_waiting(),
        }
        _add_row_security(told, edge)
    return answer(told, 503 if told["status"] == "opening" else 200)


def _add_row_security(told: Health, edge: Edge) -> None:
    if edge.memory is not None and (apart := edge.memory.journal.row_security) is not None:
        told["row_security"] = apart


@routes.get("/metrics")
async def metrics(request: web.Request) -> web.Response:
    """All counters, in Prometheus's text format. ``palimpsest_works`` says whether this server does what one alone must
    do, ``palimpsest_replica_info`` which of several it is, and its role; ``palimpsest_journal_answers``,
    ``palimpsest_journal_round_trip_seconds`` and ``palimpsest_journal_waiting`` how its database is, and how many
    exchanges wait for it."""
    memory = request.app[EDGE].memory
    numbers = dict(memory.metrics()) if memory is not None else {}
    if memory is not None and memory.journal.replica:
        role = request.app[EDGE].settings.server.role
        numbers[f'replica_info{{replica="{memory.journal.replica}",role="{role}"}}'] = 1.0
    text = "".join(
        f"# TYPE palimpsest_{name.partition('{')[0]} gauge\npalimpsest_{name} {value}\n"
        for name, value in numbers.items()
    )
    response = web.Response(body=generate_latest() + text.encode())
    response.headers["Content-Type"] = CONTENT_TYPE_LATEST
    return response


def mode(edge: Edge) -> MemoryMode:
    """How far memory takes part at the moment."""
    if edge.settings.memory.mode is Mode.OFF:
        return Mode.OFF
    if edge.memory is None:
        return "missing"
    return "paused" if edge.memory.pause.on else edge.settings.memory.mode


async def unwell(edge: Edge) -> list[str]:
    """What is wrong, in sentences; empty when nothing is."""
    why = [f"a standby relays without memory: {edge.standby}"] if edge.standby else []
    if edge.memory is None:
        if edge.settings.memory.mode is not Mode.OFF:
            why.append(f"the stores are not open, requests go through without memory: {edge.memory_fault or 'opening'}")
    else:
        standing, fault = await fail_open(
            edge.memory.commands.standing(),
            default=None,
            timeout_seconds=2,
            operation="counting what is stored",
            degradations=edge.degradations,
        )
        why.extend([f"the journal does not answer: {fault}"] if standing is None else behind(standing))
        if not edge.memory.journal.there:
            why.append(
                f"{edge.settings.home / 'journal.db'} was deleted or replaced while it is open: what this server knows "
                "ends with it"
            )
        if edge.settings.server.role is Role.PROXY:
            done, _ = await fail_open(
                edge.memory.journal.work_is_done(),
                default=True,
                timeout_seconds=2,
                operation="looking whether a worker runs",
                degradations=edge.degradations,
            )
            why.extend([] if done else [NO_WORKER])
        pending, _ = await fail_open(
            edge.memory.quarantine.pending(),
            default=[],
            timeout_seconds=2,
            operation="looking what waits for quarantine",
            degradations=edge.degradations,
        )
        why.extend(held_back(len(pending)))
        why.extend(filter(None, [edge.client_keys.fault]))
        why.extend(hanging(edge.memory.followers))
        why.extend(edge.memory.quotas.told())
        why.extend(await edge.memory.features.health())
        progress = edge.memory.reindexer.progress
        if progress is not None and progress.fault:
            why.append(f"the index could not be filled anew with {progress.embedder}: {progress.fault}")
    # That the stores are not open stands above.
    failures = [each for each in edge.degradations.since(RECENT) if edge.memory or each.doing != OPENING]
    counted = Counter((failure.doing, _kind(failure.why)) for failure in failures)
    why.extend(
        f"memory failed {'once' if times == 1 else f'{times} times'} in the last five minutes while {doing} ({kind})"
        for (doing, kind), times in counted.most_common(5)
        if kind != SET_ASIDE
    )
    return why


def _kind(why: str) -> str:
    """What kind of failure it was, and of what was late the setting that bounded it."""
    setting = bounding_setting(why)
    return f"{LATE}: {setting}" if setting else why.partition(":")[0]


def held_back(pending: int) -> list[str]:
    """What is still to be put into quarantine."""
    asked = "asked for while learning was behind: what came from there follows when it is learned"
    return [f"{count(pending, 'quarantine')} {asked}"] if pending else []


def hanging(workers: Iterable[Follower]) -> list[str]:
    """Which workers get nowhere, be it amid an exchange or between two."""
    return [
        f"{each.doing} has got nowhere for {each.still / 60:.0f} minutes: if that lasts, restart the server"
        for each in workers
        if each.still >= STILL
    ]


def behind(standing: MemoryStatus) -> list[str]:
    """What of memory's standing is wrong."""
    why = []
    if not standing.learning:
        why.append("the worker that learns is dead: restart the server")
    if standing.counts.behind > BEHIND:
        why.append(f"learning is {standing.counts.behind} exchanges behind")
    if standing.waiting > WAITING:
        why.append(f"the index has {standing.waiting} memories still to take in")
    if standing.kept:
        why.append(f"{standing.kept} exchanges wait for the journal, which cannot be written")
    if standing.lost:
        why.append(f"{standing.lost} exchanges were lost while the journal could not be written")
    if standing.broken:
        why.append(f"{standing.broken} exchanges that were set aside could not be taken back: their files stay")
    if standing.passed_over:
        why.append(f"{standing.passed_over} exchanges could not be learned from and were passed over")
    return why


class Readiness(TypedDict):
    """Whether requests are taken, with memory, and why not."""

    ready: bool
    why: str


@routes.get("/ready")
async def ready(request: web.Request) -> Json[Readiness]:
    """Whether this server takes requests, with memory: 200 where it does, 503 with a sentence where it does not, also
    while the journal does not answer or cannot be written, as far as that is known without asking it. ``?role=work``:
    whether it is the one of its replicas that does the work, and so answers on our own endpoints; only that is asked
    of a worker, which takes no model calls.
    """
    edge = request.app[EDGE]
    why = not_ready(edge)
    if request.query.get("role") == "work":
        if not why and edge.memory is not None and not edge.memory.works:
            why = "another replica does the work"
    elif edge.settings.server.role is Role.WORKER:
        why = "a worker takes no model calls (server.role)"
    return answer({"ready": not why, "why": why}, 503 if why else 200)


def not_ready(edge: Edge) -> str:
    """Why requests are better sent elsewhere; empty where they are not."""
    if edge.draining.begun.is_set():
        return "this server is about to end"
    if edge.opening:
        return "opening: the stores are not open yet"
    if edge.memory is None:
        return "" if edge.settings.memory.mode is Mode.OFF else "memory is not open"
    if edge.memory.journal.trouble:
        # Where no request comes nothing else may be written; what is found out is told the next time.
        edge.memory.journal.try_again()
        return "the journal does not answer, or takes nothing"
    return ""
