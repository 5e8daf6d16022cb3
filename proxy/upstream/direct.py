"""Send a request upstream as bytes, and give its reply back as bytes.

Knows nothing of wire formats or memory: which headers travel, which address a path has, when a connection may be
tried again. A request that was sent is never sent twice, because a provider may have billed it.

Compressions that Python's own library cannot read, or not in every version.
"""

from __future__ import annotations

import asyncio
import importlib
import io
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from random import random
from types import ModuleType

import aiohttp
from aiohttp import ClientConnectorDNSError, ClientConnectorError, ClientSession, ClientTimeout, TCPConnector, hdrs
from multidict import CIMultiDict, istr
from yarl import URL

from proxy.errors import UpstreamUnreachable
from proxy.settings import CHATGPT_PATH, UpstreamSettings


def inflate(body: bytes, encoding: str, largest: int) -> bytes | None:
    """A body in ``zstd`` or ``br`` as plain bytes; None where nothing here reads it, it is broken, or it grows beyond
    ``largest``."""
    library = library_of(encoding)
    if library is None:
        return None
    return _zstd(library, body, largest) if encoding == "zstd" else _brotli(library, body, largest)


def library_of(encoding: str) -> ModuleType | None:
    """What reads and writes a compression; None where it is not installed."""
    return _library("brotli") if encoding == "br" else _library("compression.zstd") or _library("backports.zstd")


def _zstd(library: ModuleType, body: bytes, largest: int) -> bytes | None:
    inflater = library.ZstdDecompressor()
    try:
        plain: bytes = inflater.decompress(body, largest)
    except library.ZstdError:
        return None
    return plain if inflater.eof and not inflater.unused_data else None


def _brotli(library: ModuleType, body: bytes, largest: int) -> bytes | None:
    inflater = library.Decompressor()
    pieces, size = list[bytes](), 0
    try:
        # The last byte comes on its own: what is finished before it has something behind its end.
        for rest in (body[:-1], body[-1:]):
            if inflater.is_finished():
                return None
            piece: bytes = inflater.process(rest, output_buffer_limit=largest - size + 1)
            while piece:
                pieces.append(piece)
                size += len(piece)
                if size > largest:
                    return None
                piece = b"" if inflater.is_finished() else inflater.process(b"", output_buffer_limit=largest - size + 1)
    except library.error:
        return None
    return b"".join(pieces) if inflater.is_finished() else None


def _library(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
"""RFC 9110, section 7.6.1: they speak of one connection, not of the message."""

LARGE = 2**19
"""Bytes from which on a body is sent in pieces."""

_USUAL = frozenset(str(name).lower() for name in vars(hdrs).values() if isinstance(name, istr))
"""Names of headers that are no secret of anybody's."""

OF_THE_WAY_HERE = ("cookie", "cookie2", "forwarded", "x-real-ip")
"""Headers for this host alone: a browser sends its cookies to every port of it, and a proxy before us says who asked.
So does each ``x-forwarded-``."""

MAX_HEADER_BYTES = 2**17
"""Bytes of one header of a reply: some providers send policies and cookies of tens of thousands."""

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds between two attempts to connect at most: behind the first one, and however many there were."""

INFLATION = 64
"""How many times as large as it came a body may become: a long history that repeats itself is some thirty times."""

INFLATED = 2**20
"""Bytes that a small one may become all the same."""

_VERSIONED = re.compile(r"/v\d[\w.]*$")
_GEMINI_VERSION = re.compile(r"/v1(?:alpha|beta)\d{0,2}(?=/)")
_RESOURCES = re.compile(
    r"/(chat|responses|messages|completions|models|embeddings|files|uploads|images|audio|moderations|batches|"
    r"fine_tuning|vector_stores|conversations|assistants|threads|realtime|rerank|evals|containers|videos)(/|\?|$)"
)


def address(base: str, path: str) -> str:
    """Where a client's path lies below a provider's base address.

    A base may end in a version (``https://host/v1``) or not, and a client may send the version or leave it out:
    it is never doubled, and the base's own version wins. Where a ChatGPT login's requests go, there is none.
    """
    if base.endswith(CHATGPT_PATH):
        return base + (path[3:] if path == "/v1" or path.startswith(("/v1/", "/v1?")) else path)
    versioned = _VERSIONED.search(base)
    if versioned and (own := _GEMINI_VERSION.match(path)):
        return base + path[own.end() :]
    if path == "/v1" or path.startswith(("/v1/", "/v1?")):
        return base + path[3:] if versioned else base + path
    if versioned and not _RESOURCES.match(path):
        return base[: versioned.start()] + path
    return base + path


def outgoing_headers(
    headers: Iterable[tuple[str, str]], listened: bool, is_secret: Callable[[str], bool] = lambda _: False
) -> CIMultiDict[str]:
    """The client's headers as they travel on: without hop-by-hop ones, those for this host and ours, and without those
    that hold a secret of ours, whatever their names.

    ``listened`` asks the provider not to compress, because the reply is read on its way.
    """
    pairs = list(headers)
    named = {name.strip().lower() for key, value in pairs if key.lower() == "connection" for name in value.split(",")}
    outgoing = CIMultiDict[str]()
    for key, value in pairs:
        low = key.lower()
        if low in HOP_BY_HOP or low in named or low in ("host", "content-length", "expect"):
            continue
        if low in OF_THE_WAY_HERE or low.startswith("x-forwarded-"):
            continue
        if low.startswith("x-palimpsest-") or (listened and low == "accept-encoding"):
            continue
        if is_secret(value) or (low not in _USUAL and is_secret(low)):
            continue
        outgoing.add(key, value)
    if listened:
        outgoing["Accept-Encoding"] = "identity"
    return outgoing


def incoming_headers(headers: Iterable[tuple[str, str]]) -> CIMultiDict[str]:
    """The provider's headers as they reach the client. Which web pages may read a reply is ours to say."""
    return CIMultiDict[str](
        (key, value)
        for key, value in headers
        if key.lower() not in HOP_BY_HOP and not key.lower().startswith("access-control-")
    )


def decompressed(body: bytes, encoding: str, largest: int) -> bytes | None:
    """A compressed body as plain bytes; None where we cannot read its compression, or it grows beyond ``largest``, or
    beyond what honest text grows to."""
    largest = min(largest, max(INFLATED, INFLATION * len(body)))
    match encoding.strip().lower():
        case "" | "identity":
            return body
        case "gzip":
            window = 16 + zlib.MAX_WBITS
        case "deflate":
            window = zlib.MAX_WBITS
        case "zstd" | "br" as other:
            return inflate(body, other, largest)
        case _:
            return None
    inflater = zlib.decompressobj(window)
    try:
        plain = inflater.decompress(body, largest)
    except zlib.error:
        return None
    # What stands behind its end another reader may take for more of it.
    return plain if inflater.eof and not inflater.unused_data else None


class Direct:
    """A pool of connections to providers."""

    def __init__(self, settings: UpstreamSettings) -> None:
        self._settings = settings
        self._session: ClientSession | None = None

    async def open(self) -> None:
        """Make the pool. No total timeout: a turn may take an hour, as long as bytes come."""
        self._session = ClientSession(
            connector=TCPConnector(limit=0, ttl_dns_cache=60, keepalive_timeout=30),
            timeout=ClientTimeout(
                total=None, sock_connect=self._settings.connect_seconds, sock_read=self._settings.read_seconds
            ),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            read_bufsize=2**18,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )

    async def close(self) -> None:
        """Close every connection."""
        if self._session:
            await self._session.close()

    async def connect(
        self, url: str, headers: CIMultiDict[str], protocols: Sequence[str], largest: int
    ) -> tuple[aiohttp.ClientWebSocketResponse, Mapping[str, str]]:
        """A WebSocket to a provider, and the headers that it was opened with. It is closed by who asked for it.

        Raises:
            aiohttp.ClientError: when it is refused (:class:`aiohttp.WSServerHandshakeError`), or not reached.
        """
        assert self._session is not None, "open() comes first"
        opened = await self._session.ws_connect(
            URL(url, encoded=True),
            headers=headers,
            protocols=protocols,
            max_msg_size=largest,
            compress=0,
            autoping=True,
            # How it is closed from here is as its client closes it.
            autoclose=False,
        )
        return opened, opened._response.headers

    async def _connected(
        self,
        method: str,
        url: str,
        headers: CIMultiDict[str],
        body: bytes | AsyncIterator[bytes] | None,
        attempts: int,
    ) -> aiohttp.ClientResponse:
        """The reply to a request that is sent once a connection is made, after so many attempts at most."""
        assert self._session is not None, "open() comes first"
        for attempt in count(1):
            # A large body goes out in pieces, so that other streams have their turn meanwhile.
            data = io.BytesIO(body) if isinstance(body, bytes) and len(body) > LARGE else body
            try:
                return await self._session.request(
                    method, URL(url, encoded=True), headers=headers, data=data, allow_redirects=False
                )
            except ClientConnectorError:
                if attempt >= attempts:
                    raise
                await asyncio.sleep(random() * min(FIRST_PAUSE * 2 ** (attempt - 1), LONGEST_PAUSE))
        raise AssertionError("counting has no end")

    @asynccontextmanager
    async def send(
        self, method: str, url: str, headers: CIMultiDict[str], body: bytes | AsyncIterator[bytes] | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """The provider's reply, its body still to be read.

        Raises:
            UpstreamUnreachable: when no reply came. Only a connection that could not be made is tried again, and
                never when the body is a stream that has begun.
        """
        attempts = 1 if isinstance(body, AsyncIterator) else self._settings.attempts
        try:
            reply = await self._connected(method, url, headers, body, attempts)
        except (aiohttp.ClientError, TimeoutError, ssl.SSLError, OSError, ValueError) as error:
            raise UpstreamUnreachable(_sentence(error, url)) from error
        try:
            yield reply
        finally:
            # Reached the end: the connection can serve again. Left early: closing it tells the provider to stop.
            if reply.content.at_eof():
                reply.release()
            else:
                reply.close()


def _sentence(error: BaseException, url: str) -> str:
    host = URL(url, encoded=True).origin()
    match error:
        case ClientConnectorDNSError():
            return f"the name of {host} cannot be resolved"
        case ClientConnectorError():
            return f"no connection to {host}: {error.os_error.strerror or error.os_error}"
        case TimeoutError():
            return f"{host} did not answer in time"
        case _:
            return f"{host} broke the connection: {type(error).__name__}"
