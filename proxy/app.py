"""The routes, and what lives as long as the server: the pool of connections, memory, our own endpoints' token."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from memory.clock import local_now
from memory.learning.redact import also_redact
from memory.models.litellm_client import LitellmMissing
from memory.version import release
from proxy import tracing
from proxy.api.landing import PATHS, hello, is_person
from proxy.auth import installation_key, tokens
from proxy.auth.installation_key import InstallationKey, OwnSecrets
from proxy.auth.middleware import cors, head_check, sandbox, site_check
from proxy.auth.tokens import TokenStore
from proxy.checkout import CheckoutLookup
from proxy.connections import Connections, bound, open_files, raise_descriptors
from proxy.draining import Draining
from proxy.edge import EDGE, Edge
from proxy.exchange import exchange
from proxy.fail_open import Degradations, fail_open
from proxy.limits import LEFT, Limits, network_of
from proxy.marker import TRUSTED
from proxy.opening import memory_beside
from proxy.own_endpoints import OwnEndpoints
from proxy.settings import Settings
from proxy.upstream.bridge import Bridge
from proxy.upstream.direct import Direct

log = logging.getLogger(__name__)

LINE_BYTES = 64 * 1024
"""What a line of a request's head may have. Clients put long tokens into headers, and the command line its questions
into URLs: 4,000 characters of any script, written as ``%XX``, are 48,000 bytes."""

LEAST_SECONDS = 0.1
"""How long handlers that are cut off have in any case."""

TRACES_SECONDS = 2.0
"""How long the end waits for traces to be sent."""


def make_app(
    settings: Settings, sources: Mapping[str, str] | None = None, now: Callable[[], datetime] = local_now
) -> web.Application:
    """The application. Stores are opened when it starts and closed when it stops."""
    # Before memory is opened, and where it never is: what is logged and told of our health is redacted too.
    also_redact(settings.memory.redact)
    draining = Draining()
    app = web.Application(
        client_max_size=settings.server.max_body_mib * 2**20,
        middlewares=[draining.counting(), site_check(settings.server)],
    )
    token = own_secret(settings.home / "token")
    app[EDGE] = Edge(
        settings=settings,
        upstream=Direct(settings.upstream),
        bridge=Bridge(settings.upstream, os.environ),
        degradations=Degradations(),
        token=token,
        identity_key=bytes.fromhex(own_secret(settings.home / "identity.key")),
        checkouts=CheckoutLookup(names=settings.home / "projects.json", trusted=settings.home / TRUSTED),
        key=InstallationKey(settings.home / installation_key.FILE),
        secrets=OwnSecrets(token, (credential.key for credential in settings.credentials)),
        tokens=TokenStore(settings.home / tokens.FILE),
        sources=sources or {},
        now=now,
        limits=Limits(settings.server.limits),
        traces=tracing.opened(settings.server.traces, release()),
        draining=draining,
    )
    app.cleanup_ctx.append(_traces)
    app.cleanup_ctx.append(_upstream)
    app.cleanup_ctx.append(memory_beside)
    for path in PATHS:
        app.router.add_get(path, _landing_for_browsers, allow_head=False)
    app.router.register_resource(OwnEndpoints(app[EDGE]))
    app.router.add_route("*", r"/{path:[\s\S]*}", exchange)
    app.on_response_prepare.append(cors(settings.server))
    app.on_response_prepare.append(sandbox)
    app.on_response_prepare.append(_add_limit_headers)
    app.on_response_prepare.append(draining.end_connection)
    return app


async def _add_limit_headers(request: web.Request, response: web.StreamResponse) -> None:
    """How much is left to its caller stands on every reply, a provider's too."""
    response.headers.update(LEFT.get())


async def _landing_for_browsers(request: web.Request) -> web.StreamResponse:
    """Our address itself, opened by a person; what a client asks there goes its way."""
    return await (hello(request) if is_person(request) else exchange(request))


class UnquotedBadRequest(logging.Filter):
    """A request whose head cannot be read is told in a line that says nothing of it. aiohttp quotes what it could not
    read: a credential is in it, or a person's words."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record goes on, some of them in other words."""
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, HttpProcessingError):
            message = f"a request could not be read as HTTP and was refused: {type(error).__name__}"
            record.msg, record.args, record.exc_info, record.exc_text = message, (), None, None
            record.levelno, record.levelname = logging.WARNING, logging.getLevelName(logging.WARNING)
        return True


_UNQUOTED = UnquotedBadRequest()


class Runner(web.AppRunner):
    """Serves an application over a bounded number of connections."""

    async def cleanup(self) -> None:
        # aiohttp takes 0 for any time.
        self._shutdown_timeout = max(self.app[EDGE].draining.may_take(self._shutdown_timeout), LEAST_SECONDS)
        await super().cleanup()

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        server.request_handler = head_check(server.request_handler)
        settings = self.app[EDGE].settings.server
        most = bound(settings.max_connections, raise_descriptors(), open_files())
        return Connections(server, most, settings.limits.connections, network_of)


def make_runner(app: web.Application) -> web.AppRunner:
    """How the application is served.

    A client that goes away cancels its handler, which closes the provider's connection too; bodies are left
    compressed as they came, so that they can go on as they came.
    """
    heard = logging.getLogger(f"{__name__}.http")
    heard.addFilter(_UNQUOTED)
    return Runner(
        app,
        handler_cancellation=True,
        auto_decompress=False,
        access_log=None,
        logger=heard,
        max_line_size=LINE_BYTES,
        max_field_size=LINE_BYTES,
        keepalive_timeout=75,
        shutdown_timeout=5,
    )


@asynccontextmanager
async def listening(app: web.Application) -> AsyncIterator[str]:
    """Serve the application on a free port of this machine, once memory is open; its address."""
    runner = make_runner(app)
    await runner.setup()
    try:
        await app[EDGE].opened()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def own_secret(file: Path) -> str:
    """A secret in a file that only its owner can read; made where there is none, or an empty file was left by a
    crash. 64 hexadecimal digits.

    Raises:
        OSError: when the folder cannot be written.
        ValueError: when something else stands in the file.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.parent.chmod(0o700)
    file.touch(mode=0o600)
    known = file.read_text().strip()
    if known:
        return bytes.fromhex(known).hex()
    secret = secrets.token_hex(32)
    file.write_text(secret + "\n")
    return secret


async def _traces(app: web.Application) -> AsyncIterator[None]:
    yield
    if not app[EDGE].settings.server.traces:
        return
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def close() -> None:
        app[EDGE].traces.close()
        with contextlib.suppress(RuntimeError):  # nobody waits any more
            loop.call_soon_threadsafe(done.set)

    # In a thread that holds nobody up: where nobody takes traces, sending them is tried for a minute.
    threading.Thread(target=close, name="traces", daemon=True).start()
    await fail_open(
        done.wait(),
        default=None,
        timeout_seconds=app[EDGE].draining.may_take(TRACES_SECONDS),
        operation="sending traces",
        degradations=app[EDGE].degradations,
    )


async def _upstream(app: web.Application) -> AsyncIterator[None]:
    edge = app[EDGE]
    await edge.upstream.open()
    try:
        await edge.bridge.open()
    except LitellmMissing as error:
        log.warning("%s", error)
        edge.degradations.add("opening the bridge", f"shut: {error}")
    yield
    await edge.bridge.close()
    await edge.upstream.close()
