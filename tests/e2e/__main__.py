"""Install the clients, play every scenario with each of them, and print a table. Fails when a check fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.e2e.chromium import LEFT_OUT, program
from tests.e2e.clients import CLIENTS
from tests.e2e.install import FOLDER, NotInstalled, install, install_node
from tests.e2e.sandbox import PATIENCE, end_group, isolation
from tests.e2e.scenarios import LIGHT, SCENARIOS
from tests.e2e.stage import Check
from tests.e2e.timing import told
from tests.e2e.tried import write

WRITE = "--write"
SECONDS = 900 * PATIENCE
"""For one client's whole run."""
AT_ONCE = 2
SLOW = ("kilo", "opencode", "openclaw", "qwen")
"""Clients that work for seconds before each turn. They are played first, so that in the end none is played alone."""
AGAIN = 3
"""At most so many runs in which a check failed are played once more, each alone and from nothing. A client, or the
machine, that failed by chance is told apart from a fault of ours that way: a fault fails both times, or many runs. The
end of the log says which runs needed it, and why."""


def main(asked: list[str]) -> int:
    """Play with the clients of these names, or with all; the process's status. ``--write`` puts what was shown into the
    table in the docs."""
    names = [name for name in asked if name != WRITE]
    unknown = [name for name in names if name not in CLIENTS and name not in SCENARIOS]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join((*CLIENTS, *SCENARIOS))}")
        return 2
    without = f"{LEFT_OUT} (see the head of this log)\n" if not asked and program() is None else ""
    print(without, end="", flush=True)
    isolated = isolation()
    if isolated is None:
        print("SKIPPED: this machine does not permit network namespaces (unshare --net), and without one a client")
        print("could reach the network. Run it as root, or in a container with CAP_SYS_ADMIN.")
        print(f"{without}0 passed, 0 failed")
        return 0
    chosen = [name for name in CLIENTS if name in names] or list(CLIENTS)
    unnamed = [name for name, scenario in SCENARIOS.items() if not scenario.named]
    scenarios = [name for name in SCENARIOS if name in names] or unnamed
    runs = [(name, each) for each in scenarios for name in chosen if _plays(name, each, name in names)]
    started = time.monotonic()
    ready: dict[str, str] = {}
    for name in dict.fromkeys(name for name, _ in runs):
        try:
            install_node()
            install(name)
        except NotInstalled as error:
            ready[name] = str(error)
    print(f"clients installed in {FOLDER} ({time.monotonic() - started:.0f} s)", flush=True)
    runs.sort(key=lambda run: SLOW.index(run[0]) if run[0] in SLOW else len(SLOW))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        played = pool.map(lambda run: play(run[0], run[1], isolated, ready.get(run[0])), runs)
        results = dict(zip(runs, played, strict=True))
    first = {run: checks for run, checks in results.items() if run[0] not in ready and failed(checks)}
    if len(first) <= AGAIN:
        for run in first:
            results[run] = again(run, isolated)
    if len(names) < len(asked):
        write({run: checks for run, checks in results.items() if run[0] not in ready}, f"{date.today()}")
    return report(results, first, time.monotonic() - started, without)


def _plays(client: str, scenario: str, named: bool) -> bool:
    """Whether a client is put through a scenario; ``named`` says that it was asked for by its name."""
    if scenario in CLIENTS[client].costly and not named:
        return False
    only = SCENARIOS[scenario].clients
    plays = CLIENTS[client].plays
    if SCENARIOS[scenario].named:
        return True
    return client in only if only else scenario in plays if plays else scenario != LIGHT


def failed(checks: list[Check]) -> list[Check]:
    """Those that did not hold."""
    return [check for check in checks if not check.passed]


def again(run: tuple[str, str], isolated: list[str]) -> list[Check]:
    """The run's checks when it is played once more; its files of the first time are kept beside."""
    folder = folder_of(*run)
    if folder.exists():
        shutil.rmtree(folder.with_name(f"{folder.name}-first"), ignore_errors=True)
        folder.rename(folder.with_name(f"{folder.name}-first"))
    return play(*run, isolated, None)


def play(name: str, scenario: str, isolated: list[str], fault: str | None) -> list[Check]:
    """One client's run of a scenario, in a namespace of its own."""
    if fault is not None:
        return [Check("install", False, fault)]
    command = [*isolated, sys.executable, "-m", "tests.e2e.inside", name, scenario]
    command.append(str(folder_of(name, scenario)))
    process = subprocess.Popen(
        command,
        cwd=FOLDER.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said, complained = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        end_group(process.pid)
        process.wait()
        return [Check("the run", False, f"took more than {SECONDS:.0f} s")]
    if process.returncode != 0:
        return [Check("the run", False, complained.strip()[-600:])]
    return [Check(**told) for told in json.loads(said)]


def folder_of(name: str, scenario: str) -> Path:
    """Where a run's client and proxy have their files."""
    return FOLDER / "runs" / f"{name}-{scenario}"


def report(
    results: dict[tuple[str, str], list[Check]],
    first: dict[tuple[str, str], list[Check]],
    seconds: float,
    without: str,
) -> int:
    """Print a table for each client, then what failed and why, at the ``first`` attempt too, what the run was
    ``without``, and a line at the end."""
    console = Console(width=120, highlight=False)
    for (client, scenario), checks in results.items():
        name = f"{client}, {scenario}"
        table = Table("check", "", "s", title=name, title_justify="left", expand=False)
        for check in checks:
            verdict = "[green]passed[/]" if check.passed else "[red]FAILED[/]"
            table.add_row(check.name, verdict, f"{check.seconds:.1f}")
        console.print(table)
    every = [check for checks in results.values() for check in checks]
    passed = sum(check.passed for check in every)
    print(f"what each client and the proxy said: {FOLDER / 'runs'}; {seconds:.0f} s", flush=True)
    print(told(folder_of(*run) for run in results), flush=True)
    for (client, scenario), checks in first.items():
        for check in failed(checks):
            print(f"failed at first {client}, {scenario}: {check.name}: {check.detail[-1500:]}")
    for (client, scenario), checks in results.items():  # last, where whoever sees only the end of a log looks
        for check in failed(checks):
            print(f"FAILED {client}, {scenario}: {check.name}: {check.detail[-1500:]}")
    print(f"{without}{passed} passed, {len(every) - passed} failed")
    return 0 if passed == len(every) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
