"""How each client is configured, started, resumed, and which tools it offers the model."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from proxy.connect import Address, Machine, NotEditable, carry_out, plan, preview
from proxy.connect.launch import launch
from proxy.connect.windows import WINDOW
from tests.e2e.script import Call

MODEL = "scripted"
WHOLE = ("turns", "errands", "unshed", "long")
"""The scenarios that show the whole of what memory promises; the others go into one side of it with some clients."""


class Beside(NamedTuple):
    """A program that runs as long as the client is played, and the port on which it then listens."""

    command: list[str]
    port: int


AGENTS = ("main", "other")
"""OpenClaw's, one for each project."""
GATEWAY_PORT = 18999


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client's run takes place: its packages, its home, its projects."""

    packages: Path
    node: Path
    home: Path
    temporary: Path
    projects: tuple[Path, ...]


class Client:
    """A client. What is common: its environment, and that ``connect`` points it at the proxy."""

    name = ""
    plays: tuple[str, ...] = ()
    """The scenarios that it is played through: all but the light one where none is named."""
    costly: tuple[str, ...] = ()
    """Those of them that it is played through only where it is named: they take minutes, and show what others show."""
    appends = True
    """Whether it only ever appends to a session's messages, resumed sessions included. Of others no request may share
    less with the one before than what the client itself sent."""
    survives: tuple[str, ...] = ("429", "500", "cut")
    """The provider's faults after which it tries again."""
    narrow = 60_000
    """A small window in which it still works, in tokens."""
    tools = True
    """Whether it gives its model any."""
    delegates = True
    """Whether it has sub-agents where no person sits before it."""
    compacts = 0
    """The usage at which it compacts a session in that window, in tokens."""
    shows = 22_000
    """Characters of a file that it shows the model whole."""

    def __init__(self, place: Place, window: int | None = None) -> None:
        self.place = place
        self.window = window
        self._sessions = 0

    def environment(self) -> dict[str, str]:
        """Its variables, beside what every program has."""
        return {}

    def prepare(self) -> None:
        """Write what it needs beside what ``connect`` writes."""

    def beside(self) -> Beside | None:
        """What must run beside its turns; nothing for most."""
        return None

    def at(self, project: Path) -> None:
        """Be told where the next turn takes place, where the folder that it is started in does not say so."""

    def command(self, prompt: str, resume: bool) -> list[str]:
        """One turn without a person: a new session, or the last one of the folder resumed."""
        raise NotImplementedError

    def read(self, path: Path) -> Call:
        """The call of its tool that reads a file."""
        raise NotImplementedError

    def shell(self, command: str) -> Call:
        """The call of its tool that runs a command."""
        raise NotImplementedError

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        """The calls that let a sub-agent do something and bring its report."""
        raise NotImplementedError

    def reports(self, report: str) -> tuple[Call, ...]:
        """The calls by which a sub-agent hands in its report, where saying it is not enough."""
        return ()

    def corrected(self, raw: str) -> str:
        """A request without what the client itself gets wrong, as it is checked for what the proxy may have broken."""
        return raw

    def delegate_two(self, one: str, other: str) -> tuple[Call, ...]:
        """The calls that send two sub-agents out at once, and bring both reports."""
        [first], [second] = self.delegate(one), self.delegate(other)
        return (replace(first, beside=(second,)),)

    def connect(self, server: str) -> None:
        """Configure it as ``palimpsest connect`` does.

        Raises:
            NotEditable: when what it writes cannot be understood.
        """
        self.prepare()
        variables = {**self.everything(), "HOME": str(self.place.home)}
        machine = Machine(self.place.home, self.place.projects[0], variables)
        wanted = plan(self.name, Address(server), machine, window=self.window or WINDOW)
        written = carry_out(preview(wanted), self.place.home / ".kept")
        if not written:
            raise NotEditable(f"connect wrote nothing for {self.name}")

    def everything(self) -> dict[str, str]:
        """Its whole environment: nothing of this process's own."""
        return {
            "PATH": f"{self.place.home / 'bin'}:{self.place.node}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.place.home),
            "TMPDIR": str(self.place.temporary),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "DO_NOT_TRACK": "1",
            "NO_COLOR": "1",
            # A client that Node runs starts in half the time where what was compiled is kept.
            "NODE_COMPILE_CACHE": str(self.place.packages.parent / "compiled"),
            **self.environment(),
        }

    def bin(self, name: str) -> str:
        """The path of one of its programs."""
        return str(self.place.packages / ".bin" / name)

    def _write(self, file: Path, value: Mapping[str, object]) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(value, indent=2))


class Codex(Client):
    name = "codex"
    compacts, shows = 54_000, 9_000
    sockets = False
    """Whether it asks over a WebSocket, as it does with its built-in provider: 0.169 does so with a provider of its
    configuration only where that says so."""

    def environment(self) -> dict[str, str]:
        return {"CODEX_HOME": str(self.place.home / ".codex"), "OPENAI_API_KEY": "sk-scripted"}

    def prepare(self) -> None:
        lines = [
            f'model = "{MODEL}"',
            f"model_context_window = {self.window or 272_000}",
            "check_for_update_on_startup = false",
        ]
        lines += ["", "[analytics]", "enabled = false"]
        for project in self.place.projects:
            lines += ["", f'[projects."{project}"]', 'trust_level = "trusted"']
        file = self.place.home / ".codex" / "config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")

    def command(self, prompt: str, resume: bool) -> list[str]:
        transport = ["-c", "model_providers.palimpsest.supports_websockets=true"] if self.sockets else []
        command = [self.bin("codex"), *transport, "exec", "--json", "--skip-git-repo-check"]
        command += ["--dangerously-bypass-approvals-and-sandbox", *(["resume", "--last"] if resume else []), prompt]
        return command

    def read(self, path: Path) -> Call:
        return self.shell(f"cat {path}")

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command, "yield_time_ms": 30_000})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return Call("spawn_agent", {"message": prompt}), self._wait("{agent}")

    def delegate_two(self, one: str, other: str) -> tuple[Call, ...]:
        first, second = (Call("spawn_agent", {"message": prompt}) for prompt in (one, other))
        # It ends with its own last words, and whoever is not waited for ends with it.
        return replace(first, beside=(second,)), self._wait("{agent before}"), self._wait("{agent}")

    def _wait(self, agent: str) -> Call:
        return Call("wait_agent", {"targets": [agent], "timeout_ms": 120_000})


class Claude(Client):
    name = "claude"
    narrow, compacts = 100_000, 67_000

    def environment(self) -> dict[str, str]:
        quiet = ("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "IS_SANDBOX")
        return {
            "CLAUDE_CONFIG_DIR": str(self.place.home / ".claude"),
            "ANTHROPIC_API_KEY": "sk-ant-scripted",
            **({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(self.window)} if self.window else {}),
            **dict.fromkeys(quiet, "1"),
        }

    def command(self, prompt: str, resume: bool) -> list[str]:
        # What it sends depends on the model: to its default one it tells its surroundings behind the first words. That
        # one's window is too large to be filled.
        narrow = ["--model", "claude-sonnet-4-5-20250929"] if self.window else []
        command = [self.bin("claude"), "-p", *narrow, "--output-format", "stream-json"]
        return [*command, "--verbose", "--dangerously-skip-permissions", *(["-c"] if resume else []), prompt]

    def read(self, path: Path) -> Call:
        return Call("Read", {"file_path": str(path)})

    def shell(self, command: str) -> Call:
        return Call("Bash", {"command": command, "description": "Look around"})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        told = {"description": "look at the parser", "prompt": prompt, "subagent_type": "general-purpose"}
        return (Call("Agent", {**told, "run_in_background": False}),)


class OpenCode(Client):
    name = "opencode"
    compacts = 52_000
    costly: tuple[str, ...] = ("branches",)

    def environment(self) -> dict[str, str]:
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        return {
            "OPENCODE_CONFIG": str(self.place.home / "opencode.json"),
            **{f"OPENCODE_DISABLE_{what}": "1" for what in off},
        }

    def prepare(self) -> None:
        limit = {"context": self.window or 200_000, "output": 8_000}
        model = {"name": "Scripted", "tool_call": True, "limit": limit}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": {"apiKey": "sk-scripted"}, "models": {MODEL: model}}
        told = {"autoupdate": False, "share": "disabled", "provider": {"openai": provider}, "model": f"openai/{MODEL}"}
        self._write(self.place.home / "opencode.json", told)

    def command(self, prompt: str, resume: bool) -> list[str]:
        return [self.bin("opencode"), "run", "--format", "json", *(["-c"] if resume else []), prompt]

    def read(self, path: Path) -> Call:
        return Call("read", {"filePath": str(path)})

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        told = {"description": "look at the parser", "prompt": prompt, "subagent_type": "general"}
        return (Call("task", told),)


class Qwen(Client):
    name = "qwen"
    appends = False
    narrow, compacts = 100_000, 67_000
    costly: tuple[str, ...] = ("branches",)

    def environment(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "sk-scripted", "OPENAI_MODEL": MODEL}

    def prepare(self) -> None:
        told = {
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "model": {
                "name": MODEL,
                "chatRecording": True,
                **({"generationConfig": {"contextWindowSize": self.window}} if self.window else {}),
            },
        }
        self._write(self.place.home / ".qwen" / "settings.json", told)

    def command(self, prompt: str, resume: bool) -> list[str]:
        command = [self.bin("qwen"), "--yolo", "--output-format", "stream-json"]
        return [*command, *(["--continue"] if resume else []), "-p", prompt]

    def read(self, path: Path) -> Call:
        return Call("read_file", {"file_path": str(path)})

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command, "is_background": False})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        told = {"description": "look at the parser", "prompt": prompt, "subagent_type": "general-purpose"}
        return (Call("agent", told),)


class Pi(Client):
    name = "pi"
    narrow, compacts = 100_000, 83_600

    @property
    def _own(self) -> Path:
        return self.place.packages / "@earendil-works" / "pi-coding-agent"

    def environment(self) -> dict[str, str]:
        return {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}

    def prepare(self) -> None:
        agent = self.place.home / ".pi" / "agent"
        # Sub-agents are an extension that comes with the package as an example; its agents name models of their own.
        example = self._own / "examples" / "extensions" / "subagent"
        shutil.copytree(example, agent / "extensions" / "subagent", dirs_exist_ok=True)
        (agent / "agents").mkdir(parents=True, exist_ok=True)
        for file in (example / "agents").glob("*.md"):
            lines = [line for line in file.read_text().splitlines() if not line.startswith("model:")]
            (agent / "agents" / file.name).write_text("\n".join(lines) + "\n")
        model = {"id": MODEL, "contextWindow": self.window or 200_000, "maxTokens": 8_000, "reasoning": True}
        provider = {"api": "openai-completions", "apiKey": "sk-scripted", "models": [model]}
        self._write(agent / "models.json", {"providers": {"openai": provider}})
        told = {
            "defaultProvider": "openai",
            "defaultModel": MODEL,
            "quietStartup": True,
            "defaultProjectTrust": "always",
        }
        self._write(agent / "settings.json", told)
        program = self.place.home / "bin" / "pi"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\nexec node {self._own / "dist" / "bundle" / "cli.js"} "$@"\n')
        program.chmod(0o755)

    def command(self, prompt: str, resume: bool) -> list[str]:
        command = [str(self.place.home / "bin" / "pi"), "--mode", "json", "--provider", "openai", "--model", MODEL]
        return [*command, *(["-c"] if resume else []), "-p", prompt]

    def read(self, path: Path) -> Call:
        return Call("read", {"path": str(path)})

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return (Call("subagent", {"agent": "worker", "task": prompt}),)


class Kilo(OpenCode):
    name = "kilo"
    plays = WHOLE
    # Each of its turns begins with fifteen seconds of a core; the code of its sessions, and of what it tries again, is
    # opencode's.
    costly = ("errands", "unshed", "long")
    survives = ("cut",)

    def environment(self) -> dict[str, str]:
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SESSION_INGEST", "CODEBASE_INDEXING")
        return {
            "KILO_CONFIG": str(self.place.home / "kilo.json"),
            "KILO_TELEMETRY_LEVEL": "off",  # else it waits two seconds at the end of each turn for a host out of reach
            **{f"KILO_DISABLE_{what}": "1" for what in off},
        }

    def prepare(self) -> None:
        super().prepare()
        (self.place.home / "opencode.json").rename(self.place.home / "kilo.json")

    def command(self, prompt: str, resume: bool) -> list[str]:
        program = self.place.packages / "@kilocode" / "cli-linux-x64" / "bin" / "kilo"
        return [str(program), "run", "--auto", "--format", "json", *(["-c"] if resume else []), prompt]


class Copilot(Client):
    name = "copilot"
    # Told four times its window, as it is connected, it compacts no session of this size, with shedding or without.
    plays: tuple[str, ...] = ("turns", "errands", "long")
    appends = False
    narrow, compacts, shows = 100_000, 76_000, 18_000

    def __init__(self, place: Place, window: int | None = None) -> None:
        super().__init__(place, window)
        self._connected: Mapping[str, str] = {}

    def environment(self) -> dict[str, str]:
        own = {"COPILOT_PROVIDER_API_KEY": "sk-scripted", "COPILOT_MODEL": MODEL, "COPILOT_OFFLINE": "true"}
        return {**own, **self._connected}

    def connect(self, server: str) -> None:
        """It is connected by variables, with a file beside them or without."""
        machine = Machine(self.place.home, self.place.projects[0])
        planned = plan(self.name, Address(server), machine, window=self.window or WINDOW)
        carry_out(preview(planned), self.place.home / ".kept")
        self._connected = planned.environment

    def command(self, prompt: str, resume: bool) -> list[str]:
        return [self.bin("copilot"), "--allow-all-tools", *(["--continue"] if resume else []), "-p", prompt]

    def read(self, path: Path) -> Call:
        return Call("view", {"path": str(path)})

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "Look around", "initial_wait": 120})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        told = {"description": "look at the parser", "name": "look", "mode": "sync", "agent_type": "general-purpose"}
        return (Call("task", {**told, "prompt": prompt}),)


class Gemini(Copilot):
    name = "gemini"
    # Its window cannot be made small, and it is told to compact at nearly all of it, which no session here comes near.
    plays: tuple[str, ...] = ("turns", "errands", "long")
    narrow, compacts, shows = 100_000, 50_000, 22_000
    # It ends where a stream breaks off.
    survives = ("429", "500")

    def environment(self) -> dict[str, str]:
        own = {
            "GEMINI_API_KEY": "AIza-scripted",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }
        return {**own, **self._connected}

    def connect(self, server: str) -> None:
        told = {
            "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False},
        }
        self._write(self.place.home / ".gemini" / "settings.json", told)
        super().connect(server)

    def command(self, prompt: str, resume: bool) -> list[str]:
        command = [self.bin("gemini"), "--approval-mode", "yolo", "-m", "gemini-2.5-pro"]
        return [*command, *(["--resume", "latest"] if resume else []), "-p", prompt]

    def read(self, path: Path) -> Call:
        return Call("read_file", {"file_path": str(path)})

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return (Call("invoke_agent", {"agent_name": "generalist", "prompt": prompt}),)

    def corrected(self, raw: str) -> str:
        """It records every result twice, with its call and by itself, and sends both when it resumes a session."""
        body = json.loads(raw)
        for content in body["contents"]:
            results = [part["functionResponse"].get("id") for part in content["parts"] if "functionResponse" in part]
            if len(set(results)) < len(results):
                seen = dict[str, Any]()
                rest = [part for part in content["parts"] if "functionResponse" not in part]
                for part in content["parts"]:
                    if "functionResponse" in part:
                        seen.setdefault(part["functionResponse"].get("id"), part)
                content["parts"] = [*seen.values(), *rest]
        return json.dumps(body)

    def reports(self, report: str) -> tuple[Call, ...]:
        return (Call("complete_task", {"result": {"response": report}}),)


class Cline(Client):
    name = "cline"
    # Told four times its window, as it is connected, it compacts no session of this size.
    plays = ("turns", "errands", "long")
    narrow, compacts, shows = 40_000, 36_000, 6_000

    def environment(self) -> dict[str, str]:
        off = ("CLINE_TELEMETRY_DISABLED", "CLINE_NO_AUTO_UPDATE")
        own = {"CLINE_PROVIDER": "openai-compatible", "CLINE_MODEL": MODEL, "CLINE_API_KEY": "sk-scripted"}
        return {"POSTHOG_TELEMETRY_ENABLED": "false", **own, **dict.fromkeys(off, "1")}

    def prepare(self) -> None:
        settings = {"provider": "openai-compatible", "apiKey": "sk-scripted", "model": MODEL}
        told = {"version": 1, "lastUsedProvider": "openai-compatible", "providers": {}}
        told["providers"] = {
            "openai-compatible": {
                "settings": settings,
                "updatedAt": "2026-01-01T00:00:00.000Z",
                "tokenSource": "manual",
            }
        }
        self._write(self.place.home / ".cline" / "data" / "settings" / "providers.json", told)

    def command(self, prompt: str, resume: bool) -> list[str]:
        """Without a person it resumes no session but for an editor."""
        turn = [sys.executable, str(Path(__file__).with_name("acp.py")), str(self.place.home / "sessions.json"), prompt]
        return [*turn, *(["--resume"] if resume else []), "--", self.bin("cline"), "--acp", "--auto-approve", "true"]

    def read(self, path: Path) -> Call:
        return Call("read_files", {"files": [{"path": str(path)}]})

    def shell(self, command: str) -> Call:
        return Call("run_commands", {"commands": [command]})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return (Call("spawn_agent", {"systemPrompt": "You look at code, and report.", "task": prompt}),)


class OpenClaw(Client):
    name = "openclaw"
    plays = ("once",)
    appends = False

    def __init__(self, place: Place, window: int | None = None) -> None:
        super().__init__(place, window)
        self._agent = AGENTS[0]

    def environment(self) -> dict[str, str]:
        off = ("NO_AUTO_UPDATE", "DISABLE_BONJOUR", "NO_RESPAWN", "HIDE_BANNER", "SKIP_CHANNELS")
        return {f"OPENCLAW_{what}": "1" for what in off}

    def prepare(self) -> None:
        window = self.window or 200_000
        model = {"id": MODEL, "name": "Scripted", "input": ["text"], "contextWindow": window, "maxTokens": 8_000}
        provider = {"apiKey": "sk-scripted", "api": "openai-completions", "models": [model]}
        agents = {
            "defaults": {"model": {"primary": f"openai/{MODEL}"}, "skipBootstrap": True},
            "entries": {
                agent: {"workspace": str(project), **({"default": True} if agent == AGENTS[0] else {})}
                for agent, project in zip(AGENTS, self.place.projects, strict=True)
            },
        }
        told = {
            "gateway": {"mode": "local", "port": GATEWAY_PORT, "bind": "loopback", "auth": {"mode": "none"}},
            "update": {"checkOnStart": False},
            "agents": agents,
            "tools": {"profile": "coding"},
            "models": {"mode": "merge", "providers": {"openai": provider, "anthropic": {"models": []}}},
        }
        self._write(self.place.home / ".openclaw" / "openclaw.json", told)

    def beside(self) -> Beside:
        """Its gateway, in which sessions and sub-agents live."""
        command = [self.bin("openclaw"), "gateway", "run", "--port", str(GATEWAY_PORT), "--bind", "loopback"]
        return Beside(command, GATEWAY_PORT)

    def at(self, project: Path) -> None:
        """Each agent has a workspace of its own, wherever its turn is started."""
        self._agent = AGENTS[self.place.projects.index(project)]

    def command(self, prompt: str, resume: bool) -> list[str]:
        self._sessions += not resume
        command = [self.bin("openclaw"), "agent", "--agent", self._agent, "--session-id", f"s{self._sessions}"]
        return [*command, "--json", "--timeout", "150", "--message", prompt]

    def read(self, path: Path) -> Call:
        return Call("read", {"path": str(path)})

    def shell(self, command: str) -> Call:
        return Call("exec", {"command": command})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return self._deferred("sessions_spawn", task=prompt, collect=True), self._collected("{agent}")

    def delegate_two(self, one: str, other: str) -> tuple[Call, ...]:
        first, second = (self._deferred("sessions_spawn", task=prompt, collect=True) for prompt in (one, other))
        return replace(first, beside=(second,)), self._collected("{agent before}"), self._collected("{agent}")

    def _collected(self, run: str) -> Call:
        return self._deferred("agents_wait", ids=[run], timeoutSeconds=120)

    def _deferred(self, tool: str, **arguments: object) -> Call:
        """Most of its tools are called by way of another one."""
        return Call("tool_call", {"id": tool, "args": arguments})


class Goose(Client):
    name = "goose"
    # Within a turn, of whatever length, it compacts nothing: that it would is seen between turns only.
    plays = ("turns", "asking", "errands", "branches", "long")
    survives = ("429", "500")
    compacts = 48_500

    def environment(self) -> dict[str, str]:
        told = {
            "PROVIDER": "openai",
            "MODEL": MODEL,
            "MODE": "auto",
            "DISABLE_KEYRING": "1",
            "TELEMETRY_ENABLED": "false",
        }
        told |= {"CONTEXT_LIMIT": str(self.window)} if self.window else {}
        return {"OPENAI_API_KEY": "sk-scripted", **{f"GOOSE_{name}": value for name, value in told.items()}}

    def connect(self, server: str) -> None:
        """Its variables may stand in its file, one by one."""
        planned = plan(self.name, Address(server), Machine(self.place.home, self.place.projects[0], self.everything()))
        file = self.place.home / ".config" / "goose" / "config.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{name}: {value}\n" for name, value in planned.environment.items()))

    def command(self, prompt: str, resume: bool) -> list[str]:
        program = self.place.packages / "@aaif" / "goose-binary-linux-x64" / "bin" / "goose"
        return [str(program), "run", "--quiet", *(["--resume"] if resume else []), "--text", prompt]

    def read(self, path: Path) -> Call:
        return self.shell(f"cat {path}")

    def shell(self, command: str) -> Call:
        return Call("shell", {"command": command})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return (Call("delegate", {"instructions": prompt}),)


class Continue(Client):
    name = "cn"
    plays = ("recorded",)
    # Its sub-agents find no session without its window: "No active session found".
    delegates = False

    def environment(self) -> dict[str, str]:
        off = {"CONTINUE_TELEMETRY_ENABLED": "0", "CONTINUE_CLI_ENABLE_TELEMETRY": "0"}
        return {"OPENAI_API_KEY": "sk-scripted", "CONTINUE_GLOBAL_DIR": str(self.place.home / ".continue"), **off}

    @property
    def _file(self) -> Path:
        return self.place.home / ".continue" / "palimpsest.yaml"

    def connect(self, server: str) -> None:
        """It is given its own configuration with the address in it."""
        own = {"provider": "openai", "name": MODEL, "model": MODEL, "apiKey": "sk-scripted", "roles": ["chat"]}
        told = {"name": "e2e", "version": "1.0.0", "schema": "v1", "models": [{**own, "capabilities": ["tool_use"]}]}
        machine = Machine(self.place.home, self.place.projects[0], self.everything())
        run = launch(self.name, (), Address(server), replace(machine, texts={machine.cn: json.dumps(told)}))
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text(run.files["config.yaml"])

    def command(self, prompt: str, resume: bool) -> list[str]:
        command = ["node", self.bin("cn"), "--config", str(self._file), "--auto"]
        return [*command, *(["--resume"] if resume else []), "-p", prompt]

    def read(self, path: Path) -> Call:
        return Call("Read", {"filepath": str(path)})

    def shell(self, command: str) -> Call:
        return Call("Bash", {"command": command})


class Aider(Client):
    name = "aider"
    plays = ("recorded",)
    appends = False
    tools = delegates = False

    def environment(self) -> dict[str, str]:
        off = {"AIDER_ANALYTICS": "false", "AIDER_CHECK_UPDATE": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
        return {"OPENAI_API_KEY": "sk-scripted", **off}

    def prepare(self) -> None:
        limits = {"max_tokens": 8_000, "max_input_tokens": 200_000, "max_output_tokens": 8_000}
        told = {f"openai/{MODEL}": {**limits, "litellm_provider": "openai", "mode": "chat"}}
        self._write(self.place.home / "models.json", told)

    def command(self, prompt: str, resume: bool) -> list[str]:
        command = [self.bin("aider"), "--model", f"openai/{MODEL}", "--model-metadata-file"]
        command += [str(self.place.home / "models.json"), "--no-show-model-warnings", "--no-gitignore", "--yes-always"]
        command += ["--edit-format", "diff", "--no-pretty", "--no-fancy-input", "parser.py"]
        return [*command, *(["--restore-chat-history"] if resume else []), "--message", prompt]

    def bin(self, name: str) -> str:
        return str(self.place.packages / name)


class Program(Client):
    """A program on a framework (``programs.py``): it tells no place, so that its address has the project."""

    plays: tuple[str, ...] = ("recorded",)
    connects = ""
    """The name under which it is connected."""

    def __init__(self, place: Place, window: int | None = None) -> None:
        super().__init__(place, window)
        self._server = ""
        self._project = place.projects[0]

    def environment(self) -> dict[str, str]:
        keys = {"OPENAI_API_KEY": "sk-scripted", "ANTHROPIC_API_KEY": "sk-ant-scripted"}
        address = Address(self._server, around=self._project.name)
        return {**keys, **plan(self.connects, address, Machine(self.place.home, self._project)).environment}

    def connect(self, server: str) -> None:
        """It is connected by variables."""
        self._server = server

    def at(self, project: Path) -> None:
        self._project = project

    def command(self, prompt: str, resume: bool) -> list[str]:
        command = [str(self.place.packages / "python"), str(Path(__file__).with_name("programs.py")), self.name]
        return [*command, *self._session(resume), prompt]

    def _session(self, resume: bool) -> list[str]:
        return [str(self.place.home / f"{self._project.name}.json"), *(["--resume"] if resume else [])]

    def read(self, path: Path) -> Call:
        return Call("read", {"path": str(path)})

    def shell(self, command: str) -> Call:
        return Call("shell", {"command": command})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return (Call("delegate", {"task": prompt}),)


class OpenAIAgents(Program):
    name, connects = "openai-agents", "openai-agents"

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return (Call("delegate", {"input": prompt}),)


class OpenAIAgentsChat(OpenAIAgents):
    name = "openai-agents-chat"


class PydanticAI(Program):
    name, connects = "pydantic-ai", "pydantic-ai"


class PydanticAIResponses(PydanticAI):
    name = "pydantic-ai-responses"


class PydanticAIMessages(PydanticAI):
    name = "pydantic-ai-messages"


class LangGraph(Program):
    name, connects = "langgraph", "langgraph"


class DeepAgents(Program):
    name, connects = "deepagents", "langgraph"

    def read(self, path: Path) -> Call:
        return Call("read_file", {"file_path": str(path)})

    def shell(self, command: str) -> Call:
        return Call("execute", {"command": command})

    def delegate(self, prompt: str) -> tuple[Call, ...]:
        return (Call("task", {"description": prompt, "subagent_type": "general-purpose"}),)


class AISDK(Program):
    name, connects = "ai-sdk", "other"

    def environment(self) -> dict[str, str]:
        address = Address(self._server, self._project.name)
        told = plan(self.connects, address, Machine(self.place.home, self._project)).environment
        return {"OPENAI_API_KEY": "sk-scripted", "AI_SDK_PACKAGES": str(self.place.packages.parent), **told}

    def command(self, prompt: str, resume: bool) -> list[str]:
        return ["node", str(Path(__file__).with_name("program.mjs")), *self._session(resume), prompt]


CLIENTS: dict[str, type[Client]] = {
    client.name: client
    for client in (
        *(Codex, Claude, OpenCode, Qwen, Pi, Kilo, Copilot, Gemini, Cline, OpenClaw, Goose, Continue, Aider),
        *(OpenAIAgents, OpenAIAgentsChat, PydanticAI, PydanticAIResponses, PydanticAIMessages),
        *(LangGraph, DeepAgents, AISDK),
    )
}
"""Every client that is run."""
