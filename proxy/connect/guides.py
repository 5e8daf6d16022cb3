"""One guide for each runtime: its file, its keys, and what its user should know.

What each is told stands in ``guides.toml``; where its file lies, here.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

from proxy.connect.machine import Machine
from proxy.connect.mcp import COMMAND, noted, with_mcp
from proxy.connect.plan import Address, ConfigChange, ConnectPlan, Format
from proxy.connect.windows import WINDOW, stretched

_TABLE: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
_SHARED: Final[Mapping[str, str]] = _TABLE.pop("shared")
GUIDES: Final[Mapping[str, Mapping[str, Any]]] = _TABLE
"""Every runtime that can be connected, with what it is told."""

_WORD: Final = re.compile(r"<([a-z ]+)>")
_FORMATS: Final[Mapping[str, Format]] = {".toml": "toml", ".yml": "yaml"}
"""Of files by their endings; all others are JSON."""
_KEEPS_KEY: Final = frozenset({"codex", "codex key"})
"""Where Codex has a login, or a key in a file of its own, it is not told to look for one in a variable."""


def plan(
    runtime: str,
    address: Address,
    machine: Machine,
    *,
    window: int = WINDOW,
    mcp: bool = False,
    command: Sequence[str] = COMMAND,
) -> ConnectPlan:
    """What connects a runtime to us. Pure: nothing is read or written.

    Args:
        runtime: its name.
        address: where it finds us.
        machine: what is on this machine.
        window: tokens that its model really reads at once, for runtimes that estimate by themselves.
        mcp: whether our MCP server is added to its configuration.
        command: what starts that server.

    Raises:
        KeyError: when there is no guide for the runtime; :data:`GUIDES` lists those that there are.
    """
    planned = _with_project_note(stretched(_guide_steps(runtime, address, machine), window), address)
    return with_mcp(planned, command) if mcp else noted(planned, command)


def _guide_steps(runtime: str, address: Address, machine: Machine) -> ConnectPlan:
    """What a runtime's guide says, with this address and for this machine."""
    guide = GUIDES[runtime]
    words = _placeholder_values(address)

    def told(said: Any) -> Any:
        if isinstance(said, dict):
            return {name: told(value) for name, value in said.items()}
        return _WORD.sub(lambda word: words[word[1]], said) if isinstance(said, str) else said

    values = {tuple(path.split(".")): told(value) for path, value in guide.get("values", {}).items()}
    if runtime == "codex" and not machine.logins.isdisjoint(_KEEPS_KEY):
        provider = values["model_providers", "palimpsest"]
        del provider["env_key"]
        provider["requires_openai_auth"] = True
    changes: tuple[ConfigChange, ...] = ()
    if values:
        file = _FILES[runtime](machine)
        changes = (ConfigChange(file, _FORMATS.get(file.suffix, "json"), values),)
    logins = [warning for login, warning in guide.get("logins", {}).items() if login in machine.logins]
    return ConnectPlan(
        runtime=runtime,
        title=guide["title"],
        changes=changes,
        environment=told(guide.get("environment", {})),
        example=told(guide.get("example", "")),
        notes=tuple(map(told, guide.get("notes", ()))),
        warnings=tuple(map(told, logins[:1])),
    )


def _placeholder_values(address: Address) -> Mapping[str, str]:
    """What stands for the words in angle brackets."""
    server = urlsplit(address.server)
    host = f"{server.scheme}://{server.netloc}"
    return {
        **_SHARED,
        "url": address.url(),
        "url without version": address.url(version=False),
        "placed url": address.url(placeless=True),
        "placed url without version": address.url(placeless=True, version=False),
        # Here a header can say the project as it is called; in a URL its slashes would be escaped.
        "url without project": replace(address, project=None).url(),
        "project header": shlex.quote(f"x-palimpsest-project: {address.place}"),
        "host": host,
        "path": address.url().removeprefix(host),
    }


def _with_comments_or_without(name: str, machine: Machine) -> Path:
    """The file of opencode, or of what is made of it: where both of its two forms are there, the ``.jsonc`` wins."""
    configured = machine.environment.get(f"{name.upper()}_CONFIG")
    folder = machine.folder("XDG_CONFIG_HOME", ".config") / name
    commented = folder / f"{name}.jsonc"
    if configured:
        return Path(configured)
    return commented if commented in machine.present else folder / f"{name}.json"


def _openclaw(machine: Machine) -> Path:
    configured = machine.environment.get("OPENCLAW_CONFIG_PATH")
    return Path(configured) if configured else machine.home / ".openclaw" / "openclaw.json"


_FILES: Final[Mapping[str, Callable[[Machine], Path]]] = {
    "opencode": lambda machine: _with_comments_or_without("opencode", machine),
    "codex": lambda machine: machine.folder("CODEX_HOME", ".codex") / "config.toml",
    "claude": lambda machine: machine.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
    "qwen": lambda machine: machine.home / ".qwen" / "settings.json",
    "pi": lambda machine: machine.home / ".pi" / "agent" / "models.json",
    "cline": lambda machine: machine.folder("CLINE_DIR", ".cline") / "data" / "settings" / "providers.json",
    "openclaw": _openclaw,
    "aider": lambda machine: (machine.checkout or machine.directory) / ".aider.conf.yml",
    "gemini": lambda machine: machine.gemini / "settings.json",
    "kilo": lambda machine: _with_comments_or_without("kilo", machine),
    "crush": lambda machine: machine.crush,
    "zed": lambda machine: machine.folder("XDG_CONFIG_HOME", ".config") / "zed" / "settings.json",
}
"""Where the configuration of each runtime lies that is told something in one."""


def _with_project_note(planned: ConnectPlan, address: Address) -> ConnectPlan:
    """The plan with a word on what stands escaped in its addresses: the project of the present directory."""
    project = address.place
    if quote(project, safe="") == project or address.url(placeless=True, version=False) not in planned.snippet:
        return planned
    note = (
        f"/p/{quote(project, safe='')} in the address is the project {project}, by the name that it has for every "
        "client here; --project NAME says another."
    )
    return replace(planned, notes=(*planned.notes, note))
