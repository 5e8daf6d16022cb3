"""What lives as long as the server, and is handed to every request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from aiohttp import web

from memory.client_key import KeysAndMembers
from memory.clock import local_now
from memory.member import NO_MEMBERS, UNTOLD, Membership
from memory.memory_room import MemoryRoom
from memory.policy import Policies, Policy
from memory.scope import Scope
from memory.session import Mode
from proxy.admission import AdmissionQueue
from proxy.auth.client_keys import ClientKeys, is_client_key
from proxy.auth.installation_key import InstallationKey, OwnSecrets
from proxy.auth.peer import Peers
from proxy.auth.tokens import TokenStore
from proxy.auth.web_sessions import Visitors
from proxy.caller import Prefix, identifying_key, is_of_organisation, org_of
from proxy.checkout import CheckoutLookup
from proxy.draining import Draining
from proxy.errors import Refusal
from proxy.fail_open import Degradations, fail_open
from proxy.limits import Limits
from proxy.passthrough_log import PassthroughLog
from proxy.settings import LimitSettings, Settings
from proxy.tracing import NoTraces, Traces
from proxy.upstream.bridge import Bridge
from proxy.upstream.direct import Direct

# Memory is imported when a server listens already: that takes longer than all before it.
if TYPE_CHECKING:
    from memory.parts import Memory


OPENING_SECONDS = 5.0
"""How long a model call waits for stores that are being opened, as long as it waits for its session's history after a
start: without the edits that were made before, its prefix breaks. An end of the server waits no longer either."""

KEYS_SECONDS = 2.0
"""How long the journal may take to tell which keys were issued, while no call waits."""

KEYS_UNTOLD = "keys that were issued cannot be looked up just now, the journal does not answer"
KEYS_OFF = "keys that were issued cannot be looked up while memory is off (memory.mode)"


@dataclass(slots=True)
class Edge:
    """The running server. ``memory`` is None while its stores cannot be opened; requests go through without it.
    ``imported`` is set when memory's code is read in, ``tried`` as soon as its stores have been opened, or could not
    be.

    ``sources`` says of each setting that is no default where it came from; ``now`` is the clock by which requests
    arrive. ``key`` opens memory, ``secrets`` never go to a provider. ``standby`` says why this server only relays in
    the place of one with memory; it is empty where it does not.
    """

    settings: Settings
    upstream: Direct
    bridge: Bridge
    degradations: Degradations
    token: str
    identity_key: bytes
    checkouts: CheckoutLookup
    key: InstallationKey
    secrets: OwnSecrets
    tokens: TokenStore
    client_keys: ClientKeys = field(default_factory=ClientKeys)
    peers: Peers = field(default_factory=Peers)
    visitors: Visitors = field(default_factory=Visitors)
    memory: Memory | None = None
    memory_fault: str = ""
    standby: str = ""
    started_at: float = field(default_factory=time.time)
    beside: set[asyncio.Task[Any]] = field(default_factory=set)
    sources: Mapping[str, str] = field(default_factory=dict)
    now: Callable[[], datetime] = local_now
    admission: AdmissionQueue = field(default_factory=AdmissionQueue)
    passed: PassthroughLog = field(default_factory=PassthroughLog)
    limits: Limits = field(default_factory=lambda: Limits(LimitSettings()))
    room: MemoryRoom = field(default_factory=MemoryRoom)
    traces: Traces = field(default_factory=NoTraces)
    draining: Draining = field(default_factory=Draining)
    imported: asyncio.Event = field(default_factory=asyncio.Event)
    tried: asyncio.Event = field(default_factory=asyncio.Event)
    opening_seconds: float = OPENING_SECONDS

    @property
    def opening(self) -> bool:
        """Whether memory is wanted, and its stores are still being opened."""
        return not self.tried.is_set() and self.settings.memory.mode is not Mode.OFF

    async def opened(self) -> Memory | None:
        """Memory, of which a server that just starts has still to open the stores; None where they cannot be."""
        await self.tried.wait()
        return self.memory

    async def opened_in_time(self) -> Memory | None:
        """Memory for a model call, which goes on without it where opening the stores takes longer than a call may
        wait."""
        if self.opening:
            await fail_open(
                self.tried.wait(),
                default=False,
                timeout_seconds=self.opening_seconds,
                operation="waiting for the stores to open",
                degradations=self.degradations,
            )
        return self.memory

    async def candidates_waiting(self) -> int:
        """How many candidates wait for a person to approve them; 0 where that cannot be told."""
        if self.memory is None:
            return 0
        waiting, _ = await fail_open(
            self.memory.journal.candidates_waiting(),
            default=0,
            timeout_seconds=2,
            operation="counting candidates",
            degradations=self.degradations,
        )
        return waiting

    async def upstream_policy(self, headers: Mapping[str, str], prefix: Prefix) -> Policy:
        """Whom a caller's organisation lets be asked.

        Raises:
            Refusal: 503, when it cannot be told whose a key is. Memory that is away never ends a model call, but who
                may get a prompt is not memory.
        """
        policies = self.settings.memory.policies
        if not any(policy.upstreams is not None for policy in policies.values()):
            return Policy()
        key = identifying_key(headers, prefix)
        await self.know_client_keys(key)
        if self.client_keys.unresolved(key):
            why = KEYS_OFF if self.settings.memory.mode is Mode.OFF else KEYS_UNTOLD
            raise Refusal(503, f"{why}: whose policy holds (memory.policies) is not known; try again in a moment")
        return Policies(policies).of(Scope(org_of(headers, prefix, self.settings, self.client_keys.org_of)))

    async def know_client_keys(self, shown: str) -> None:
        """See that a key that was issued is known as it stands now, and of one that the settings name for an
        organisation, who is a member there; any other key looks nothing up."""
        if is_client_key(shown) or is_of_organisation(shown, self.settings):
            await self.refresh_client_keys(shown)

    async def refresh_client_keys(self, shown: str = "") -> None:
        """See that all keys that were issued are known as they stand now, as far as the journal answers at once."""
        if (memory := await self.opened_in_time()) is None:
            return

        async def ask() -> KeysAndMembers | None:
            found, _ = await fail_open(
                memory.journal.keys_and_members(),
                default=None,
                timeout_seconds=KEYS_SECONDS,
                operation="looking up clients' keys",
                degradations=self.degradations,
            )
            return found

        await self.client_keys.look(shown, ask, self.run_in_background)

    async def membership(self, org: str | None, user: str | None) -> Membership:
        """What somebody is in their organisation, as far as the journal can tell."""
        if not org or not user:
            return NO_MEMBERS
        if (memory := await self.opened_in_time()) is None:
            return UNTOLD
        found, _ = await fail_open(
            memory.journal.membership(org, user),
            default=UNTOLD,
            timeout_seconds=KEYS_SECONDS,
            operation="looking up a member",
            degradations=self.degradations,
        )
        return found

    def why_untold(self, shown: str) -> str:
        """Why it cannot be told whether a key that was issued is in force; empty where it can."""
        wanted = self.settings.memory.mode is not Mode.OFF
        return KEYS_UNTOLD if wanted and self.client_keys.untold(shown) else ""

    def run_in_background(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something that outlives the request that began it."""
        task = asyncio.create_task(work)
        self.beside.add(task)
        task.add_done_callback(self.beside.discard)
        return task


EDGE = web.AppKey("edge", Edge)
