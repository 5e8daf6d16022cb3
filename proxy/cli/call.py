"""What every command is told by the options that commands share, and how it reaches the server with it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_type_hints

from proxy.cli.holders import hints
from proxy.cli.options import ConfigFile, Here, Home, Json, Project, User, data_folder, here, loaded
from proxy.cli.server import RunningServer, running
from proxy.cli.server_access import has_memory, reach, reach_empty, require_memory

if TYPE_CHECKING:
    from proxy.settings import Loaded

ALWAYS = ("as_json", "home", "config")
"""The options that every command has."""


@dataclass(frozen=True, slots=True)
class Call:
    """A command as it was called. Its fields are the shared options, in the order in which ``--help`` lists them; one
    that a command does not take (see :func:`takes`) stays as it is here."""

    project: Project = None
    at_here: Here = False
    user: User = None
    as_json: Json = False
    home: Home = None
    config: ConfigFile = None
    _elsewhere: list[str] = field(default_factory=list)

    def loaded(self) -> Loaded:
        """The settings in force.

        Raises:
            SettingsError: with everything that is wrong.
        """
        return loaded(self.home, self.config)

    @contextmanager
    def reach(self, begins: bool = False) -> Iterator[RunningServer]:
        """The running server, or the stores opened here where none runs. A command that ``begins`` a memory finds one
        begun where there is none.

        Raises:
            NoMemoryYetError: where there is none, to any other command.
        """
        if server := self.running():
            yield server
            return
        settled = self.loaded()
        if not begins:
            require_memory(settled.settings)
        with reach(settled) as server:
            yield server

    def finds_memory(self) -> bool:
        """Whether there is a memory, or a server that runs."""
        return self.running() is not None or has_memory(self.loaded().settings)

    def reach_empty(self) -> AbstractContextManager[RunningServer]:
        """Empty stores in a temporary folder, for what is only tried."""
        return reach_empty(self.loaded())

    def running(self) -> RunningServer | None:
        """The running server, or None where none runs."""
        return running(data_folder(self.home, self.config))

    def scope(self, server: RunningServer) -> dict[str, str]:
        """The query of a request that says whose memories are meant."""
        named = self.project or (here(server) if self.at_here else None)
        return {key: value for key, value in (("project", named), ("user", self.user)) if value}

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        begins: bool = False,
    ) -> dict[str, Any]:
        """The answer to a command that asks one question, about those whose memories are meant. ``begins`` as for
        :meth:`reach`.

        Raises:
            Fault: with the server's own sentence when it refuses, or when it does not answer.
        """
        with self.reach(begins) as server:
            return server.ask(method, path, {**(query or {}), **self.scope(server)}, body)

    def ask_for_list(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The answer to a command that lists what there is; where its lists are empty, and a person reads it, they are
        told behind it where there is something (:meth:`tell_elsewhere`).

        Raises:
            Fault: as :meth:`ask`.
        """
        with self.reach() as server:
            response = server.ask("GET", path, {**(query or {}), **self.scope(server)})
            lists = [each for each in response.values() if isinstance(each, list)]
            self.look_elsewhere(server, *lists, org=(query or {}).get("org"))
            return response

    def look_elsewhere(self, server: RunningServer, *found: Sequence[Any], org: str | None = None) -> None:
        """Look where there is something, where nothing was found; ``org`` is another organisation than the
        settings'."""
        if self.as_json or any(found):
            return
        scope = self.scope(server) | org_query(org)
        self._elsewhere.extend(hints(server.ask("GET", "api/holders", scope), scope.get("project")))

    def tell_elsewhere(self) -> None:
        """Tell what :meth:`look_elsewhere` has found."""
        for sentence in self._elsewhere:
            print(sentence)


def org_query(org: str | None) -> dict[str, str]:
    """The query of a request that names an organisation, if one is named."""
    return {"org": org} if org else {}


def takes(
    *names: Literal["project", "at_here", "user"],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a command of a function whose first parameter is a :class:`Call`: behind the options of its own it has
    ``--json``, ``--home`` and ``--config``, and before these the ``names``."""

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        kinds = get_type_hints(Call, include_extras=True)
        shared = [each for each in fields(Call) if each.name in (*names, *ALWAYS)]

        @functools.wraps(function)
        def command(**given: Any) -> None:
            call = Call(**{each.name: given.pop(each.name) for each in shared})
            function(call, **given)
            call.tell_elsewhere()

        _, *own = inspect.signature(function, eval_str=True).parameters.values()
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own]
        parameters += [
            inspect.Parameter(
                each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=kinds[each.name]
            )
            for each in shared
        ]
        # typer reads both: the order and the defaults out of the signature, the kinds out of the annotations.
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate
