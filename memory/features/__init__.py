"""Each feature in a folder of its own; here is the list of them, in the order in which hooks call them.

A folder has ``feature.py`` with the class ``FEATURE``, and where it has commands ``commands.py`` with the tuple
``COMMANDS``. To add one: a folder, and its name in :data:`ORDER`.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memory.hooks.command import Command
    from memory.hooks.feature import Feature

ORDER = (
    "subagents",
    "behaviour",
    "history",
    "conflicts",
    "approvals",
    "checkouts",
    "backups",
    "nights",
    "memory_tools",
)


def features() -> tuple[type[Feature], ...]:
    """The classes of all features."""
    return tuple(import_module(f"{__name__}.{name}.feature").FEATURE for name in ORDER)


def exported() -> tuple[str, ...]:
    """The sorts of the records that features export, beside core's own."""
    return tuple(each.exported for each in features() if each.exported)


def commands() -> tuple[Command, ...]:
    """The commands of all features; nothing else of them is imported, since the command line has them at each start."""
    modules = [f"{__name__}.{name}.commands" for name in ORDER]
    return tuple(command for module in modules if find_spec(module) for command in import_module(module).COMMANDS)
