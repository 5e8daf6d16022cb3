"""Keys that were issued to users of clients, at hand for every request: looked up anew, beside the requests, where such
a key is shown and that was not done a moment ago.

A key has a shape of its own, so that it is known wherever it stands, and of it only a hash is kept.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

from memory.client_key import ClientKey, KeysAndMembers, KeyScope
from memory.member import UNTOLD, Member, MemberRole, Membership
from memory.session import Mode
from proxy.auth.tokens import ApiToken, TokenRole, hash_of
from proxy.settings import Credential

SHAPE: Final = re.compile(r"palimpsest-client-[0-9a-f]{40}")
"""By which a key is known wherever it stands."""
FRESH_SECONDS: Final = 0.5
"""How long what was looked up is not looked up again."""
SURE_SECONDS: Final = 1.0
"""How long it is believed without waiting for what is looked up now: a key that is revoked, on another server too,
opens nothing within a second, as long as the journal answers."""
HOLD_SECONDS: Final = 60.0
"""How long it is believed where the journal does not answer."""
LOOK_SECONDS: Final = 0.4
"""How long calls wait for a refresh, from its beginning."""
RETRY_SECONDS: Final = (0.5, 1.0, 2.0, 5.0, 10.0)
"""How long after each failure the journal is asked again; the last of them for all that follow."""

Ask = Callable[[], Awaitable[KeysAndMembers | None]]
"""Reads every key that was issued, and every member; None where that failed."""
Run = Callable[[Any], "asyncio.Task[Any]"]
"""Begins something that goes on beside the requests."""


def is_client_key(text: str) -> bool:
    """Whether a text is such a key, in force or not."""
    return SHAPE.fullmatch(text) is not None


def new_client_key() -> str:
    """The text of a new key, which is shown once."""
    return f"palimpsest-client-{secrets.token_hex(20)}"


class MemberCredential(Credential):
    """What a key owns whose user may be a ``member`` of their organisation."""

    member: Member | None = None

    def memory_in(self, project: str | None) -> Mode:
        if self.member is not None and self.member.role_in(project) is MemberRole.READ_ONLY:
            return Mode.READ_ONLY if self.memory is Mode.ON else self.memory
        return self.memory


class IssuedToken(ApiToken, frozen=True):
    """What an issued key is on our own endpoints; ``scopes`` is what it is for."""

    scopes: tuple[KeyScope, ...] = ()


class ClientKeys:
    """The keys in force.

    One refresh at a time asks the journal until it answers, however many keys are shown meanwhile. Calls wait for it in
    its first moment alone, and not where the journal was slow the last time.
    """

    def __init__(
        self,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        patience: float = LOOK_SECONDS,
    ) -> None:
        self._now = now
        self._clock = clock
        self._sleep = sleep
        self._patience = patience
        self._known: Mapping[str, ClientKey] = {}
        self._members: Mapping[tuple[str, str], Member] = {}
        self._looked = float("-inf")
        self._changes = 0
        self._refresh: asyncio.Task[Any] | None = None
        self._began = float("-inf")
        self._tried = asyncio.Event()
        self._slow = False
        self._failures = 0

    def of(self, text: str) -> Credential | None:
        """What a key owns; None where it is none, or not in force, or that cannot be told. Keys are found by their
        hash, which tells whoever measures the time nothing about a key."""
        found = self._found(text)
        if found is None or self._age() > HOLD_SECONDS or KeyScope.CALLS not in found.scopes:
            return None
        return MemberCredential.model_construct(
            # Its hash stands for it, as a configured key stands for itself: sessions are told apart by it.
            key=found.hash,
            user=found.user,
            org=found.org,
            projects=found.projects,
            memory=Mode.READ_ONLY if found.read_only else Mode.ON,
            member=found.member,
        )

    def token(self, text: str) -> IssuedToken | None:
        """What a key is on our own endpoints and pages, where it is for any of these; None as for :meth:`of`."""
        return self.token_of(hash_of(text)) if is_client_key(text) else None

    def token_of(self, hash: str) -> IssuedToken | None:
        """The same, of the hash of a key."""
        found = self._known.get(hash)
        if found is None or not found.in_force(self._now()) or self._age() > HOLD_SECONDS:
            return None
        if not {KeyScope.MEMORY, KeyScope.MEMBERS} & {*found.scopes}:
            return None
        role = TokenRole.READ if found.read_only else TokenRole.USER
        return IssuedToken(
            found.name, role, found.hash, found.made_at, found.user, found.org, found.expires_at, scopes=found.scopes
        )

    def untold(self, text: str) -> bool:
        """Whether it cannot be told if a key is in force, since the journal has not answered for too long."""
        return is_client_key(text) and self._age() > HOLD_SECONDS

    def was_known(self, text: str) -> bool:
        """Whether a key was in force when the journal answered last, however long ago."""
        return self._found(text) is not None

    def unresolved(self, text: str) -> bool:
        """Whether a key that is not known here may be in force all the same, since the journal has not answered lately:
        after a start, or where it was issued on another server."""
        return is_client_key(text) and self._found(text) is None and self._age() > SURE_SECONDS

    def org_of(self, text: str) -> str | None:
        """Of which organisation a key was when the journal answered last; None where it is none, or of nobody's."""
        found = self._found(text)
        return found.org if found is not None else None

    def membership(self, org: str, user: str) -> Membership:
        """What somebody is in an organisation, as the journal told it last, however long ago. Until it has told once,
        model calls of whom the settings name are passed on without memory."""
        if self._looked == float("-inf"):
            return UNTOLD
        member = self._members.get((org, user))
        return Membership(member, organised=member is not None or any(of == org for of, _ in self._members))

    @property
    def fault(self) -> str:
        """What is wrong, in a sentence; empty where nothing is."""
        if not self._failures:
            return ""
        left = HOLD_SECONDS - self._age()
        return "the keys that were issued to clients cannot be looked up: " + (
            f"what was known of them holds for {left:.0f} seconds more" if left > 0 else "they open no memory"
        )

    async def look(self, text: str, ask: Ask, run: Run) -> None:
        """See that a key that was shown, and who is a member, is known as it stands now, as far as the journal answers
        at once."""
        if self._age() < FRESH_SECONDS:
            return
        if self._refresh is None or self._refresh.done():
            self._began = self._clock()
            self._tried.clear()
            self._refresh = run(self._ask_until_answered(ask))
        if self._age() < SURE_SECONDS and (self._found(text) is not None or not is_client_key(text)):
            return
        left = self._began + self._patience - self._clock()
        if left > 0 and not self._tried.is_set() and not (self._slow and self._age() <= HOLD_SECONDS):
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._tried.wait()

    def issued(self, key: ClientKey) -> None:
        """One was issued here."""
        self._changes += 1
        self._known = {**self._known, key.hash: key}

    def member_changed(self, member: Member) -> None:
        """A role was given here to who may have keys."""
        self._changes += 1
        whose = (member.org, member.user)
        self._members = {**self._members, whose: member}
        self._known = {
            hash: replace(key, member=member) if (key.org, key.user) == whose else key
            for hash, key in self._known.items()
        }

    def member_removed(self, org: str, user: str) -> None:
        """Somebody is no member any more since a moment ago; their keys are :meth:`revoked`."""
        self._changes += 1
        self._members = {whose: each for whose, each in self._members.items() if whose != (org, user)}

    def revoked(self, name: str) -> None:
        """Those of a name were revoked here."""
        self._changes += 1
        self._known = {hash: key for hash, key in self._known.items() if key.name != name}

    def close(self) -> None:
        """Ask no more."""
        if self._refresh is not None:
            self._refresh.cancel()

    async def _ask_until_answered(self, ask: Ask) -> None:
        try:
            while True:
                began, changes = self._clock(), self._changes
                told = await ask()
                self._slow = told is None or self._clock() - began > self._patience
                if told is None:
                    self._failures += 1
                    self._tried.set()
                    await self._sleep(RETRY_SECONDS[min(self._failures, len(RETRY_SECONDS)) - 1])
                elif changes == self._changes:
                    # What was read before something was issued or revoked here does not tell of that.
                    self._known = {key.hash: key for key in told.keys}
                    self._members = {(each.org, each.user): each for each in told.members}
                    self._looked, self._failures = began, 0
                    return
        finally:
            self._tried.set()

    def _found(self, text: str) -> ClientKey | None:
        found = self._known.get(hash_of(text)) if is_client_key(text) else None
        return found if found is not None and found.in_force(self._now()) else None

    def _age(self) -> float:
        return self._clock() - self._looked
