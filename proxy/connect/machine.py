"""What is on this machine that matters to a runtime's configuration: its folders, its environment, its logins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Machine:
    """A user's folders, and which runtimes are logged in with a subscription instead of an API key.

    ``logins`` holds runtime names, ``claude?`` where there may be one, and ``codex key`` where Codex itself keeps an
    API key that is in no variable; ``present`` those of the files that a guide asks for that are there; ``checkout`` is
    the root of the repository around ``directory``, if there is one; ``texts`` is what stands in those files of which
    :func:`~proxy.connect.launch.launch` has to know more.
    """

    home: Path
    directory: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    logins: frozenset[str] = frozenset()
    present: frozenset[Path] = frozenset()
    checkout: Path | None = None
    texts: Mapping[Path, str] = field(default_factory=dict)

    @property
    def crush(self) -> Path:
        """Crush's own configuration; its variable names the folder."""
        configured = self.environment.get("CRUSH_GLOBAL_CONFIG")
        folder = Path(configured) if configured else self.folder("XDG_CONFIG_HOME", ".config") / "crush"
        return folder / "crush.json"

    @property
    def cn(self) -> Path:
        """The configuration of Continue's cn."""
        return self.folder("CONTINUE_GLOBAL_DIR", ".continue") / "config.yaml"

    def folder(self, variable: str, default: str) -> Path:
        """A configuration folder: the one that a variable names, else a default below the home folder."""
        configured = self.environment.get(variable)
        return Path(configured).expanduser() if configured else self.home / default

    @property
    def gemini(self) -> Path:
        """Gemini CLI's folder; its variable names what is to be a home folder to it."""
        return self.folder("GEMINI_CLI_HOME", "") / ".gemini"


def look(home: Path, directory: Path, environment: Mapping[str, str]) -> Machine:
    """Look at this machine. Files that cannot be read say nothing."""
    machine = Machine(home, directory, environment)
    logins = set()
    codex = _json(machine.folder("CODEX_HOME", ".codex") / "auth.json")
    if codex.get("tokens") and not codex.get("OPENAI_API_KEY"):
        logins.add("codex")
    elif codex.get("OPENAI_API_KEY") and not environment.get("OPENAI_API_KEY"):
        logins.add("codex key")
    claude = machine.folder("CLAUDE_CONFIG_DIR", ".claude")
    if "claudeAiOauth" in _json(claude / ".credentials.json"):
        logins.add("claude")
    elif not any(environment.get(name) for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")):
        settings = _json(claude / "settings.json")
        held = settings.get("env")
        if "apiKeyHelper" not in settings and not (isinstance(held, dict) and "ANTHROPIC_API_KEY" in held):
            logins.add("claude?")
    auth = _json(machine.gemini / "settings.json").get("security")
    method = auth.get("auth") if isinstance(auth, dict) else None
    if isinstance(method, dict) and str(method.get("selectedType", "")).startswith(("oauth", "login")):
        logins.add("gemini")
    data = machine.folder("XDG_DATA_HOME", ".local/share")
    for runtime, file in (("opencode", data / "opencode" / "auth.json"), ("pi", home / ".pi" / "agent" / "auth.json")):
        if any(isinstance(entry, dict) and entry.get("type") == "oauth" for entry in _json(file).values()):
            logins.add(runtime)
    config = machine.folder("XDG_CONFIG_HOME", ".config")
    asked_for = (config / "opencode" / "opencode.jsonc", config / "kilo" / "kilo.jsonc")
    present = frozenset(file for file in asked_for if file.is_file())
    checkout = next((folder for folder in (directory, *directory.parents) if (folder / ".git").exists()), None)
    texts = {file: text for file in (machine.crush, machine.cn) if (text := _text(file))}
    return Machine(home, directory, environment, frozenset(logins), present, checkout, texts)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _json(file: Path) -> dict[str, Any]:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}
