"""Who has a TCP socket of this machine, as Linux tells it.

It is asked of the kernel (``sock_diag``, microseconds), or read in its tables (``/proc/net/tcp``, milliseconds).
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys
from collections.abc import Sequence
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
        start = table.find(f" {_spelt(local, mapped)} {_spelt(remote, mapped)} ")
        if start >= 0:
            fields = table[start:].partition("\n")[0].split()
            return Socket(int(fields[2], 16), int(fields[6]), int(fields[8]))
    return None


def _spelt(address: Address, mapped: bool) -> str:
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
