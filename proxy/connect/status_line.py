"""How a runtime that has a status line is told to show how memory stands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from proxy.connect.plan import ConnectPlan

_VALUES: Mapping[str, Any] = {"claude": {("statusLine", "type"): "command", ("statusLine", "padding"): 0}}
"""Runtime → what stands beside the command: Claude Code 2.1 runs it after every message and shows its first line."""


def has_status_line(runtime: str) -> bool:
    """Whether a runtime has a status line that we know how to set."""
    return runtime in _VALUES


def with_status_line(planned: ConnectPlan, command: Sequence[str]) -> ConnectPlan:
    """The plan with what shows our line.

    Raises:
        KeyError: when its runtime has no such line.
    """
    [change] = planned.changes
    values = {**_VALUES[planned.runtime], ("statusLine", "command"): shlex.join(command)}
    return planned.with_values(change.path, values)
