"""Whether a connection comes from a process of our own user: Linux tells the owner of the peer's socket."""

from __future__ import annotations

import asyncio
import ipaddress
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from proxy.auth.tcp_sockets import ESTABLISHED, TABLES, Address, Socket, ask_kernel, read_tables

TRIES = 3
"""A table is not read in one instant: a row that is there may be missed."""

FEWEST_FORGOTTEN = 256
"""Connections that are remembered before those that are closed are looked for."""

Lookup = Callable[[Address, Address], Socket | None]


class Peers:
    """Knows of each open connection whether its peer is a process of our own user.

    Each is looked up once. ``ask`` is asked in place, the ``tables`` are read in a thread where it does not tell.
    """

    def __init__(self, ask: Lookup = ask_kernel, tables: Sequence[Path] = TABLES, user: int | None = None) -> None:
        self._ask = ask
        self._tables = tables
        self._user = user if user is not None else _own_user()
        self._known: dict[asyncio.BaseTransport, bool] = {}
        self._forget_at = FEWEST_FORGOTTEN

    async def is_own(self, transport: asyncio.BaseTransport | None) -> bool:
        """Whether the peer is one of ours; also where the system does not tell, on a loopback address. False where
        it has gone."""
        if transport is None:
            return False
        known = self._known.get(transport)
        if known is None:
            self._forget_closed()
            peer, here = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
            known = self._known[transport] = await self.owns(peer, here)
        return known

    async def owns(self, peer: Sequence[object] | None, here: Sequence[object] | None) -> bool:
        """The same of two addresses, as sockets tell them."""
        there, local = _address(peer), _address(here)
        if there is None or local is None or not ipaddress.ip_address(there[0]).is_loopback:
            return False
        try:
            return self._is_own(self._ask, there, local)
        except OSError:
            pass
        try:
            return await asyncio.to_thread(
                self._is_own, lambda one, other: read_tables(self._tables, one, other), there, local
            )
        except OSError:
            return True

    def _is_own(self, look: Lookup, there: Address, here: Address) -> bool:
        for _ in range(TRIES):
            theirs = look(there, here)
            if theirs is not None and theirs.inode:
                return theirs.user == self._user
            ours = look(here, there)
            if theirs is not None or ours is None or ours.state != ESTABLISHED:
                return False  # it has closed: whose it was cannot be told any more
        return True  # it is open, and no process of this system has it

    def _forget_closed(self) -> None:
        if len(self._known) >= self._forget_at:
            self._known = {each: known for each, known in self._known.items() if not each.is_closing()}
            self._forget_at = max(FEWEST_FORGOTTEN, 2 * len(self._known))


def _address(name: Sequence[object] | None) -> Address | None:
    if not name or len(name) < 2:
        return None
    try:
        address = ipaddress.ip_address(str(name[0]).partition("%")[0])
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return str(address), int(str(name[1]))


def _own_user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else -1
