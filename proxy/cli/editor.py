"""A text in a person's own editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

from proxy.cli.faults import CommandError


def edited(text: str, name: str) -> str | None:
    """A text after a person's editor has closed, shown as a file of that name; None where nothing was changed.

    Raises:
        Fault: when the editor cannot be started, or fails.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="palimpsest-") as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(file)], check=False)
        except OSError as error:
            raise CommandError(f"the editor {editor!r} cannot be started: {error.strerror}; set EDITOR") from error
        if done.returncode:
            raise CommandError(f"the editor {editor!r} ended with {done.returncode}: nothing was written")
        changed = file.read_text(encoding="utf-8")
    return None if changed == text else changed
