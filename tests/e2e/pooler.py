"""Two servers over one PostgreSQL behind Debian's PgBouncer in transaction mode, while one of them is killed.

    python -m tests.e2e.pooler

Its package is fetched where the program is not installed, and unpacked, not installed. Fails when a check fails; where
there is no PostgreSQL, or no Debian to fetch from, it says so and nothing is checked.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests import postgresql
from tests.bench.team import Outcome, run
from tests.e2e.install import FOLDER, NotInstalled

PACKAGES = ("pgbouncer", "libevent-2.1-7", "libc-ares2")
"""The program, and of the libraries that it needs those that few machines have."""
SECONDS = 120
SESSIONS, TURNS = 4, 3


def pgbouncer() -> str:
    """The program: the machine's own, else Debian's, unpacked.

    Raises:
        NotInstalled: when there is neither.
    """
    found = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if found:
        return found
    folder = FOLDER / "debian"
    program = folder / "run-pgbouncer"
    if program.is_file():
        return str(program)
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        raise NotInstalled("there is no pgbouncer, and no apt-get to fetch it")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _run(["apt-get", "download", *PACKAGES], folder)
    for package in folder.glob("*.deb"):
        _run(["dpkg", "-x", package.name, "files"], folder)
    libraries = ":".join(sorted({str(each.parent) for each in (folder / "files").rglob("*.so.*")}))
    program.write_text(f'#!/bin/sh\nLD_LIBRARY_PATH={libraries} exec {folder}/files/usr/sbin/pgbouncer "$@"\n')
    program.chmod(0o755)
    return str(program)


def _run(command: list[str], folder: Path) -> None:
    try:
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise NotInstalled(f"{command[0]} took more than {SECONDS} s") from None
    if ran.returncode != 0:
        raise NotInstalled((ran.stderr or ran.stdout).strip()[-400:])


def checks(outcome: Outcome, log: str) -> dict[str, bool]:
    """What must hold, by what it says."""
    return {
        "the servers reach the database through PgBouncer": log.count("login attempt") >= 2,
        "each turn is answered": outcome.acknowledged == SESSIONS * TURNS,
        "no acknowledged exchange is lost": not outcome.lost,
        "each session is one growing prefix, but where a reply says degraded": not outcome.broken,
        "each statement is learnt once": not outcome.learnt_otherwise and outcome.learnt == SESSIONS * TURNS,
        "no request holds another person's words": not outcome.leaked,
    }


def main() -> int:
    """Play it; the process's status."""
    try:
        program = pgbouncer()
    except NotInstalled as error:
        print(f"SKIPPED: {error}\n0 passed, 0 failed")
        return 0
    if postgresql.programs() is None:
        print("SKIPPED: there is no PostgreSQL on this machine\n0 passed, 0 failed")
        return 0
    with tempfile.TemporaryDirectory(prefix="palimpsest-pooler-") as name:
        folder = Path(name)
        outcome = asyncio.run(
            run(replicas=2, sessions=SESSIONS, turns=TURNS, kills=1, people=2, folder=folder, pgbouncer=program)
        )
        held = checks(outcome, (folder / "pgbouncer.log").read_text(encoding="utf-8"))
    print(outcome.told())
    for check, holds in held.items():
        print(f"{'passed' if holds else 'FAILED'}  {check}")
    print(f"{sum(held.values())} passed, {len(held) - sum(held.values())} failed")
    return 0 if all(held.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
