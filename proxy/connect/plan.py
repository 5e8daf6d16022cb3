"""The nouns of ``connect``: where a runtime shall find us, and what to write for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from proxy.connect import json_text, toml_text, yaml_text
from proxy.connect.text import NotEditable

__all__ = ["Address", "ConfigChange", "ConnectPlan", "Format", "NotEditable"]

Format = Literal["json", "toml", "yaml"]

_EDITORS = {"json": json_text.set_values, "toml": toml_text.set_values, "yaml": yaml_text.set_values}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a runtime finds us: the server's address, and who the runtime's requests shall belong to.

    ``project`` is the one that the user asked for; ``around`` is that of the present directory, for runtimes
    that tell no place of their own. ``key`` opens memory: this installation's, or that of an entry in ``credentials``.
    """

    server: str = "http://127.0.0.1:8484"
    project: str | None = None
    around: str | None = None
    user: str | None = None
    key: str | None = None

    @property
    def place(self) -> str:
        """The project of a runtime that tells no place of its own."""
        return self.project or self.around or "default"

    def url(self, placeless: bool = False, version: bool = True) -> str:
        """The base URL. A runtime that tells no place (``placeless``) always gets a project in it."""
        project = self.place if placeless else self.project
        parts = [self.server.rstrip("/")]
        for letter, name in (("k", self.key), ("u", self.user), ("p", project)):
            if name:
                parts.append(f"{letter}/{quote(name, safe='')}")
        if version:
            parts.append("v1")
        return "/".join(parts)

    def is_reached_by(self, url: str) -> bool:
        """Whether a base URL leads to this server, whoever its requests belong to."""
        return f"{url}/".startswith(f"{self.server.rstrip('/')}/")


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """What to set in one file: a value for each path of keys. A TOML table is a path whose value is a mapping."""

    path: Path
    format: Format
    values: Mapping[tuple[str, ...], Any]

    def apply(self, text: str) -> str:
        """The file's text with the values set; the empty text makes a new file.

        Raises:
            NotEditable: when the text is not of the format, or too unusual to be changed with certainty.
        """
        return _EDITORS[self.format](text, self.values)

    @property
    def snippet(self) -> str:
        """What would stand in a file that was empty before."""
        return self.apply("")


@dataclass(frozen=True, slots=True)
class ConnectPlan:
    """What connects one runtime.

    ``environment`` are variables to set instead of, or beside, the files; ``notes`` are for every user,
    ``warnings`` for what was found on this machine.
    """

    runtime: str
    title: str
    changes: tuple[ConfigChange, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    example: str = ""
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def with_values(self, path: Path, values: Mapping[tuple[str, ...], Any]) -> ConnectPlan:
        """The plan with more values for one of its files."""
        changes = (
            replace(each, values={**each.values, **values}) if each.path == path else each for each in self.changes
        )
        return replace(self, changes=tuple(changes))

    @property
    def exports(self) -> str:
        """The lines that set the variables in a shell."""
        return "\n".join(f"export {name}={_shell(value)}" for name, value in self.environment.items())

    @property
    def snippet(self) -> str:
        """The whole configuration as text, to be read or copied."""
        parts = [f"# {change.path}\n{change.snippet.rstrip()}" for change in self.changes]
        if self.environment:
            parts.append(self.exports)
        if self.example:
            parts.append(self.example)
        return "\n\n".join(parts) + "\n"


def _shell(value: str) -> str:
    plain = all(letter.isalnum() or letter in "-_./:@%" for letter in value)
    return value if plain else "'" + value.replace("'", "'\\''") + "'"
