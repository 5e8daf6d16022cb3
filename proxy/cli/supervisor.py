"""A server that is there for as long as a client runs: found, or started, and started again when it dies.

We listen ourselves and hand the socket over, so that who connects while a server starts waits and is not refused. One
that dies again and again gives way to a standby: a server with memory off, in a folder of its own, that only relays.
The last client that ends stops the server that the first one started.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from proxy.cli.faults import CommandError
from proxy.cli.home_owner import announced, owner
from proxy.cli.instance_lock import opened_in
from proxy.cli.server import address as address_of
from proxy.settings import Settings

EVERY = 0.1
"""Seconds between two looks at the server."""

GRACE = 0.4
"""Seconds for which a server that somebody else started may be gone, before we take its place: its own keeper may
start it again."""

YOUNG, TRIES = 10.0, 2
"""A server that lives for less than so many seconds so many times gives way to a standby."""

MAX_PAUSE_SECONDS = 5.0
"""Seconds between two tries where not even a standby lives."""

START_SECONDS = 60.0
"""How long a server may take to listen."""

STOP_SECONDS = 15.0

LOG = "server.log"
"""Below the home folder: what a server says that was started for a client."""

_STARTING, _USERS, _STARTED = "run.starting", "run.users", "run.server"
"""Files of the home folder: held while one is started; held, shared, by who uses one; the process that was started."""

_SECRETS = ("token", "identity.key", "key")
"""Without these a standby would not know who its callers are."""


@contextlib.contextmanager
def supervised_server(settings: Settings, options: Sequence[str]) -> Iterator[str]:
    """The address of a server that stays there. ``options`` are those that a server is started with.

    Raises:
        CommandError: when none can be started.
    """
    home = settings.home
    users = opened_in(home, _USERS)
    try:
        fcntl.flock(users, fcntl.LOCK_SH)
        keeper = _Keeper(settings, options)
        keeper.start()
        try:
            yield keeper.url
        finally:
            keeper.end()
            # Who asks for all of it at once gives up its share first, so that two that end together do not both stay.
            fcntl.flock(users, fcntl.LOCK_UN)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                keeper.stop_server()
    finally:
        os.close(users)


class _Keeper:
    """Looks after one server, in a thread of its own."""

    def __init__(self, settings: Settings, options: Sequence[str]) -> None:
        self._settings = settings
        self._home = settings.home
        self._options = list(options)
        self._socket: socket.socket | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self._short_lives = 0
        self._standby: tempfile.TemporaryDirectory[str] | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="keeping the server", daemon=True)
        self.url = ""

    def start(self) -> None:
        """Find the server, or start it, and look after it from then on."""
        with self._starting():
            found = self._found()
            if found is None:
                self._socket = self._listen(self._settings.server.host, self._settings.server.port)
                self.url = address_of(*self._socket.getsockname()[:2])
                self._spawn()
                self._wait()
            else:
                self.url = found
        self._thread.start()

    def end(self) -> None:
        """Look after it no more."""
        self._end.set()
        self._thread.join()

    def stop_server(self) -> None:
        """Stop the server, if it was started for clients, and the standby."""
        file = self._home / _STARTED
        with self._starting(), contextlib.suppress(OSError, ValueError):
            number = int(file.read_text())
            file.unlink()
            if owner(self._home) == number:
                os.kill(number, signal.SIGTERM)
        if self._standby is not None and self._child is not None:
            self._child.terminate()
        if self._child is not None:
            try:
                self._child.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        if self._standby is not None:
            self._standby.cleanup()

    @contextlib.contextmanager
    def _starting(self) -> Iterator[None]:
        """One at a time starts a server: two would each take a port, and one of them the stores."""
        descriptor = os.open(self._home / _STARTING, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _found(self) -> str | None:
        """The address of the server that runs; one that just starts is waited for."""
        until = time.monotonic() + START_SECONDS
        while True:
            if (there := announced(self._home)) is not None:
                return there.url
            if owner(self._home) is None:
                return None
            if time.monotonic() > until:
                raise CommandError(
                    f"process {owner(self._home)} has {self._home} open and does not listen: stop it, or use another "
                    "folder with --home"
                )
            time.sleep(EVERY)

    def _listen(self, host: str, port: int) -> socket.socket:
        """The socket of the settings' address, or, where somebody else has that, of a free port beside it."""
        host = host.strip("[]")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            return socket.create_server((host, port), family=family, backlog=1024)
        except OSError:
            try:
                return socket.create_server((host, 0), family=family, backlog=1024)
            except OSError as error:
                raise CommandError(f"{host} cannot be listened on: {error.strerror}") from error

    def _spawn(self) -> None:
        """Start a server on our socket; a standby where the ones before did not live."""
        assert self._socket is not None
        options, environment = self._options, dict(os.environ)
        if self._short_lives >= TRIES or self._standby is not None:
            options = [*options, "--home", self._standby_home()]
            environment["PALIMPSEST__MEMORY__MODE"] = "off"
        self._began = time.monotonic()
        number, log = self._socket.fileno(), self._home / LOG
        command = [sys.executable, "-P", "-m", "proxy", "serve", *options, "--fd", str(number), "--log-file", str(log)]
        # Not the folder that we stand in: a project may have a package called `proxy` of its own (-P).
        # What it says before it has a log, or dies of, stands there too.
        with open(log, "a", opener=_closed_to_others) as complaints:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=complaints,
                env=environment,
                pass_fds=[number],
                # Ctrl-C is for the client.
                start_new_session=True,
            )
        if self._standby is None:
            (self._home / _STARTED).write_text(str(self._child.pid))

    def _standby_home(self) -> str:
        if self._standby is None:
            self._standby = tempfile.TemporaryDirectory(prefix="palimpsest-standby-")
            for name in _SECRETS:
                with contextlib.suppress(OSError):
                    shutil.copy(self._home / name, self._standby.name)
        else:
            # It died, too: perhaps of one of these.
            for name in _SECRETS:
                (Path(self._standby.name) / name).unlink(missing_ok=True)
        return self._standby.name

    def _wait(self) -> None:
        """Until the server listens. It is waited for though clients could wait in our socket: one that cannot start
        is told now."""
        assert self._child is not None
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if (there := announced(self._home)) is not None and there.process == self._child.pid:
                return
            if self._child.poll() is not None:
                raise CommandError(f"the server did not start: {_last_line(self._home / LOG)}")
            time.sleep(EVERY)

    def _watch(self) -> None:
        while not self._end.wait(EVERY):
            try:
                self._look()
            except OSError as error:
                logging.getLogger(__name__).warning("the server could not be started again: %s", error)

    def _look(self) -> None:
        """See that somebody answers at our address; else start a server there."""
        if self._child is not None:
            if self._child.poll() is None:
                return
            lived = time.monotonic() - self._began
            self._short_lives = self._short_lives + 1 if lived < YOUNG else 0
            if self._short_lives > TRIES and self._end.wait(min(MAX_PAUSE_SECONDS, EVERY * 2**self._short_lives)):
                return
        else:
            there = announced(self._home)
            if there is not None and there.url == self.url:
                return
            if _answers(self.url) or self._end.wait(GRACE) or _answers(self.url):
                return
        with self._starting():
            if self._socket is None:
                place = urlsplit(self.url)
                assert place.hostname is not None
                family = socket.AF_INET6 if ":" in place.hostname else socket.AF_INET
                # Taken by who was quicker: then somebody answers there.
                with contextlib.suppress(OSError):
                    self._socket = socket.create_server((place.hostname, place.port or 80), family=family, backlog=1024)
            if self._socket is not None:
                if announced(self._home) is not None:
                    # Another server has the stores, at another address.
                    self._short_lives = TRIES
                self._spawn()


def _closed_to_others(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _answers(url: str) -> bool:
    """Whether somebody listens there. Nothing is sent."""
    place = urlsplit(url)
    try:
        with socket.create_connection((place.hostname or "", place.port or 80), timeout=2):
            return True
    except OSError:
        return False


def _last_line(file: Path) -> str:
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError as error:
        return f"{file} cannot be read: {error.strerror}"
    last = next((line for line in reversed(lines) if line.startswith("palimpsest: ")), "")
    return last.removeprefix("palimpsest: ") or f"see {file}"
