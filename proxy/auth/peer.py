"""Whether a connection comes from a process of our own user: Linux tells the owner of the peer's socket.

Who has a TCP socket of this machine, as Linux tells it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
ESTABLISHED = 1

Address = tuple[str, int]


class Socket(NamedTuple):
    """A socket's state, the user who made it, and its inode: 0 where no process has it any more."""

    state: int
    user: int
    inode: int


def ask_kernel(local: Address, remote: Address) -> Socket | None:
    """The socket between two addresses, as one of its two ends has it; None where there is none.

    Raises:
        OSError: where the system does not tell.
    """
    if not hasattr(socket, "AF_NETLINK"):
        raise OSError("there is no netlink here")
    family = socket.AF_INET6 if ":" in local[0] else socket.AF_INET
    request = struct.pack("=BBBxI", family, socket.IPPROTO_TCP, 0, _ANY_STATE)
    request += struct.pack("!HH", local[1], remote[1])
    request += b"".join(socket.inet_pton(family, host).ljust(16, b"\0") for host, _ in (local, remote))
    request += struct.pack("=I", 0) + _ANY_COOKIE
    head = _HEAD.pack(_HEAD.size + len(request), _BY_FAMILY, _REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, _SOCK_DIAG) as netlink:
        netlink.settimeout(1)
        netlink.send(head + request)
        reply = netlink.recv(2**14)
    try:
        kind = _HEAD.unpack_from(reply)[1]
        if kind == _BY_FAMILY:
            user, inode = _OWNER.unpack_from(reply, _HEAD.size + _BEFORE_OWNER)
            return Socket(reply[_HEAD.size + 1], user, inode)
        (error,) = _ERROR.unpack_from(reply, _HEAD.size)
    except struct.error as broken:
        raise OSError("the kernel's answer is cut") from broken
    if error == _NOT_THERE:
        return None
    raise OSError(-error, "the kernel does not tell whose sockets are")


def read_tables(tables: Sequence[Path], local: Address, remote: Address) -> Socket | None:
    """The same, as it stands in the tables.

    Raises:
        OSError: where there are none.
    """
    readable = False
    for table in tables:
        try:
            text = table.read_text("ascii")
        except (OSError, UnicodeDecodeError):
            continue
        readable = True
        if (found := find(text, local, remote)) is not None:
            return found
    if not readable:
        raise OSError("there are no tables of sockets here")
    return None


def find(table: str, local: Address, remote: Address) -> Socket | None:
    """The row of a socket in a table as /proc/net/tcp is."""
    for mapped in (False, True):
        start = table.find(f" {_as_kernel_prints(local, mapped)} {_as_kernel_prints(remote, mapped)} ")
        if start >= 0:
            fields = table[start:].partition("\n")[0].split()
            return Socket(int(fields[2], 16), int(fields[6]), int(fields[8]))
    return None


def _as_kernel_prints(address: Address, mapped: bool) -> str:
    """An address as the kernel prints it: each word of four bytes in the machine's own order, then the port."""
    data = ipaddress.ip_address(address[0]).packed
    if mapped and len(data) == 4:
        data = bytes(10) + b"\xff\xff" + data  # a socket that speaks both versions
    words = (int.from_bytes(data[at : at + 4], sys.byteorder) for at in range(0, len(data), 4))
    return "".join(f"{word:08X}" for word in words) + f":{address[1]:04X}"


# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h
_SOCK_DIAG = 4
_BY_FAMILY = 20
_REQUEST = 1
_ANY_STATE = 0xFFFFFFFF
_ANY_COOKIE = b"\xff" * 8
_HEAD = struct.Struct("=IHHII")
_ERROR = struct.Struct("=i")
_NOT_THERE = -2
_BEFORE_OWNER = 4 + 48 + 12
"""Family, state, timer and retransmissions; the two addresses; expiry and the lengths of both queues."""
_OWNER = struct.Struct("=II")


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
