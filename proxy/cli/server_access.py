"""The server to ask: the one that runs, or one in this process for as long as a command takes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from memory.private_files import private_files
from proxy.cli.faults import CommandError
from proxy.cli.home_owner import owner
from proxy.cli.instance_lock import owned
from proxy.cli.server import RunningServer, running

# The stores, the loop and threads are imported where no server runs: most commands only ask one, and are twice as
# quick without.
if TYPE_CHECKING:
    import threading
    from concurrent.futures import Future

    from aiohttp import web

    from proxy.settings import Loaded, Settings

PATIENCE = 10.0
"""Seconds to wait for another command that has the stores open."""

STARTING, EVERY = 20.0, 0.05
"""Seconds to wait for a server that has the stores open and does not listen yet, and between two looks."""

SECONDS = 120.0
"""How long the stores may take to open."""


class NoMemoryYetError(CommandError):
    """The data folder has no memory, and the command is none that begins one."""


def has_memory(settings: Settings) -> bool:
    """Whether the data folder has a memory, one that lost its journal, or a server that just begins one; a journal in
    PostgreSQL is there for every folder that names it. Nothing is created."""
    from memory.stores.lost_journal import begun

    return settings.memory.postgresql.url is not None or owner(settings.home) is not None or begun(settings.home)


def require_memory(settings: Settings) -> None:
    """Nothing where the data folder has a memory.

    Raises:
        NoMemoryYetError: where it has none.
        CommandError: where it is no folder.
    """
    if settings.home.exists() and not settings.home.is_dir():
        raise CommandError(f"the data folder {settings.home} is no folder: choose another with --home")
    if not has_memory(settings):
        raise NoMemoryYetError(
            f"there is no memory in {settings.home} yet: `palimpsest run` and `palimpsest serve` begin one; if it "
            "is in another folder, name that with --home or PALIMPSEST_HOME"
        )


@contextmanager
def reach(loaded: Loaded) -> Iterator[RunningServer]:
    """The running server, or the stores opened here where none runs."""
    home = loaded.settings.home
    server = _once_it_listens(loaded)
    if server is not None:
        yield server
        return
    from memory.stores.lost_journal import left_behind

    with owned(home, PATIENCE):
        lost = loaded.settings.memory.postgresql.url is None and left_behind(home) is not None
        with in_process(loaded) as here:
            if lost and left_behind(home) is None:
                warning = f"{home / 'journal.db'} was gone and is begun anew: `palimpsest doctor` says what is left"
                print(warning, file=sys.stderr)
            yield here


@contextmanager
def reach_empty(loaded: Loaded) -> Iterator[RunningServer]:
    """Empty stores under the same settings, in a temporary folder: for what is only tried."""
    with TemporaryDirectory(prefix="palimpsest-") as folder:
        settings = loaded.settings.model_copy(update={"home": Path(folder)})
        with in_process(replace(loaded, settings=settings)) as server:
            yield server


def _once_it_listens(loaded: Loaded) -> RunningServer | None:
    """The running server; one that has the stores and does not listen yet just starts, and is waited for."""
    home, until = loaded.settings.home, time.monotonic() + STARTING
    while (server := running(home)) is None and owner(home) is not None and time.monotonic() < until:
        time.sleep(EVERY)
    return server


@contextmanager
def in_process(loaded: Loaded) -> Iterator[RunningServer]:
    """A server in a thread of this process, on a free loopback port."""
    import asyncio
    import logging
    import threading
    from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)
    ready: Future[RunningServer] = Future()
    stop = threading.Event()
    with private_files(loaded.settings.home), ThreadPoolExecutor(1, "palimpsest") as pool:
        serving = pool.submit(asyncio.run, _serve(loaded, ready, stop))
        try:
            either: tuple[Future[Any], ...] = (ready, serving)
            wait(either, SECONDS, FIRST_COMPLETED)
            if not ready.done():
                if serving.done():
                    serving.result()
                raise CommandError("the stores could not be opened within two minutes")
            yield ready.result()
        finally:
            stop.set()
            root.setLevel(level)


def built(loaded: Loaded) -> web.Application:
    """The server's application.

    Raises:
        Fault: when a secret in the data folder is damaged, or a package is missing that a setting asks for.
    """
    from proxy.app import make_app
    from proxy.tracing import TracesMissing

    try:
        return make_app(loaded.settings, loaded.sources)
    except TracesMissing as error:
        raise CommandError(str(error)) from None
    except ValueError as error:
        home = loaded.settings.home
        raise CommandError(
            f"a secret in {home} (token, identity.key, key) is damaged: restore it, or delete it ({error})"
        ) from error


async def _serve(loaded: Loaded, ready: Future[RunningServer], stop: threading.Event) -> None:
    import asyncio

    from proxy.app import listening
    from proxy.edge import EDGE

    app = built(loaded)
    async with listening(app) as url:
        ready.set_result(RunningServer(url, app[EDGE].token))
        await asyncio.to_thread(stop.wait)
