"""What a user can set, where each value came from, and what is wrong with it.

Each source stands over the one before: the defaults in the code (said in words in ``config/default.yaml``), the
user's YAML file, the embedder that a command changed to, environment variables (``PALIMPSEST__SECTION__KEY``, and the
short ``PALIMPSEST_HOME`` and ``PALIMPSEST_UPSTREAM``), the command line's options. All faults are told at once.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator, model_validator

from memory.scope import Layer, Scope
from memory.session import Mode
from memory.settings import MemorySettings, ProjectFolder, Section, Switch
from proxy.setting_sources import (
    HOME,
    SettingsError,
    chosen_layer,
    environment_layers,
    file_layer,
    is_secret,
    leaves,
    misspelt_variables,
    put,
    sentence,
)


class LimitSettings(Section):
    """How much one caller may ask."""

    requests_per_minute: int | None = Field(None, ge=1, le=1_000_000)
    mib_per_minute: int | None = Field(None, ge=1, le=1_000_000)
    at_once: int | None = Field(None, ge=1, le=100_000)
    connections: int | None = Field(None, ge=1, le=100_000)


class DrainSettings(Section):
    """How a server ends."""

    notice_seconds: float = Field(0.0, ge=0, le=600)
    reply_seconds: float = Field(5.0, ge=0, le=86_400)


class Role(StrEnum):
    """What a server does: all there is, the requests alone, or what is done behind them alone."""

    ALL = "all"
    PROXY = "proxy"
    WORKER = "worker"


class ServerSettings(Section):
    """Where we listen, what we do, and who may ask."""

    role: Role = Role.ALL
    host: str = "127.0.0.1"
    port: int = Field(8484, ge=0, le=65535)
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    require_key: Literal["auto"] | bool = "auto"
    max_body_mib: int = Field(256, ge=1, le=4096)
    max_connections: int = Field(2048, ge=1, le=100_000)
    limits: LimitSettings = LimitSettings.model_construct()
    drain: DrainSettings = DrainSettings.model_construct()
    traces: bool = False
    uvloop: bool = False

    @field_validator("hosts")
    @classmethod
    def _host_names(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host_name(value) for value in values)

    @field_validator("origins")
    @classmethod
    def _web_origins(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(web_origin(value) for value in values)

    @property
    def loopback(self) -> bool:
        """Whether only programs on this machine can reach us."""
        return _is_loopback(self.host)


@lru_cache(maxsize=16)
def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


DialectName = Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini-generate", "ollama-chat", "*"]


class UpstreamRoute(Section):
    """Requests of a dialect and a model go to an upstream of their own. ``*`` in ``model`` stands for anything.

    ``bridge`` is litellm's name of a model that speaks another format than the client (``anthropic/*``: the client's
    own model at Anthropic); ``key_from`` names the environment variable with its key, where it is not the client's.
    """

    model: str = "*"
    dialect: Literal["openai-chat", "openai-responses", "anthropic-messages", "gemini-generate", "ollama-chat", "*"] = (
        "*"
    )
    url: str | None = None
    bridge: str | None = Field(None, pattern=r"^[\w.-]+/\S+$")
    key_from: str | None = Field(None, pattern=r"^[A-Za-z_]\w*$")

    @field_validator("url")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        return None if value is None else http_url(value)

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Self:
        if self.url is None and self.bridge is None:
            raise ValueError("needs a url, a bridge, or both")
        if self.bridge is not None and self.dialect in ("gemini-generate", "ollama-chat"):
            raise ValueError("has a bridge, and requests in Gemini's and Ollama's formats are not bridged")
        if self.key_from is not None and self.bridge is None:
            raise ValueError("has key_from without a bridge: a request that goes on as it came has its client's key")
        return self


CHATGPT_PATH = "/backend-api/codex"
"""Where a ChatGPT login's requests go on its host, without a version behind it."""


class UpstreamSettings(Section):
    """Which provider answers."""

    openai: str = "https://api.openai.com/v1"
    chatgpt: str = f"https://chatgpt.com{CHATGPT_PATH}"
    anthropic: str = "https://api.anthropic.com"
    gemini: str = "https://generativelanguage.googleapis.com"
    ollama: str = "http://127.0.0.1:11434"
    url: str | None = None
    routes: tuple[UpstreamRoute, ...] = ()
    connect_seconds: float = Field(15.0, gt=0, le=600)
    read_seconds: float = Field(900.0, gt=0, le=86_400)
    attempts: int = Field(3, ge=1, le=10)
    websocket: bool = True

    @field_validator("openai", "chatgpt", "anthropic", "gemini", "ollama", "url")
    @classmethod
    def _http(cls, value: str | None) -> str | None:
        return None if value is None else http_url(value)

    @field_validator("chatgpt")
    @classmethod
    def _without_a_version(cls, value: str) -> str:
        if not value.endswith(CHATGPT_PATH):
            raise ValueError(f"must end in {CHATGPT_PATH}")
        return value


class Credential(Section):
    """What a caller with this key owns. ``projects`` lists names, or ``*`` for any."""

    key: str = Field(min_length=8, repr=False)
    user: str = Field(min_length=1, max_length=200)
    org: str | None = Field(None, min_length=1, max_length=200)
    projects: tuple[str, ...] = ("*",)
    memory: Switch = Mode.ON

    def memory_in(self, project: str | None) -> Mode:
        """How far memory takes part in a project; None where none is known."""
        return self.memory


class Project(ProjectFolder):
    """Settings of one project."""

    memory: Switch = Mode.ON
    org: str | None = Field(None, min_length=1, max_length=200)


class Settings(Section):
    """All settings."""

    home: Path = Field(Path(HOME), validate_default=True)
    user: str = Field("local", min_length=1, max_length=200)
    org: str | None = Field(None, min_length=1, max_length=200)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    server: ServerSettings = ServerSettings.model_construct()
    upstream: UpstreamSettings = UpstreamSettings.model_construct()
    memory: MemorySettings = MemorySettings.model_construct()
    credentials: tuple[Credential, ...] = ()
    projects: Mapping[str, Project] = Field(default_factory=dict)

    @property
    def folders(self) -> dict[str, ProjectFolder]:
        """The projects that have a folder here, by their owner: they are those of this installation's organisation, or
        of its person, and of nobody else who calls a project so."""
        named = {
            Scope(project.org or self.org, self.user, name).owner(Layer.PROJECT): project
            for name, project in self.projects.items()
            if project.folder is not None
        }
        return {owner: project for owner, project in named.items() if owner}

    @field_validator("home")
    @classmethod
    def _expanded(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @model_validator(mode="after")
    def _public_needs_keys(self) -> Self:
        if not self.server.loopback and not self.credentials:
            raise ValueError(
                f"server.host is {self.server.host!r}, which other machines can reach, and there is no entry in "
                "credentials: add one with a key, or listen on 127.0.0.1"
            )
        keys = [credential.key for credential in self.credentials]
        if len(set(keys)) != len(keys):
            raise ValueError("credentials has the same key twice: a key must name one owner")
        return self

    @model_validator(mode="after")
    def _divided_work_needs_a_shared_journal(self) -> Self:
        role = self.server.role
        if role is not Role.ALL and not self.memory.postgresql.replicas:
            raise ValueError(
                f"server.role is {role.value!r}, and the journal is this server's alone: only servers that share a "
                "PostgreSQL database (memory.postgresql.url, with memory.postgresql.replicas: true) can divide the "
                "work; with any other journal the role is 'all'"
            )
        return self


def http_url(value: str) -> str:
    """An http(s) base URL without its trailing slash.

    Raises:
        ValueError: when it is something else, or carries a user name, a query or a fragment.
    """
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("is not an http:// or https:// address")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must not carry a user name, a query or a fragment")
    return value.rstrip("/")


def host_name(value: str) -> str:
    """A host's name or address, without a port.

    Raises:
        ValueError: when it is something else, or stands for any name.
    """
    name = value.strip().strip("[]").rstrip(".").lower()
    if not name or not re.fullmatch(r"[\w.:-]+", name) or (":" in name and name.count(":") < 2):
        raise ValueError("must be names of hosts, without a scheme and a port, as in host.docker.internal")
    return name


def web_origin(value: str) -> str:
    """The origin of web pages; of an own scheme, as editors have them, also any (``vscode-webview://*``).

    Raises:
        ValueError: when it is something else, or stands for any page of the web.
    """
    origin = value.strip().rstrip("/").lower()
    scheme, mark, host = origin.partition("://")
    own_scheme = bool(mark) and scheme not in ("http", "https", "file", "ws", "wss")
    if not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^\s/?#@*]+", origin) and not (own_scheme and host == "*"):
        raise ValueError("must be origins of web pages, as in https://chat.example or http://localhost:3000")
    return origin


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force, and for each dotted key that is not a default, where it came from."""

    settings: Settings
    sources: Mapping[str, str]

    def rows(self) -> Iterator[tuple[str, Any, str]]:
        """Each dotted key with its value and its source; secrets are masked."""
        for key, value in leaves(self.settings.model_dump(mode="json")):
            source = self.sources.get(key) or next(
                (origin for at, origin in self.sources.items() if key.startswith((at + ".", at + "["))), "default"
            )
            yield key, "(set)" if is_secret(key) and value else value, source


def _keys() -> Iterator[str]:
    """The dotted key of each setting."""
    yield from (key for key, _ in leaves(Settings().model_dump(mode="json")))


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Loaded:
    """Merge the sources and check the result. ``options`` are dotted keys from the command line.

    Raises:
        SettingsError: with every fault: which key, which value, what is allowed, and where it came from.
    """
    faults = list(misspelt_variables(environment or {}, _keys()))
    sources: dict[str, str] = {}
    merged: dict[str, Any] = {}
    above = [
        *environment_layers(environment or {}),
        *((f"option --{key.rsplit('.', 1)[-1]}", {key: value}) for key, value in (options or {}).items()),
    ]
    below = [*file_layer(file, faults)]
    home = next((layer["home"] for _, layer in reversed([*below, *above]) if "home" in layer), HOME)
    for source, layer in (*below, *chosen_layer(home), *above):
        for key, value in layer.items():
            put(merged, key.split("."), value, key, source, faults)
            sources[key] = source
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        faults.extend(sentence(fault, sources, _keys()) for fault in error.errors(include_url=False))
        raise SettingsError(faults) from None
    if faults:
        raise SettingsError(faults)
    return Loaded(settings, sources)
