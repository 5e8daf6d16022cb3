"""One client's run, inside a network namespace: ``python -m tests.e2e.inside CLIENT FOLDER``. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from tests.e2e.clients import CLIENTS, Place
from tests.e2e.install import install, install_node
from tests.e2e.model import Model
from tests.e2e.sandbox import only_loopback, raise_loopback
from tests.e2e.scenario import Scenario
from tests.e2e.script import Script

_FILES = {
    "README.md": "# demo\nThis project has a parser in parser.py.\n",
    "parser.py": 'def parse(line):\n    return line.split(",")\n',
    "NOTES.md": "The word of the day is heliotrope.\n",
}


def project(folder: Path) -> Path:
    """A small project under git."""
    folder.mkdir(parents=True)
    for name, text in _FILES.items():
        (folder / name).write_text(text)
    who = ["-c", "user.name=e2e", "-c", "user.email=e2e@localhost"]
    for command in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, timeout=30)
    return folder


async def play(name: str, folder: Path) -> list[dict[str, object]]:
    """The scenario with one client, in a fresh folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("home", "tmp"):
        (folder / part).mkdir(parents=True)
    place = Place(
        packages=install(name),
        node=install_node(),
        home=folder / "home",
        temporary=folder / "tmp",
        projects=(project(folder / "one"), project(folder / "two")),
    )
    model = Model(Script())
    upstream = await model.start()
    try:
        checks = await Scenario(CLIENTS[name](place), model, upstream, folder).play()
    finally:
        (folder / "forwarded.jsonl").write_text("".join(f"{json.dumps(asdict(one))}\n" for one in model.seen))
        await model.stop()
    return [asdict(check) for check in checks]


def main() -> None:
    """Play, and print what was checked."""
    raise_loopback()
    if not only_loopback():
        sys.exit("this must run in a network namespace of its own")
    print(json.dumps(asyncio.run(play(sys.argv[1], Path(sys.argv[2])))))


if __name__ == "__main__":
    main()
