"""Sockets that are listened on before we start: by systemd or launchd, or by the command that keeps a server running.

Who connects meanwhile waits for us instead of being refused, also while a server that died is started again.
"""

from __future__ import annotations

import ctypes
import ipaddress
import os
import socket
from typing import Any

from proxy.cli.faults import CommandError
from proxy.settings import Settings

FIRST = 3
"""The descriptor at which systemd's begin (sd_listen_fds)."""


def handed_over(descriptor: int | None, launchd: str | None = None) -> list[socket.socket]:
    """The sockets that were handed over, by an option, by launchd under a name, or by systemd; none where we are to
    listen ourselves.

    Raises:
        Fault: when what is there is no socket.
    """
    numbers = [descriptor] if descriptor is not None else []
    if launchd is not None:
        numbers += activated_by_launchd(launchd, ctypes.CDLL(None))
    if not numbers and os.environ.get("LISTEN_PID") == str(os.getpid()):
        count = os.environ.get("LISTEN_FDS", "")
        numbers = list(range(FIRST, FIRST + (int(count) if count.isdigit() else 0)))
    for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        os.environ.pop(name, None)
    taken = []
    for number in numbers:
        try:
            taken.append(socket.socket(fileno=number))
        except OSError as error:
            raise CommandError(f"no socket was handed over at descriptor {number}: {error.strerror}", 2) from error
        os.set_inheritable(number, False)
    return taken


def activated_by_launchd(name: str, system: Any) -> list[int]:
    """The descriptors of the sockets that our agent has under a name, by ``launch_activate_socket`` of the ``system``'s
    library.

    Raises:
        Fault: when launchd has none for us, or there is no launchd.
    """
    numbers, count = ctypes.POINTER(ctypes.c_int)(), ctypes.c_size_t()
    try:
        activate, free = system.launch_activate_socket, system.free
    except AttributeError:
        raise CommandError("there is no launchd on this system", 2) from None
    activate.argtypes = [ctypes.c_char_p, ctypes.POINTER(ctypes.POINTER(ctypes.c_int)), ctypes.POINTER(ctypes.c_size_t)]
    free.argtypes = [ctypes.c_void_p]
    if code := activate(name.encode(), ctypes.byref(numbers), ctypes.byref(count)):
        raise CommandError(f"launchd hands no socket {name!r} over: {os.strerror(code)}", 2)
    taken = numbers[: count.value]
    free(numbers)
    return taken


def check_address(taken: socket.socket, settings: Settings) -> socket.socket:
    """A socket that was handed over, if it may be listened on: one on a public address has to be in the settings, which
    ask for credentials then.

    Raises:
        Fault: when it may not, or is no TCP socket.
    """
    if taken.family not in (socket.AF_INET, socket.AF_INET6) or taken.type != socket.SOCK_STREAM:
        raise CommandError("what was handed over is no TCP socket: palimpsest listens on host and port", 2)
    host = taken.getsockname()[0]
    if settings.server.loopback and not ipaddress.ip_address(host).is_loopback:
        raise CommandError(f"a socket on {host} was handed over: set server.host to it, and credentials with it", 2)
    return taken
