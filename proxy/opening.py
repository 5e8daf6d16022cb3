"""Memory is opened beside the server, which listens already, and closed with it."""

from __future__ import annotations

import asyncio
import importlib
import logging
from collections.abc import AsyncIterator, Awaitable
from typing import TYPE_CHECKING, TypeVar

from aiohttp import web

from memory.session import Mode
from proxy.edge import EDGE, Edge
from proxy.fail_open import fail_open
from proxy.settings import Role

if TYPE_CHECKING:
    from memory.parts import Memory

log = logging.getLogger(__name__)

T = TypeVar("T")

LEAVE_SECONDS = 30.0
"""How long the work may take to come to a point at which it can be left."""

BESIDE_SECONDS = 5.0
"""How long an end waits for what is done beside requests."""

REOPEN_SECONDS = 10.0
"""How long to wait before stores that could not be opened are tried again."""


async def memory_beside(app: web.Application) -> AsyncIterator[None]:
    """Open memory while the application starts, and close it when it stops."""
    edge = app[EDGE]
    opening = asyncio.create_task(_open_beside(edge))
    leaving = asyncio.create_task(_leave_work(edge))
    yield
    leaving.cancel()
    # Stores that are just being opened are closed below. An end does not wait long for that.
    may_take = edge.draining.may_take
    await asyncio.wait((asyncio.ensure_future(edge.tried.wait()),), timeout=may_take(edge.opening_seconds))
    opening.cancel()
    await asyncio.wait((opening,), timeout=may_take(edge.opening_seconds))
    edge.client_keys.close()
    if edge.beside:
        await asyncio.wait(edge.beside, timeout=may_take(BESIDE_SECONDS))
    if edge.memory:
        await edge.memory.close()


async def _open_beside(edge: Edge) -> None:
    """Open memory, and again where it could not be opened."""
    wanted = edge.settings.memory.mode is not Mode.OFF
    try:
        # Imported in a thread: it takes most of a second, in which requests come already.
        await (_open_memory(edge) if wanted else asyncio.to_thread(importlib.import_module, "numpy"))
    finally:
        edge.imported.set()
        edge.tried.set()
    while edge.memory is None and wanted:
        await asyncio.sleep(REOPEN_SECONDS)
        await _open_memory(edge)
        if edge.memory is not None:
            log.info("the stores are open again")
            if edge.draining.begun.is_set():
                await _leave(edge, edge.memory)


async def _open_memory(edge: Edge) -> None:
    async def guard(awaitable: Awaitable[T], *, default: T, timeout_seconds: float, operation: str) -> tuple[T, str]:
        return await fail_open(
            awaitable,
            default=default,
            timeout_seconds=timeout_seconds,
            operation=operation,
            degradations=edge.degradations,
        )

    async def opened() -> tuple[Memory | None, bytes]:
        bootstrap = await asyncio.to_thread(importlib.import_module, "memory.bootstrap")
        edge.imported.set()
        memory: Memory | None = await bootstrap.open_memory(
            edge.settings.memory,
            edge.settings.home,
            guard,
            edge.settings.folders,
            edge.now,
            edge.settings.server.role is not Role.PROXY,
        )
        if memory is None or not memory.journal.replicated:
            return memory, edge.identity_key
        try:
            # Whose a session is must be the same to all replicas: the first one's key is everybody's.
            return memory, await memory.journal.first_meta("identity", edge.identity_key)
        except BaseException:
            await memory.close()
            raise

    (edge.memory, edge.identity_key), edge.memory_fault = await fail_open(
        opened(),
        default=(None, edge.identity_key),
        timeout_seconds=120,
        operation="opening the stores",
        degradations=edge.degradations,
    )


async def _leave_work(edge: Edge) -> None:
    """While replies come to their end another replica does the work."""
    await edge.draining.begun.wait()
    # Stores that are open only when the end has begun take the work on, too.
    if (memory := await edge.opened()) is not None:
        await _leave(edge, memory)


async def _leave(edge: Edge, memory: Memory) -> None:
    await fail_open(
        memory.leave_work(),
        default=None,
        timeout_seconds=LEAVE_SECONDS,
        operation="leaving the work to another replica",
        degradations=edge.degradations,
    )
