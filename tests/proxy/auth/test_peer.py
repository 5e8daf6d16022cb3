"""Whose a connection is, as the system's tables tell it."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proxy.auth.peer import Lookup, Peers, Socket, ask_kernel, find, read_tables

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
V4 = ("127.0.0.1", 40000)
HERE = ("127.0.0.1", 8484)
little = pytest.mark.skipif(sys.byteorder != "little", reason="the rows are those of a little-endian machine")
linux = pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the system has no tables of sockets")


def row(local: str, remote: str, state: str = "01", user: int = 1000, inode: int = 7) -> str:
    return f"   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000 {user:5d}        0 {inode} 1 0\n"


PEER, OURS = row("0100007F:9C40", "0100007F:2124"), row("0100007F:2124", "0100007F:9C40", user=0)
MAPPED = row("0000000000000000FFFF00000100007F:9C40", "0000000000000000FFFF00000100007F:2124")


@little
def test_the_peers_own_end_is_found_and_not_ours() -> None:
    assert find(HEAD + OURS + PEER, V4, HERE) == Socket(1, 1000, 7)
    assert find(HEAD + OURS, V4, HERE) is None
    assert find(HEAD + MAPPED.rstrip(), V4, HERE) == Socket(1, 1000, 7)
    six = row("00000000000000000000000001000000:9C40", "00000000000000000000000001000000:2124", user=5)
    assert find(HEAD + six, ("::1", 40000), ("::1", 8484)) == Socket(1, 5, 7)


@little
@pytest.mark.parametrize(
    ("table", "own"),
    [
        (OURS + PEER, True),
        (OURS + row("0100007F:9C40", "0100007F:2124", user=1001), False),
        (OURS + row("0100007F:9C40", "0100007F:2124", state="05", user=0, inode=0), False),
        (row("0100007F:2124", "0100007F:9C40", state="08", user=0), False),
        (OURS, True),
        ("", False),
    ],
    ids=["own", "another user's", "closed by its process", "gone", "of no process here", "closed by both"],
)
async def test_a_connection_is_ours_or_not(table: str, own: bool, tmp_path: Path) -> None:
    file = tmp_path / "tcp"
    file.write_text(HEAD + table)
    assert await Peers(says_nothing, [file], user=1000).owns(V4, HERE) is own
    table_of_both = Peers(lambda one, other: read_tables([tmp_path / "none", file], one, other), [], user=1000)
    assert await table_of_both.owns(V4, HERE) is own


async def test_where_the_system_does_not_tell_a_loopback_address_counts_as_own(tmp_path: Path) -> None:
    peers = Peers(says_nothing, [tmp_path / "none"], user=1000)
    assert await peers.owns(V4, HERE) and await peers.owns(("::1", 4, 0, 0), ("::1", 5, 0, 0))
    assert await peers.owns(("::ffff:127.0.0.1", 4, 0, 0), ("::ffff:127.0.0.1", 5, 0, 0))
    for peer in (("10.0.0.1", 4), ("fe80::1%eth0", 4, 0, 2), ("", 0), None, ()):
        assert not await peers.owns(peer, HERE)


@contextmanager
def connected(host: str) -> Iterator[tuple[socket.socket, socket.socket]]:
    """A client's socket and the server's end of it; ``both``: the client's speaks both versions."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        socket.create_server(("127.0.0.1" if host == "both" else host, 0), family=family) as server,
        socket.socket(socket.AF_INET6 if host == "both" else family) as client,
    ):
        try:
            port = server.getsockname()[1]
            client.connect(("::ffff:127.0.0.1" if host == "both" else host, port))
        except OSError as error:
            pytest.skip(f"{host}: {error}")
        accepted, _ = server.accept()
        with accepted:
            yield client, accepted


def says_nothing(local: object, remote: object) -> Socket | None:
    """A system that does not tell."""
    raise OSError


@linux
@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "both"])
@pytest.mark.parametrize("ask", [ask_kernel, says_nothing])
async def test_a_real_connection_of_this_process_is_ours(host: str, ask: Lookup) -> None:
    with connected(host) as (client, accepted):
        peer, here = accepted.getpeername(), accepted.getsockname()
        assert await Peers(ask).owns(peer, here)
        assert not await Peers(ask, user=os.geteuid() + 1).owns(peer, here)
        client.close()
        assert not await Peers(ask).owns(peer, here)


@linux
async def test_a_socket_that_its_process_has_closed_with_bytes_under_way_is_nobodys() -> None:
    with connected("127.0.0.1") as (client, accepted):
        peer, here = accepted.getpeername(), accepted.getsockname()
        accepted.sendall(b"unread")
        client.shutdown(socket.SHUT_WR)
        assert await Peers().owns(peer, here)
        client.close()
        assert not await Peers().owns(peer, here)


async def test_a_connection_is_looked_up_once_and_forgotten_when_it_is_closed(tmp_path: Path) -> None:
    peers = Peers(says_nothing, [tmp_path / "none"])
    asked = 0

    class Transport(asyncio.Transport):
        closed = False

        def get_extra_info(self, name: str, default: object = None) -> object:
            nonlocal asked
            asked += 1
            return V4

        def is_closing(self) -> bool:
            return self.closed

    transport = Transport()
    for _ in range(3):
        assert await peers.is_own(transport)
    assert asked == 2
    transport.closed = True
    for _ in range(600):
        again = Transport()
        await peers.is_own(again)
        again.closed = True
    assert len(peers._known) <= 256
    assert not await peers.is_own(None)
