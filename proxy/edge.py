"""What lives as long as the server, and is handed to every request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from aiohttp import web

from memory.bootstrap import Memory, local_now
from proxy.checkout import Checkouts
from proxy.door.keys import InstallationKey, OwnSecrets
from proxy.door.peer import Peers
from proxy.door.tokens import Tokens
from proxy.door.visitors import Visitors
from proxy.fail_open import Degradations
from proxy.limits import Limits
from proxy.passed import PassedOn
from proxy.settings import LimitSettings, Settings
from proxy.turns import Turns
from proxy.upstream.bridge import Bridge
from proxy.upstream.direct import Direct


@dataclass(slots=True)
class Edge:
    """The running server. ``memory`` is None while its stores cannot be opened; requests go through without it.

    ``sources`` says of each setting that is no default where it came from; ``now`` is the clock by which requests
    arrive. ``key`` opens memory, ``secrets`` never go to a provider.
    """

    settings: Settings
    upstream: Direct
    bridge: Bridge
    degradations: Degradations
    token: str
    identity_key: bytes
    checkouts: Checkouts
    key: InstallationKey
    secrets: OwnSecrets
    tokens: Tokens
    peers: Peers = field(default_factory=Peers)
    visitors: Visitors = field(default_factory=Visitors)
    memory: Memory | None = None
    memory_fault: str = ""
    started_at: float = field(default_factory=time.time)
    beside: set[asyncio.Task[Any]] = field(default_factory=set)
    sources: Mapping[str, str] = field(default_factory=dict)
    now: Callable[[], datetime] = local_now
    turns: Turns = field(default_factory=Turns)
    passed: PassedOn = field(default_factory=PassedOn)
    limits: Limits = field(default_factory=lambda: Limits(LimitSettings()))

    def go_beside(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something that outlives the request that began it."""
        task = asyncio.create_task(work)
        self.beside.add(task)
        task.add_done_callback(self.beside.discard)
        return task


EDGE = web.AppKey("edge", Edge)
