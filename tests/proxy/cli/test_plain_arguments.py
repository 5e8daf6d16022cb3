"""Arguments that are read without pydantic are read as typer reads them; all else is left to typer."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.core import TyperCommand
from typer.main import get_command

from proxy.cli.faults import ARGUMENT_FAULT
from proxy.cli.plain_arguments import NotPlain, PlainCommand


class Size(StrEnum):
    """Of no plain kind."""

    SMALL = "small"


def plain(
    text: Annotated[str, typer.Argument()] = "",
    many: Annotated[int, typer.Option("--many", "-n", min=1, max=1000)] = 20,
    folder: Annotated[Path | None, typer.Option("--folder")] = None,
    loud: Annotated[bool, typer.Option("--loud")] = False,
    name: Annotated[str | None, typer.Option("--name")] = None,
) -> None:
    """Has parameters of plain kinds only."""


def sized(size: Annotated[Size, typer.Option()] = Size.SMALL) -> None:
    """Has one of another kind."""


def wanted(text: Annotated[str, typer.Argument()]) -> None:
    """Must be told something."""


def command_of(function: Any, kind: type[TyperCommand]) -> Any:
    app = typer.Typer(add_completion=False)
    app.command(cls=kind)(function)
    return get_command(app)


def values(function: Any, kind: type[TyperCommand], arguments: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = command_of(function, kind).make_context("it", list(arguments)).params
    return found


def is_plain(function: Any, arguments: list[str]) -> bool:
    command = command_of(function, PlainCommand)
    context = command.make_context("it", ["x"] if function is wanted else [])
    try:
        command._plain_values(context, list(arguments))
    except NotPlain:
        return False
    return True


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["some words"],
        ["--loud", "-n", "5", "words", "--name", "Ünal"],
        ["-n1000", "--folder", "/"],
        ["--", "--loud"],
        ["--name="],
    ],
)
def test_what_is_plain_is_read_as_typer_reads_it(arguments: list[str]) -> None:
    assert is_plain(plain, arguments)
    assert values(plain, PlainCommand, arguments) == values(plain, TyperCommand, arguments)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (plain, ["-n", "0"]),
        (plain, ["-n", "1001"]),
        (plain, ["-n", "five"]),
        (plain, ["-n", "0x5"]),
        (plain, ["-n", "٣"]),
        (plain, ["--unknown"]),
        (plain, ["one", "two"]),
        (wanted, []),
        (sized, ["--size", "large"]),
    ],
)
def test_what_is_wrong_is_left_to_typer(function: Any, arguments: list[str]) -> None:
    assert not is_plain(function, arguments)
    faults = []
    for kind in (PlainCommand, TyperCommand):
        with pytest.raises(ARGUMENT_FAULT) as caught:
            values(function, kind, arguments)
        faults.append(str(caught.value))
    assert faults[0] == faults[1]


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (plain, ["-n", " 5"]),
        (plain, ["-n", "+5"]),
        (plain, ["--name", "\udcff"]),
        (plain, ["--folder", "/is/not/there"]),
        (sized, []),
    ],
)
def test_what_is_unusual_is_left_to_typer(function: Any, arguments: list[str]) -> None:
    assert not is_plain(function, arguments)
    assert values(function, PlainCommand, arguments) == values(function, TyperCommand, arguments)
