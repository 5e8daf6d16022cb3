"""Network namespaces, and processes that end in time."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

PATIENCE = float(os.environ.get("E2E_PATIENCE", "1"))
"""What every limit of time is multiplied by, for a machine that does other work beside."""

_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1


def isolation() -> list[str] | None:
    """The command that gives a process a network of its own; None where this machine does not permit it."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return None
    for options in (["--net"], ["--user", "--map-root-user", "--net"]):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if (
                subprocess.run([unshare, *options, "true"], capture_output=True, timeout=10, check=False).returncode
                == 0
            ):
                return [unshare, *options, "--"]
    return None


def raise_loopback() -> None:
    """Bring up ``lo``, which is down in a new namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        told = fcntl.ioctl(any_socket, _GET_FLAGS, struct.pack("16sh22x", b"lo", 0))
        (flags,) = struct.unpack_from("h", told, 16)
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh22x", b"lo", flags | _UP))


def only_loopback() -> bool:
    """Whether this process can reach nothing but itself."""
    return [name for _, name in socket.if_nameindex()] == ["lo"]


async def run(
    command: Sequence[str], cwd: Path, env: Mapping[str, str], seconds: float, output: Path
) -> tuple[int | None, str]:
    """Run a command to its end; its status (None where it took too long) and what it wrote.

    Whatever it started ends with it.
    """
    with output.open("ab") as opened:
        start = opened.tell()
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=opened,
            stderr=opened,
            start_new_session=True,
        )
        status: int | None = None
        try:
            status = await asyncio.wait_for(process.wait(), seconds)
        except TimeoutError:
            pass
        finally:
            end_group(process.pid)
            await process.wait()
    return status, _text(output, start)


def _text(file: Path, start: int) -> str:
    return file.read_bytes()[start:].decode("utf-8", "replace")


def end_group(leader: int) -> None:
    """End a process that was started in a session of its own, and what it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def end_left(home: Path) -> int:
    """End what a client has left running in a session of its own, known by its home folder; how many there were."""
    mark, ended = f"HOME={home}".encode(), 0
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)
                    ended += 1
    return ended


async def listening(port: int, seconds: float, unless: Callable[[], bool]) -> bool:
    """Whether a port of this machine comes to be listened on, in so many seconds, ``unless`` something happens."""
    deadline = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < deadline and not unless():
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
            continue
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return True
    return False
