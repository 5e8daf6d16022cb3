"""Read a command's plain arguments without the library that checks any: typer imports pydantic for each value, also for
one that nobody gave, and that takes a third of a command that only asks a running server.

Whatever is not plain, and whatever is wrong, is left to typer, which says so in its own words.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin

from typer.core import TyperCommand, TyperGroup
from typer.models import ParameterInfo

from proxy.cli.faults import ARGUMENT_FAULT

LONGEST_NUMBER: Final = 9
"""Digits of a number that is plain."""


class NotPlain(Exception):
    """Typer has to look at it."""


class PlainGroup(TyperGroup):
    """What has commands. Its ``--help`` is a flag that was not given, and not a value that is missing: typer would look
    at that."""

    def get_help_option(self, ctx: Any) -> Any:
        option = super().get_help_option(ctx)
        if option is not None and option.default is None:
            option.default = False
        return option


class PlainCommand(TyperCommand):
    """A command that is given its values at once where all of them are plain: flags, texts, whole numbers, paths of
    what is there, and defaults."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        try:
            values = self._plain_values(ctx, list(args))
        except NotPlain:
            return super().parse_args(ctx, args)
        ctx.params.update(values)
        ctx.args = []
        return []

    @cached_property
    def _expected(self) -> dict[str, inspect.Parameter]:
        assert self.callback is not None
        return dict(inspect.signature(self.callback, eval_str=True).parameters)

    def _plain_values(self, ctx: Any, args: list[str]) -> dict[str, Any]:
        """Each parameter's value.

        Raises:
            NotPlain: something is wrong, or takes more than is done here.
        """
        try:
            given, left, _ = self.make_parser(ctx).parse_args(args=args)
        except ARGUMENT_FAULT as error:
            raise NotPlain from error
        if left or ctx.resilient_parsing or not given.keys() <= self._expected.keys():
            raise NotPlain
        return {name: plain_value(parameter, given.get(name)) for name, parameter in self._expected.items()}


def plain_value(parameter: inspect.Parameter, given: Any) -> Any:
    """The value of a parameter for which that was ``given``, None where nothing was.

    Raises:
        NotPlain: it is none of the kinds that are read here, or not said in the plainest way.
    """
    kind, about = _kind_of(parameter.annotation)
    read = _READERS.get(kind)
    if read is None or about.callback or about.envvar or about.parser or getattr(about, "prompt", False):
        raise NotPlain
    if given is None:
        if parameter.default is inspect.Parameter.empty:
            raise NotPlain
        return parameter.default
    value = read(given, about)
    if value is None:
        raise NotPlain
    return value


def _kind_of(annotation: Any) -> tuple[Any, ParameterInfo]:
    """What a value is to be, and what was told to typer about it."""
    kind, *told = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    about = next((each for each in told if isinstance(each, ParameterInfo)), None)
    if about is None:
        raise NotPlain
    if get_origin(kind) in (UnionType, Union):
        kinds = [each for each in get_args(kind) if each is not type(None)]
        kind = kinds[0] if len(kinds) == 1 else None
    return kind, about


def _flag(given: Any, _: ParameterInfo) -> bool | None:
    return given if isinstance(given, bool) else None


def _text(given: Any, _: ParameterInfo) -> str | None:
    try:
        return given if isinstance(given, str) and given.encode() is not None else None
    except UnicodeEncodeError:
        return None


def _number(given: Any, about: ParameterInfo) -> int | None:
    if not (isinstance(given, str) and given.isascii() and given.isdigit() and len(given) <= LONGEST_NUMBER):
        return None
    number = int(given)
    within = (about.min is None or number >= about.min) and (about.max is None or number <= about.max)
    return number if within and str(number) == given else None


def _path(given: Any, about: ParameterInfo) -> Path | None:
    usual = about.file_okay and about.dir_okay and not (about.writable or about.resolve_path)
    return Path(given) if usual and isinstance(given, str) and os.access(given, os.R_OK) else None


_READERS: Final[dict[Any, Callable[[Any, ParameterInfo], Any]]] = {
    bool: _flag,
    str: _text,
    int: _number,
    Path: _path,
}
