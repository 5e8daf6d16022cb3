"""A server that is there for as long as a client runs: found, or started, and started again when it dies.

We listen ourselves and hand the socket over, so that who connects while a server starts waits and is not refused. One
that dies again and again gives way to a standby: a server with memory off, in a folder of its own, that only relays.
Beside it the server is tried again, after growing pauses, until it listens. The last client that ends stops the server
that the first one started.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
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

MAX_PAUSE_SECONDS = 60.0
"""Seconds between two tries of a server at most, while a standby relays; the first pauses are shorter."""

STANDBY_PAUSE_SECONDS = 5.0
"""Seconds between two standbys at most, where not even they live."""

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
def supervised_server(settings: Settings, config: Path | None) -> Iterator[str]:
    """The address of a server that stays there. ``config`` is the file that the settings were read from.

    Raises:
        CommandError: when none can be started.
    """
    home = settings.home
    users = opened_in(home, _USERS)
    try:
        fcntl.flock(users, fcntl.LOCK_SH)
        keeper = _Keeper(settings, config)
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

    def __init__(self, settings: Settings, config: Path | None) -> None:
        self._settings = settings
        self._home = settings.home
        self._options = ["--home", str(settings.home.resolve())]
        if config is not None:
            self._options += ["--config", str(config.resolve())]
        self._config = config
        self._socket: socket.socket | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._began, self._logged_before = 0.0, 0
        self._failures = 0
        self._next_try = 0.0
        self._why_standby = ""
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="keeping the server", daemon=True)
        self.url = ""

    def start(self) -> None:
        """Find the server, or start it, and look after it from then on."""
        with self._starting():
            found = self._running_address()
            if found is None:
                self._socket = self._listen(self._settings.server.host, self._settings.server.port)
                self.url = address_of(*self._socket.getsockname()[:2])
                self._spawn()
                self._wait()
            else:
                self.url = found
        self._standbys = _Standbys(self._home, self._config)
        self._thread.start()

    def end(self) -> None:
        """Look after it no more. A standby ends with us: other clients that use it start a server then."""
        self._end.set()
        self._thread.join()
        self._standbys.end()

    def stop_server(self) -> None:
        """Stop the server, if it was started for clients."""
        file = self._home / _STARTED
        with self._starting(), contextlib.suppress(OSError, ValueError):
            number = int(file.read_text())
            file.unlink()
            if owner(self._home) == number:
                os.kill(number, signal.SIGTERM)
        if self._server is not None:
            if owner(self._home) != self._server.pid:
                # It just starts, and has not opened the data folder yet. A second signal would cut its end short.
                self._server.terminate()
            _wait_for_end(self._server)

    @contextlib.contextmanager
    def _starting(self) -> Iterator[None]:
        """One at a time starts a server: two would each take a port, and one of them the stores."""
        descriptor = os.open(self._home / _STARTING, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _running_address(self) -> str | None:
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
        assert self._socket is not None
        self._began = time.monotonic()
        self._logged_before = _size(self._home / LOG)
        self._server = _start_server(self._socket, self._home / LOG, self._options)
        with open(self._home / _STARTED, "w", opener=_closed_to_others) as stream:
            stream.write(str(self._server.pid))

    def _wait(self) -> None:
        """Until the server listens. It is waited for though clients could wait in our socket: one that cannot start
        is told now."""
        assert self._server is not None
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            if (there := announced(self._home)) is not None and there.process == self._server.pid:
                return
            if self._server.poll() is not None:
                raise CommandError(f"the server did not start: {self._how_it_ended()}")
            time.sleep(EVERY)

    def _watch(self) -> None:
        while not self._end.wait(EVERY):
            try:
                self._look()
            except OSError as error:
                logging.getLogger(__name__).warning("the server could not be started again: %s", error)

    def _look(self) -> None:
        """See that somebody answers at our address; else start a server there, or a standby where it does not live."""
        if self._socket is None:
            self._take_over()
        if self._socket is None:
            return
        if self._server is not None and self._server.poll() is not None:
            self._count_failure(time.monotonic() - self._began)
        if self._server is None and time.monotonic() >= self._next_try:
            self._try()
        if self._why_standby and self._listens():
            self._standbys.leave()
            self._why_standby = ""
        elif self._why_standby:
            self._standbys.keep(self._socket, self._why_standby)

    def _take_over(self) -> None:
        """Listen ourselves where the server is gone that somebody else started."""
        there = announced(self._home)
        if there is not None and there.url == self.url:
            return
        if _is_listening(self.url) or self._end.wait(GRACE) or _is_listening(self.url):
            return
        place = urlsplit(self.url)
        assert place.hostname is not None
        family = socket.AF_INET6 if ":" in place.hostname else socket.AF_INET
        # Taken by who was quicker: then somebody answers there.
        with contextlib.suppress(OSError):
            self._socket = socket.create_server((place.hostname, place.port or 80), family=family, backlog=1024)

    def _count_failure(self, lived: float) -> None:
        """The server ended, after so many seconds."""
        self._failures = self._failures + 1 if lived < YOUNG else 0
        self._next_try = time.monotonic() + pause_before(self._failures)
        if self._failures >= TRIES:
            self._why_standby = f"the server ends as soon as it is started, {self._how_it_ended()}"
        self._server = None

    def _try(self) -> None:
        with self._starting():
            if (there := announced(self._home)) is None:
                self._spawn()
                return
        # Another server has the stores, at another address.
        self._failures = max(TRIES, self._failures + 1)
        self._next_try = time.monotonic() + pause_before(self._failures)
        self._why_standby = f"another server has the data folder open, at {there.url}"

    def _listens(self) -> bool:
        """Whether the server does that we started."""
        there = announced(self._home)
        return there is not None and self._server is not None and there.process == self._server.pid

    def _how_it_ended(self) -> str:
        assert self._server is not None
        code, log = self._server.returncode, self._home / LOG
        if code < 0:
            return f"by signal {-code}"
        return _last_complaint(log, self._logged_before) or f"with exit code {code}, see {log}"


class _Standbys:
    """The standby that relays, and those before it that still end: each has a folder of its own."""

    def __init__(self, home: Path, config: Path | None) -> None:
        self._home = home
        # As they are while a server lives with them: what is wrong with them later may be what none lives with.
        self._config = config.read_bytes() if config is not None else None
        self._secrets = {name: _content(home / name) for name in _SECRETS}
        self._current: subprocess.Popen[bytes] | None = None
        self._leaving: list[subprocess.Popen[bytes]] = []
        self._folders: list[tempfile.TemporaryDirectory[str]] = []
        self._deaths = 0
        self._next_try = 0.0

    def keep(self, listening: socket.socket, why: str) -> None:
        """See that one runs, which tells every caller ``why``."""
        if self._current is not None:
            if self._current.poll() is None:
                return
            self._current = None
            self._deaths += 1
            self._next_try = time.monotonic() + min(STANDBY_PAUSE_SECONDS, EVERY * 2**self._deaths)
        if time.monotonic() >= self._next_try:
            options = ["--standby", why, *self._options()]
            self._current = _start_server(listening, self._home / LOG, options)

    def leave(self) -> None:
        """Let the one that runs end its replies, and go."""
        if self._current is not None:
            self._current.terminate()
            self._leaving.append(self._current)
            self._current = None
        self._leaving = [each for each in self._leaving if each.poll() is None]

    def end(self) -> None:
        """End all of them."""
        self.leave()
        for each in self._leaving:
            _wait_for_end(each)
        for folder in self._folders:
            folder.cleanup()

    def _options(self) -> list[str]:
        folder = tempfile.TemporaryDirectory(prefix="palimpsest-standby-")
        self._folders.append(folder)
        # The one before died, too: perhaps of a secret.
        files = {} if self._deaths else dict(self._secrets)
        files["config.yaml"] = self._config
        for name, content in files.items():
            if content is not None:
                Path(folder.name, name).write_bytes(content)
        config = ["--config", str(Path(folder.name, "config.yaml"))] if self._config is not None else []
        return ["--home", folder.name, *config]


def pause_before(failures: int) -> float:
    """Seconds before a server is tried again that ended early so often in a row."""
    return min(MAX_PAUSE_SECONDS, 2.0 ** (failures - TRIES)) if failures >= TRIES else 0.0


def _start_server(listening: socket.socket, log: Path, options: Sequence[str]) -> subprocess.Popen[bytes]:
    """A server that takes a socket over."""
    number = listening.fileno()
    # Not the folder that we stand in: a project may have a package called `proxy` of its own (-P).
    command = [sys.executable, "-P", "-m", "proxy", "serve", *options, "--fd", str(number), "--log-file", str(log)]
    # What it says before it has a log, or dies of, stands there too.
    with open(log, "a", opener=_closed_to_others) as complaints:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=complaints,
            pass_fds=[number],
            # Ctrl-C is for the client.
            start_new_session=True,
        )


def _wait_for_end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _closed_to_others(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _is_listening(url: str) -> bool:
    """Whether somebody listens there. Nothing is sent."""
    place = urlsplit(url)
    try:
        with socket.create_connection((place.hostname or "", place.port or 80), timeout=2):
            return True
    except OSError:
        return False


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def _last_complaint(log: Path, since: int) -> str:
    """What a server said last of its own end, behind so many bytes of its log; empty where it said nothing."""
    content = _content(log) or b""
    lines = content[since if since <= len(content) else 0 :].decode("utf-8", "replace").split("\n")
    last = next((line for line in reversed(lines) if line.startswith("palimpsest: ")), "")
    # What looks after a server starts at once, and this is needed where none starts: it is told to others.
    from memory.learning.redact import redact

    return redact(last.removeprefix("palimpsest: ")).text
