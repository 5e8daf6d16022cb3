"""A real git repository in a throwaway folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

FILES = {
    "src/queue.py": "PORT = 7100\n\n\ndef drain_jobs(limit):\n    return limit\n",
    "src/session.py": "class SessionStore:\n    pass\n",
    "package.json": '{"scripts": {"check": "vitest"}, "devDependencies": {"vitest": "^1.6.0"}}\n',
    "Makefile": "release: all\n\techo out\n",
    ".gitignore": "build/\n.env\n",
    ".env": "TOKEN=7100\n",
}


class Repository:
    """The repository, and what is done in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        for name, text in FILES.items():
            self.write(name, text)
        self.commit("begin")

    def git(self, *asked: str, at: Path | None = None) -> str:
        """What git answers."""
        who = {
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "a@b",
            "GIT_COMMITTER_NAME": "Ada",
            "GIT_COMMITTER_EMAIL": "a@b",
        }
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        done = subprocess.run(
            ["git", *asked],
            cwd=at or self.root,
            env={**os.environ, **who, **quiet},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        """Write a file."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self, message: str) -> str:
        """Commit all that is there; the commit."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def checkout(self, branch: str, *, new: bool = False) -> None:
        """Check a branch out."""
        self.git("checkout", "-q", *(["-b"] if new else []), branch)
