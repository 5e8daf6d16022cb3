"""One scenario with one client, inside a network namespace: ``python -m tests.e2e.inside CLIENT SCENARIO FOLDER``.

Prints JSON."""

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
from tests.e2e.sandbox import end_left, only_loopback, raise_loopback
from tests.e2e.scenarios import SCENARIOS

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
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True, timeout=30)
    return folder


async def play(name: str, scenario: str, folder: Path) -> list[dict[str, object]]:
    """A scenario with one client, in a fresh folder."""
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
    script, stage, narrow, *_ = SCENARIOS[scenario]
    kind = CLIENTS[name]
    model = Model(script())
    model.script.needs_tools = kind.tools
    upstream = await model.start()
    try:
        client = kind(place, kind.narrow if narrow else None)
        played = stage(client, model, upstream, folder)
        try:
            checks = await played.play()
        finally:
            (folder / "sent.jsonl").write_text("".join(f"{one.told}\n" for one in played.tap.sent))
    finally:
        (folder / "forwarded.jsonl").write_text("".join(f"{json.dumps(asdict(one))}\n" for one in model.seen))
        await model.stop()
        end_left(place.home)
    return [asdict(check) for check in checks]


def main() -> None:
    """Play, and print what was checked."""
    raise_loopback()
    if not only_loopback():
        sys.exit("this must run in a network namespace of its own")
    print(json.dumps(asyncio.run(play(sys.argv[1], sys.argv[2], Path(sys.argv[3])))))


if __name__ == "__main__":
    main()
