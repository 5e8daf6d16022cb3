"""The scenarios that each client is run through, by name."""

from __future__ import annotations

from typing import NamedTuple

from tests.e2e.asking import Asking
from tests.e2e.branches import Branches
from tests.e2e.errands import Errands
from tests.e2e.first_day import FirstDay
from tests.e2e.long import Long, Unshed
from tests.e2e.once import Once
from tests.e2e.recorded import Recorded
from tests.e2e.scenario import Turns
from tests.e2e.script import Script
from tests.e2e.sockets import LongSockets, Sockets
from tests.e2e.stage import Stage
from tests.e2e.walk import Walk
from tests.e2e.weeks import Weeks


class Scenario(NamedTuple):
    """How it is scripted and played, whether the client is given a small window, with which clients (all where none is
    named), and whether it is played only where it is itself named."""

    script: type[Script]
    stage: type[Stage]
    narrow: bool = False
    clients: tuple[str, ...] = ()
    named: bool = False


LIGHT = Once.name
"""The one scenario of clients that are light, and of no others."""

SCENARIOS = {
    FirstDay.name: Scenario(Script, FirstDay, clients=("claude", "codex", "opencode")),
    Once.name: Scenario(Script, Once),
    Turns.name: Scenario(Script, Turns),
    Asking.name: Scenario(Script, Asking),
    Weeks.name: Scenario(Script, Weeks),
    Errands.name: Scenario(Script, Errands),
    Branches.name: Scenario(Script, Branches),
    Unshed.name: Scenario(Walk, Unshed, narrow=True),
    Long.name: Scenario(Walk, Long, narrow=True),
    Sockets.name: Scenario(Script, Sockets, clients=("codex",)),
    LongSockets.name: Scenario(Walk, LongSockets, narrow=True, clients=("codex",)),
    Recorded.name: Scenario(Script, Recorded, named=True),
}
