"""The nouns: what shall be kept running, what is written and run for it, and how it stands."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

Command = tuple[str, ...]

TITLE = "Palimpsest, a memory for coding agents"


@dataclass(frozen=True, slots=True)
class ServiceTarget:
    """What shall be kept running: our ``program``, with a data folder and perhaps a settings file, at an address. It
    has ``end_seconds`` to end in before it is killed."""

    program: Sequence[str]
    home: Path
    host: str
    port: int
    log: Path
    config: Path | None = None
    end_seconds: int = 30

    @property
    def address(self) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
        """Where a manager can listen for it; None where it cannot, at a name or a free port."""
        try:
            address = ipaddress.ip_address({"localhost": "127.0.0.1"}.get(self.host, self.host.strip("[]")))
        except ValueError:
            return None
        return address if self.port else None

    def command(self, *, listens: bool) -> list[str]:
        """What starts it. ``listens``: at its own address, and not at a socket that is handed over."""
        place = ["--host", self.host, "--port", str(self.port)] if listens else []
        settings = ["--config", str(self.config)] if self.config is not None else []
        return [*self.program, "serve", "--home", str(self.home), *settings, *place, "--log-file", str(self.log)]


@dataclass(frozen=True, slots=True)
class ServiceState:
    """How a service stands, in the manager's own word (``active``, ``failed``, ``running``); ``process`` is 0 where
    none runs, ``known`` says whether the manager has it loaded, and could be asked to stop it; ``ending`` that it is
    being stopped already."""

    word: str
    process: int = 0
    known: bool = True
    ending: bool = False


@dataclass(frozen=True, slots=True)
class Installation:
    """What is written, and what is run, the one after the other. ``there`` asks whether the manager answers at all,
    ``ask`` how the service stands, which ``read`` makes out of its answer. What the manager knows already is stopped
    before it is installed or started anew; where that ``unloads`` it, what comes next waits until it is gone, which
    goes on after the manager has answered. The server has ``end_seconds`` to end in before the manager kills it."""

    manager: str
    files: Mapping[Path, str]
    there: Command
    install: tuple[Command, ...]
    start: tuple[Command, ...]
    stop: tuple[Command, ...]
    uninstall: tuple[Command, ...]
    """Run before the files go."""
    reload: tuple[Command, ...]
    """Run when files were written, or are gone."""
    ask: Command
    read: Callable[[str], ServiceState]
    end_seconds: int
    notes: tuple[str, ...] = ()
    unloads: bool = False
