"""``palimpsest serve``: start, say where, run until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import importlib
import json
import logging
import mimetypes
import os
import shlex
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memory.private_files import private_files
from memory.session import Mode
from proxy.cli import wording
from proxy.cli.faults import CommandError
from proxy.cli.home_owner import ANNOUNCED
from proxy.cli.inherited_sockets import check_address, handed_over
from proxy.cli.instance_lock import owned
from proxy.cli.log_format import handler
from proxy.cli.malloc_trim import giving_back, large_buffers_apart, quiet
from proxy.cli.options import ConfigFile, Home, loaded
from proxy.cli.server import address
from proxy.cli.server_access import built
from proxy.settings import Loaded, Role, Settings

if TYPE_CHECKING:
    from memory.parts import Memory
    from proxy.draining import Draining
    from proxy.edge import Edge

log = logging.getLogger(__name__)

BACKLOG = 1024
"""Connections that the system keeps for us until they are accepted."""

ACCEPTED = 16
"""Connections that are accepted in one pass of the loop. Out of descriptors asyncio tries that often, and reports each
time."""

SWITCH_SECONDS = 0.0005
# New objects after which the collector of cycles looks at them, after how many such looks again at those that it has
# seen, and after how many of these at all: a second look holds everything up for two milliseconds at most.
_YOUNG = (5000, 5, 80)
# A collection that computes for so long, while everything waits, is not to be repeated.
LONG_SECONDS = 0.02

MOST_FREEZES = 60
"""Long collections after which all that they have left is looked through, too, though replies are under way."""

COLLECT_SECONDS = 60.0
"""How often all that is young enough is looked through for cycles. A connection that was broken off leaves one, with
its request in it, and left to itself the collector would come to the oldest after millions of new objects."""

USUAL = ("claude", "codex", "opencode")
"""Runtimes that are named where none is found."""

ENDING = (signal.SIGINT, signal.SIGTERM)

LEARN_SECONDS = 2.0
"""How long an end may wait for what was said last to be learned; a second signal does not wait."""


END_SECONDS = 10.0
"""How long an end may take once replies are over; each part of it takes what the ones before it left. What was
acknowledged is on the disk; what hangs never ends."""


def serve(
    host: Annotated[str | None, typer.Option(help="The address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[int | None, typer.Option(help="The port; 0 takes a free one.", show_default="8484")] = None,
    upstream: Annotated[str | None, typer.Option(help="The provider, in place of OpenAI and Anthropic.")] = None,
    role: Annotated[
        str | None,
        typer.Option(help="What it does over a shared PostgreSQL: proxy, worker or all.", show_default="all"),
    ] = None,
    log_level: Annotated[
        str | None, typer.Option("--log-level", help="debug, info, warning or error.", show_default="info")
    ] = None,
    log_file: Annotated[
        Path | None, typer.Option("--log-file", help="Log into this file, which is kept short.", show_default="stderr")
    ] = None,
    home: Home = None,
    config: ConfigFile = None,
    descriptor: Annotated[
        int | None, typer.Option("--fd", hidden=True, help="Take over this listening socket, which is open already.")
    ] = None,
    launchd: Annotated[
        str | None, typer.Option("--launchd", hidden=True, help="Take over the sockets that launchd has by this name.")
    ] = None,
    standby: Annotated[str, typer.Option("--standby", hidden=True, help="Only relay, and say that this is why.")] = "",
) -> None:
    """Start the proxy and run until Ctrl-C."""
    # Without it, litellm fetches a price list from the network as soon as it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    options = {"server__host": host, "server__port": port, "upstream__url": upstream, "log_level": log_level}
    options["server__role"] = role
    options["memory__mode"] = Mode.OFF.value if standby else None
    settled = loaded(home, config, **options)
    settings = settled.settings
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler(log_file)])
    handed = handed_over(descriptor, launchd)
    large_buffers_apart()
    # A thread that computes gives way to the loop after half a millisecond and not after Python's usual five.
    sys.setswitchinterval(SWITCH_SECONDS)
    with (
        owned(settings.home),
        private_files(settings.home),
        listening(settings, handed) as sockets,
        asyncio.Runner(loop_factory=_loop(settings)) as runner,
    ):
        runner.run(_run(settled, sockets, bool(handed), standby))


@contextlib.contextmanager
def listening(settings: Settings, handed: Sequence[socket.socket] = ()) -> Iterator[list[socket.socket]]:
    """The sockets that we listen on: taken first, so that a port in use is told before any store is opened. Those that
    were ``handed`` over are listened on already.

    Raises:
        Fault: when the port is taken, or the address is none of this machine's.
    """
    if handed:
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(check_address(each, settings)) for each in handed]
        return
    host, port = settings.server.host.strip("[]"), settings.server.port
    sockets: list[socket.socket] = []
    try:
        places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, _, _, _, place in dict.fromkeys(places):
            with contextlib.suppress(OSError) if sockets else contextlib.nullcontext():
                sockets.append(socket.create_server(place[:2], family=family, backlog=BACKLOG))
        yield sockets
    except OSError as error:
        if sockets:
            raise
        raise CommandError(_why_not(error, host, port)) from error
    finally:
        for each in sockets:
            each.close()


def _why_not(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return (
                f"port {port} on {host} is in use. Perhaps another palimpsest runs already (`palimpsest status`); "
                "else choose another port with --port"
            )
        case errno.EACCES:
            return f"port {port} on {host} may not be used by you: ports below 1024 are the system's; see --port"
        case errno.EADDRNOTAVAIL:
            return f"{host} is no address of this machine: choose another with --host"
    return f"{host}:{port} cannot be listened on: {error.strerror or error}"


async def _run(settled: Loaded, sockets: list[socket.socket], handed: bool, standby: str) -> None:
    # What is read at the start stays: the collector of cycles, which many new objects call again and again, would find
    # nothing in it. It has its turn when all is read (``_freeze_loaded_objects``).
    gc.disable()
    # No file is served here by its name; aiohttp would read two thousand of the machine's kinds of files.
    mimetypes.init(files=())

    from aiohttp import web

    from proxy.app import make_runner
    from proxy.connections import LoopFaults
    from proxy.edge import EDGE

    stop = asyncio.Event()
    _on_signals(stop.set)
    stopping = asyncio.create_task(stop.wait())
    settings = settled.settings
    app = built(settled)
    app[EDGE].standby = standby
    runner = make_runner(app)
    await runner.setup()
    announcement = settings.home / ANNOUNCED
    try:
        for each in sockets:
            await web.SockSite(runner, each, backlog=ACCEPTED).start()
            each.listen(BACKLOG)
        url = address(*sockets[0].getsockname()[:2] if handed else (settings.server.host, sockets[0].getsockname()[1]))
        _announce(announcement, url)
        edge = app[EDGE]
        faults = LoopFaults(lambda what: edge.degradations.add("running the event loop", what))
        asyncio.get_running_loop().set_exception_handler(faults)
        beside = [asyncio.create_task(_welcomed(edge, url))]
        await asyncio.wait((*beside, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not stop.is_set():
            await beside.pop()
            heap = giving_back()
            ageing = _Ageing()
            beside += [asyncio.create_task(_freeze_loaded_objects(edge.memory, ageing))]
            beside += [asyncio.create_task(heap.forever())] if heap is not None else []
            beside += [asyncio.create_task(_collect_cycles(ageing, edge.draining))]
            if edge.memory is not None:
                beside += [asyncio.create_task(_load_tokenizer(edge.memory, edge.draining))]
        await stopping
        for task in beside:
            task.cancel()
        print("stopping", file=sys.stderr, flush=True)
        if cut := await edge.draining.drain(runner, settings.server.drain):
            log.warning("%s cut off: server.drain.reply_seconds is over", wording.count(cut, "reply"))
        edge.draining.end_within(END_SECONDS)
        _end_within(END_SECONDS)
        await _learn_the_rest(edge)
    finally:
        announcement.unlink(missing_ok=True)
        await runner.cleanup()


def _end_within(seconds: float) -> None:
    """End the process after so long, whatever it still waits for."""

    def end() -> None:
        log.warning("the end took longer than %g s: the process ends as it is", seconds)
        logging.shutdown()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


async def _welcomed(edge: Edge, url: str) -> None:
    """Say what is there, once memory is open."""
    await edge.opened()
    waiting = await edge.candidates_waiting()
    # In a thread: it imports what knows the runtimes, while requests come already.
    print(await asyncio.to_thread(welcome, edge.settings, url, edge.memory_fault, waiting), flush=True)


async def _learn_the_rest(edge: Edge) -> None:
    """Learn from what was said last: the next session may begin as soon as a server that ends now is started again, and
    asks before that one has read it."""
    from proxy.fail_open import fail_open

    # Another replica goes on where this one ends. Of a journal that does not answer nothing is learned.
    if edge.memory is not None and not edge.memory.journal.replicated and not edge.memory.journal.trouble:
        await fail_open(
            edge.memory.learner.catch_up(),
            default=None,
            timeout_seconds=edge.draining.may_take(LEARN_SECONDS),
            operation="learning before the end",
            degradations=edge.degradations,
        )


def _on_signals(stop: Callable[[], None]) -> None:
    """Stop gracefully at the first signal; a second one, whichever it is, is left to the system, which ends us."""
    loop = asyncio.get_running_loop()

    def stopping() -> None:
        for each in ENDING:
            loop.remove_signal_handler(each)
            # Python's own for Ctrl-C would wait for all threads.
            signal.signal(each, signal.SIG_DFL)
        stop()

    for number in ENDING:
        # Windows has no handlers of loops; there Ctrl-C ends the process.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, stopping)


async def _freeze_loaded_objects(memory: Memory | None, ageing: _Ageing) -> None:
    """What is read at the start stays: the collector of cycles need not go through it again and again, which would hold
    everything up for fifty milliseconds now and then. Nor once: what imports leave in cycles is next to nothing."""
    gc.freeze()
    gc.set_threshold(*_YOUNG)
    gc.enable()
    gc.callbacks.append(ageing)
    if memory is not None:
        await memory.cache_warmer.settle()
        gc.collect(1)
        gc.freeze()


async def _load_tokenizer(memory: Memory, draining: Draining) -> None:
    """The tokenizer takes 45 MiB, which most sessions do not need, and holds everything up while it is loaded."""

    async def nobody_waits() -> bool:
        return await quiet() and draining.idle

    await memory.token_counting.load_when_needed(nobody_waits)


async def _collect_cycles(ageing: _Ageing, draining: Draining) -> None:
    while True:
        await asyncio.sleep(COLLECT_SECONDS)
        ageing.thaw(draining.idle)
        gc.collect()


class _Ageing:
    """What a long collection has left stays too: what is at hand of a large memory comes and goes by bounds of its own,
    and in no cycles. Connections that were under way may end in some, and are looked for in idle moments."""

    def __init__(self) -> None:
        self._began = 0.0
        self._freezes = 0

    def thaw(self, idle: bool) -> None:
        """Look through all that long collections have left, where nobody waits for that, or many of them have left
        something. It is one more of them, so that what it leaves stays again."""
        if self._freezes and (idle or self._freezes >= MOST_FREEZES):
            gc.unfreeze()
            gc.collect()
            self._freezes = 0

    def __call__(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.thread_time()
        elif info["generation"] == 2 and time.thread_time() - self._began > LONG_SECONDS:
            gc.freeze()
            self._freezes += 1


def _announce(file: Path, url: str) -> None:
    """Say where we listen. A disk that is full keeps other commands from finding us, and no request from its model."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump({"url": url, "pid": os.getpid()}, stream)
    except OSError as error:
        log.warning("%s cannot be written, so that no other command finds this server: %s", file, error.strerror)


def _loop(settings: Settings) -> Callable[[], asyncio.AbstractEventLoop] | None:
    if not settings.server.uvloop:
        return None
    try:
        make: Callable[[], asyncio.AbstractEventLoop] = importlib.import_module("uvloop").new_event_loop
    except ImportError:
        raise CommandError(
            "server.uvloop is set and uvloop is not installed: pip install 'palimpsest-proxy[fast]'"
        ) from None
    return make


def welcome(settings: Settings, url: str, fault: str = "", waiting: int = 0) -> str:
    """What is printed after the start: where it listens, where the data lies, what to do next. Commands name the data
    folder where another terminal would look for a server in the usual one."""
    from proxy.cli.runtime_names import installed, titles

    upstream = settings.upstream
    providers = upstream.url or f"{upstream.openai} and {upstream.anthropic}"
    if fault:
        memory = f"not open, requests go through without it: {fault}"
    else:
        memory = {Mode.ON: "on", Mode.READ_ONLY: "read-only", Mode.OFF: "off"}[settings.memory.mode]
    key = " --key KEY" if settings.credentials else ""
    names, me = titles(), wording.program()
    at = "" if settings.home == Path("~/.palimpsest").expanduser() else f" --home {shlex.quote(str(settings.home))}"
    here = [name for name in names if name in installed()] or list(USUAL)
    width = max(map(len, here))
    role = settings.server.role
    lines = [
        f"Palimpsest listens on {url}",
        *([f"  role      {role}"] if role is not Role.ALL else []),
        f"  data      {settings.home}",
        f"  provider  {providers}",
        f"  memory    {memory}",
        f"  web page  {me} open{at}",
        *([f"  waiting   {wording.count(waiting, 'candidate')} for you: {me} candidates{at}"] if waiting else []),
    ]
    if role is Role.WORKER:
        return "\n".join(lines)
    lines += [
        "",
        "Connect a runtime (--write changes its configuration, and --undo puts it back):",
        *(f"  {me} connect {name:<{width}}{key}{at}   {names[name]}" for name in here),
        f"  {me} connect {'':<{width}}{' ' * len(key + at)}   lists all {len(names)}",
        "",
        "See that it works:",
        f"  {me} doctor{at}    {me} status{at}    {me} log{at}",
    ]
    return "\n".join(lines)
