"""Every command by its name, and the command line that has them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from keyword import iskeyword
from typing import Annotated, Any

import typer

from memory.features import commands
from memory.hooks.command import Command
from proxy.cli.faults import PASSES_ON
from proxy.cli.plain_arguments import PlainCommand, PlainGroup

FEATURED = {command.name: command for command in commands()}
"""The commands of features, by name."""

COMMANDS = {
    "setup": "setup",
    "serve": "serving",
    "connect": "connecting",
    "key": "key",
    "trust": "trust",
    "run": "run",
    "demo": "demo",
    "doctor": "doctor",
    "status": "inspection",
    "statusline": "statusline",
    "why": "why",
    "open": "open_page",
    "search": "memories",
    "facts": "memories",
    "fact": "one_memory",
    "history": "history",
    "remember": "memories",
    "pin": "memories",
    "confirm": "review",
    "update": "review",
    "forget": "forgetting",
    "quarantine": "provenance",
    "page": "page",
    "export": "exporting",
    "export-session": "sessions",
    "import": "importing",
    "sync": "syncing",
    "backup": "backups",
    "restore": "backups",
    "verify": "backups",
    "move": "moving",
    "consolidate": "nights",
    "nights": "nights",
    "night": "nights",
    "candidates": "candidates",
    "submit": "candidates",
    "approve": "candidates",
    "reject": "candidates",
    "defer": "candidates",
    "promote": "candidates",
    "review": "review",
    **dict.fromkeys(FEATURED, "feature_commands"),
    "log": "inspection",
    "audit": "inspection",
    "show": "inspection",
    "pause": "operations",
    "resume": "operations",
    "config": "inspection",
    "reindex": "operations",
    "extract": "operations",
    "mcp": "mcp",
    "hook": "hook",
    "conformance": "conformance",
    "version": "inspection",
    "completion": "completion",
}
"""Command → the module here that has a function of its name (``_`` for ``-``, and one behind Python's own words)."""

GROUPS = {
    "members": "members",
    "keys": "keys",
    "tokens": "tokens",
    "embedder": "embedder",
    "research": "research",
    "service": "service",
}
"""Command with commands of its own → the module here that has its ``typer.Typer`` by its name."""


def command_line(wanted: str = "") -> typer.Typer:
    """The command line with the one command that is ``asked`` for; where that names none with all, as help needs it."""
    app = typer.Typer(
        cls=PlainGroup,
        help="A reverse proxy between an agent runtime and the model that gives the agent a memory.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="--debug, anywhere, shows where something went wrong.",
    )
    # With a function of its own, a command line with one command asks for its name as one of many does.
    app.callback()(_before_any)
    wanted = "version" if wanted == "--version" else wanted
    one = wanted in COMMANDS or wanted in GROUPS
    for name in [wanted] if one else [*COMMANDS, *GROUPS]:
        if name in GROUPS:
            group: typer.Typer = _has(GROUPS[name], name)
            for each in group.registered_commands:
                each.short_help = _summary(each.callback)
            app.add_typer(group, name=name, short_help=str(group.info.help))
        else:
            command = _command(name)
            passes_on = {"allow_interspersed_args": False} if name == PASSES_ON else None
            app.command(name, cls=PlainCommand, short_help=_summary(command), context_settings=passes_on)(command)
    return app


def _summary(command: Callable[..., None] | None) -> str:
    """What a command does, as it stands beside its name: whole, and wrapped. Without it, what does not fit a line ends
    in dots."""
    return " ".join(((command and command.__doc__) or "").partition("\n\n")[0].split())


def _print_version(value: bool) -> None:
    if value:
        from memory.version import release

        print(release())
        raise typer.Exit


def _before_any(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


def _command(name: str) -> Callable[..., None]:
    if name in FEATURED:
        command_for: Callable[[Command], Callable[..., None]] = _has("feature_commands", "command_for")
        return command_for(FEATURED[name])
    own: Callable[..., None] = _has(COMMANDS[name], name.replace("-", "_"))
    return own


def _has(module: str, name: str) -> Any:
    # Imported by name, and only what is asked for: all commands together take a tenth of a second that a server would
    # start later.
    return getattr(importlib.import_module(f"proxy.cli.{module}"), f"{name}_" if iskeyword(name) else name)
