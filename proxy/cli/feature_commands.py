"""Makes a command of what a feature says of one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from memory.hooks.command import Command
from proxy.cli.call import Call, takes


def command_for(of: Command) -> Callable[..., None]:
    """The command, as a function with the options that typer reads."""

    def command(call: Call, **given: Any) -> None:
        from proxy.cli import output

        response = call.ask_for_list(f"api/{of.path}", given)
        if call.as_json:
            output.as_json(response)
            return
        console = output.screen()
        for line in of.lines(response):
            console.print(line, soft_wrap=True)

    limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help=of.limited)]
    parameters = [
        inspect.Parameter("call", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Call),
        inspect.Parameter("limit", inspect.Parameter.KEYWORD_ONLY, default=of.limit, annotation=limit),
    ]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__doc__ = of.help
    command.__name__ = of.name.replace("-", "_")
    return takes(*of.takes)(command)
