"""Keys that were issued to users of clients, at hand for every request: looked up anew where such a key is shown and
that was not done a moment ago.

A key has a shape of its own, so that it is known wherever it stands, and of it only a hash is kept.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from memory.client_key import ClientKey
from memory.session import Mode
from proxy.auth.tokens import hash_of
from proxy.settings import Credential

SHAPE: Final = re.compile(r"palimpsest-client-[0-9a-f]{40}")
"""By which a key is known wherever it stands."""
FRESH_SECONDS: Final = 0.5
"""How long what was looked up is taken to be true: a key that is revoked, on another server too, opens nothing within a
second."""
LOOK_SECONDS: Final = 0.4
"""How long a look may take. Where it takes longer what was known before holds."""


def is_client_key(text: str) -> bool:
    """Whether a text is such a key, in force or not."""
    return SHAPE.fullmatch(text) is not None


def new_client_key() -> str:
    """The text of a new key, which is shown once."""
    return f"palimpsest-client-{secrets.token_hex(20)}"


class ClientKeys:
    """The keys in force."""

    def __init__(
        self,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._now = now
        self._clock = clock
        self._known: Mapping[str, ClientKey] = {}
        self._looked = float("-inf")
        self._looking = asyncio.Lock()

    def of(self, text: str) -> Credential | None:
        """What a key owns; None where it is none, or not in force. Keys are found by their hash, which tells whoever
        measures the time nothing about a key."""
        found = self._known.get(hash_of(text)) if is_client_key(text) else None
        if found is None or not found.in_force(self._now()):
            return None
        return Credential.model_construct(
            # Its hash stands for it, as a configured key stands for itself: sessions are told apart by it.
            key=found.hash,
            user=found.user,
            org=found.org,
            projects=found.projects,
            memory=Mode.READ_ONLY if found.read_only else Mode.ON,
        )

    async def look(self, ask: Callable[[], Awaitable[Sequence[ClientKey]]]) -> None:
        """Look them up, unless that was done a moment ago.

        Raises:
            TimeoutError: when it took too long; any fault of the journal's is raised too. What was known holds then.
        """
        if self._clock() - self._looked < FRESH_SECONDS:
            return
        async with self._looking:
            began = self._clock()
            if began - self._looked < FRESH_SECONDS:
                return
            # Whether or not it succeeds: who comes next does not wait for a journal that does not answer.
            self._looked = began
            async with asyncio.timeout(LOOK_SECONDS):
                self._known = {key.hash: key for key in await ask()}

    def changed(self) -> None:
        """One was issued or revoked here."""
        self._looked = float("-inf")
