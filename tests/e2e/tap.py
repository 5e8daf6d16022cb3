"""What a client itself sent: a relay between it and the proxy that passes every byte on and keeps the requests.

Each request gets a number in a header, which comes out at the model again, so that what was forwarded can be laid
beside what was sent. Connections are relayed one for one: where the proxy is killed, the client's break off. Of a
WebSocket the frames that ask for a response are kept, each with the number of its connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.e2e.frames import ASKS, ENDS, FrameReader, HeldHistories

NUMBER = "x-e2e-request"
"""The header with a request's number."""
HEAD_BYTES = 2**20
PIECE_BYTES = 2**16


@dataclass(slots=True)
class SentFrame:
    """A frame that asks for a response: the number of its connection, the id of the response that it goes on from, and
    all that it asks for, with what the server holds. ``refused`` is the code of the error that answered it."""

    connection: int
    before: str | None
    whole: Mapping[str, Any]
    refused: str = ""


class _Socket:
    """The frames of a connection, once it is a WebSocket's."""

    def __init__(self, frames: list[SentFrame]) -> None:
        self.number = 0
        self._frames = frames
        self._there, self._back = FrameReader(), FrameReader()
        self._held = HeldHistories()
        self._unanswered = deque[SentFrame]()

    def asked(self, piece: bytes) -> None:
        """The client has sent so much."""
        for frame in map(json.loads, self._there.feed(piece)):
            if frame.get("type") == ASKS:
                sent = SentFrame(self.number, frame.get("previous_response_id"), self._held.whole(frame))
                self._frames.append(sent)
                self._unanswered.append(sent)

    def told(self, piece: bytes) -> None:
        """The proxy has sent so much."""
        for event in map(json.loads, self._back.feed(piece)):
            self._held.told(event)
            if event["type"] in ENDS and self._unanswered:
                sent = self._unanswered.popleft()
                sent.refused = event["error"]["code"] or event["error"]["type"] if event["type"] == "error" else ""


Unanswered = deque[dict[str, str]]
"""For the replies' headers of the requests of a connection that are not answered yet, in order."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as the client sent it."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    raw: bytes
    answered: dict[str, str] = field(default_factory=dict)
    """The headers of the reply, once it has begun."""

    @property
    def body(self) -> Any:
        """Its body, parsed; None where it has none."""
        return json.loads(self.raw) if self.raw else None

    @property
    def told(self) -> str:
        """The request, and how it was answered, as one line of JSON."""
        return json.dumps({**asdict(self), "raw": self.raw.decode("utf-8", "replace")})


class Tap:
    """The relay, on a port of the loopback address. ``sent`` is what was sent through it, in order, ``frames`` what was
    sent over WebSockets."""

    def __init__(self, port: int, to: int) -> None:
        self.port = port
        self.sent: list[Sent] = []
        self.frames: list[SentFrame] = []
        self._to = to
        self._count = 0
        self._server: asyncio.Server | None = None
        self._links: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, limit=HEAD_BYTES)

    async def stop(self) -> None:
        """Stop listening, and end what is still connected."""
        if self._server is not None:
            self._server.close()
        for link in self._links:
            link.cancel()
        await asyncio.gather(*self._links, return_exceptions=True)

    async def _accept(self, reads: asyncio.StreamReader, writes: asyncio.StreamWriter) -> None:
        link = asyncio.current_task()
        assert link is not None
        self._links.add(link)
        try:
            await self._link(reads, writes)
        except asyncio.CancelledError:
            pass  # only its own end cancels it, and nobody waits for more
        finally:
            self._links.discard(link)
            writes.transport.abort()

    async def _link(self, reads: asyncio.StreamReader, writes: asyncio.StreamWriter) -> None:
        """One connection of the client's, and the one to the proxy that belongs to it."""
        try:
            replies, forwards = await asyncio.open_connection("127.0.0.1", self._to, limit=HEAD_BYTES)
        except OSError:
            return
        unanswered, socket = Unanswered(), _Socket(self.frames)
        ways = [
            asyncio.create_task(self._requests(reads, forwards, unanswered, socket)),
            asyncio.create_task(_replies(replies, writes, unanswered, socket)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            forwards.transport.abort()
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _requests(
        self, reads: asyncio.StreamReader, forwards: asyncio.StreamWriter, unanswered: Unanswered, socket: _Socket
    ) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reads.readuntil(b"\r\n\r\n")
                line, _, rest = head.partition(b"\r\n")
                self._count += 1
                number = self._count
                forwards.write(line + f"\r\n{NUMBER}: {number}\r\n".encode() + rest)
                method, path, _ = line.decode("latin-1").split(" ", 2)
                headers, answered = _headers(rest), dict[str, str]()
                unanswered.append(answered)
                if "upgrade" in headers:
                    socket.number = number
                    await _pass_on(reads, forwards, socket)
                    return
                raw = await _body(reads, forwards, headers)
                self.sent.append(Sent(number, method, path, headers, raw, answered))


async def _replies(
    reads: asyncio.StreamReader, writes: asyncio.StreamWriter, unanswered: Unanswered, socket: _Socket
) -> None:
    """All that comes. A client asks nothing more on a connection before it is answered, so what comes first after a
    request begins with the head of its reply."""
    with contextlib.suppress(OSError):
        head = b""
        while piece := await reads.read(PIECE_BYTES):
            if unanswered:
                head, ended, behind = (head + piece).partition(b"\r\n\r\n")
                if ended:
                    unanswered.popleft().update(_headers(head.partition(b"\r\n")[2]))
                    head = b""
                    if socket.number:
                        socket.told(behind)
            elif socket.number:
                socket.told(piece)
            writes.write(piece)
            await writes.drain()


async def _pass_on(reads: asyncio.StreamReader, writes: asyncio.StreamWriter, socket: _Socket) -> None:
    """All that comes, until the other side ends."""
    with contextlib.suppress(OSError):
        while piece := await reads.read(PIECE_BYTES):
            socket.asked(piece)
            writes.write(piece)
            await writes.drain()


async def _body(reads: asyncio.StreamReader, forwards: asyncio.StreamWriter, headers: Mapping[str, str]) -> bytes:
    """A request's body, passed on as it comes."""
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await _bytes(reads, forwards, int(headers.get("content-length", "0")))
    whole = b""
    while True:
        line = await reads.readline()
        forwards.write(line)
        if (size := int(line.partition(b";")[0], 16)) == 0:
            while line not in (b"\r\n", b""):
                line = await reads.readline()
                forwards.write(line)
            await forwards.drain()
            return whole
        whole += (await _bytes(reads, forwards, size + 2))[:-2]


async def _bytes(reads: asyncio.StreamReader, forwards: asyncio.StreamWriter, count: int) -> bytes:
    pieces = list[bytes]()
    while count:
        piece = await reads.read(min(count, PIECE_BYTES))
        if not piece:
            raise asyncio.IncompleteReadError(b"".join(pieces), count)
        forwards.write(piece)
        await forwards.drain()
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def _headers(head: bytes) -> dict[str, str]:
    """Names in small letters."""
    lines = (line.partition(":") for line in head.decode("latin-1").split("\r\n") if line)
    return {name.strip().lower(): value.strip() for name, _, value in lines}
