"""Start a server in a process of its own, wait until it answers, weigh it, and stop it with all its children."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 120.0
STOP_SECONDS = 15.0


class NotReady(RuntimeError):
    """A server did not come up; the message ends with what it wrote last."""


def free_port() -> int:
    """A loopback port that nobody listens on, below those that systems give to outgoing connections.

    Otherwise a connection that another test makes could take the port before its server listens on it.
    """
    while True:
        port = secrets.choice(range(20_000, 32_000))
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


class Process:
    """A running server. It leads a process group of its own, so that its children stop with it."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self._log = log
        self._began = time.perf_counter()
        with log.open("ab") as out:
            self._popen = subprocess.Popen(
                command,
                stdout=out,
                stderr=out,
                cwd=ROOT,
                env={**os.environ, **(environment or {})},
                start_new_session=True,
            )
        self.start_seconds = 0.0

    @property
    def pid(self) -> int:
        """The id of the process that leads the group."""
        return self._popen.pid

    def wait_ready(self, url: str, within: float = READY_SECONDS) -> None:
        """Wait until ``url`` answers with any status, and note how long that took since the start.

        Raises:
            NotReady: when the process ends, or the time passes.
        """
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        while self._popen.poll() is None and time.perf_counter() - self._began < within:
            if _answers(opener, url):
                self.start_seconds = time.perf_counter() - self._began
                return
            time.sleep(0.01)
        self.kill()
        raise NotReady(f"{url} does not answer:\n{self._log.read_text(errors='replace')[-2000:]}")

    def ended(self) -> int | None:
        """Its exit status, None while it runs."""
        return self._popen.poll()

    def written(self) -> str:
        """What it and its predecessors under the same name have written since this was asked last."""
        text = self._log.read_text(errors="replace")
        self._log.write_text("")
        return text

    def resident_mib(self) -> float:
        """Memory that the process and its children hold, in MiB (shared pages are counted once for each)."""
        return sum(_resident_kib(pid) for pid in _with_children(self.pid)) / 1024

    def own_mib(self) -> float:
        """Memory that the process itself holds, in MiB."""
        return _resident_kib(self.pid) / 1024

    def proportional_mib(self) -> float:
        """The same with what is shared divided among those who share it (PSS); 0 where the system does not tell."""
        return sum(_proportional_kib(pid) for pid in _with_children(self.pid)) / 1024

    def cpu_seconds(self) -> float:
        """Processor time that the process and its children have taken so far; 0 where the system does not tell."""
        return sum(_ticks(pid) for pid in _with_children(self.pid)) / os.sysconf("SC_CLK_TCK")

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self._popen.send_signal(number)

    def wait(self) -> int:
        """Wait until it has ended by itself; its exit status."""
        return self._popen.wait()

    def kill(self) -> None:
        """End it at once, as a crash would."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()

    def stop(self) -> int:
        """Ask it to stop, insist after a while; its exit status."""
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGTERM)
        try:
            return self._popen.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL


def _answers(opener: urllib.request.OpenerDirector, url: str) -> bool:
    try:
        opener.open(url, timeout=5).close()
    except urllib.error.HTTPError:
        return True
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
    return True


def _ticks(pid: int) -> int:
    try:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    except OSError:
        return 0


def _with_children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return [pid]
    return [pid, *(child for each in text.split() for child in _with_children(int(each)))]


def _proportional_kib(pid: int) -> int:
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")), 0)


def _resident_kib(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
