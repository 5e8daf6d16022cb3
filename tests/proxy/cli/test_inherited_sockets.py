"""Sockets that launchd hands over, by a library of our own in the place of macOS's, and systemd, by its own program."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import shutil
import socket
import sys
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from proxy.cli.faults import CommandError
from proxy.cli.inherited_sockets import activated_by_launchd
from tests.bench.processes import free_port
from tests.proxy.cli.running import ROOT, clean_environment, run

NUMBERS = ctypes.POINTER(ctypes.c_int)
ACTIVATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(NUMBERS), ctypes.POINTER(ctypes.c_size_t))
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

SOCKET_ACTIVATE = shutil.which("systemd-socket-activate")
SECONDS = 120


class Launchd(SimpleNamespace):
    """What macOS's library has of launchd: the sockets of an agent by their name, in memory to be freed."""

    def __init__(self, **sockets: list[int]) -> None:
        self._arrays = {name: (ctypes.c_int * len(numbers))(*numbers) for name, numbers in sockets.items()}
        self.freed: list[int] = []
        super().__init__(launch_activate_socket=ACTIVATE(self._activate), free=FREE(self.freed.append))

    def lies_at(self, name: str) -> int:
        return ctypes.addressof(self._arrays[name])

    def _activate(self, name: bytes, numbers: Any, count: Any) -> int:
        if name.decode() not in self._arrays:
            return errno.ENOENT
        array = self._arrays[name.decode()]
        numbers[0], count[0] = ctypes.cast(array, NUMBERS), len(array)
        return 0


def test_launchd_hands_over_the_sockets_of_a_name_and_what_it_lists_them_in_is_freed() -> None:
    launchd = Launchd(Listeners=[5, 7])
    assert activated_by_launchd("Listeners", launchd) == [5, 7]
    assert launchd.freed == [launchd.lies_at("Listeners")]
    with pytest.raises(CommandError, match=r"no socket 'Other' over: No such file"):
        activated_by_launchd("Other", launchd)


@pytest.mark.skipif(sys.platform == "darwin", reason="launchd is here")
def test_a_system_without_launchd_says_so(home: Path) -> None:
    done = run("serve", "--launchd", "Listeners")
    assert done.code == 2 and "no launchd" in done.err


@pytest.mark.skipif(SOCKET_ACTIVATE is None, reason="there is no systemd-socket-activate here")
async def test_who_connects_first_is_answered_by_the_server_that_systemd_starts_for_it(home: Path) -> None:
    assert SOCKET_ACTIVATE is not None
    port = free_port()
    passed = [f"--setenv={name}={value}" for name, value in clean_environment(PYTHONPATH=str(ROOT)).items()]
    serve = (sys.executable, "-m", "proxy", "serve", "--home", str(home))
    process = await asyncio.create_subprocess_exec(
        *(SOCKET_ACTIVATE, f"--listen=127.0.0.1:{port}", *passed, *serve),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        assert "Listening on" in (await process.stderr.readline()).decode()
        assert not (home / "lock").exists()
        timeout = aiohttp.ClientTimeout(SECONDS)
        async with aiohttp.ClientSession(timeout=timeout) as client, client.get(f"http://127.0.0.1:{port}/") as reply:
            assert reply.status == 200 and "Palimpsest" in await reply.text()
        with closing(socket.socket()) as another, pytest.raises(OSError, match="in use"):
            another.bind(("127.0.0.1", port))
        process.terminate()
        await process.communicate()
        assert process.returncode == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
