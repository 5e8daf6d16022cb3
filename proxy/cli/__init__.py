"""The command line.

``serving`` starts the server, ``connecting`` points a runtime at it; ``memories``, ``candidates``, ``looking`` and
``switching`` ask the server that runs (``reach`` finds it, and opens the stores in this process where none does).
``call`` has the options that they share, and says whose memories are meant. ``doctor`` and ``demo`` show that it
works. ``terminal`` keeps what was said from giving orders to a terminal; ``faults`` turns what goes wrong into a
sentence and an exit code.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import memory
import proxy

PROGRAM = "palimpsest"

ALONE = "setup"
"""The command that is meant where somebody at a terminal says none."""

AT_ONCE = "statusline"
"""The command that a prompt asks again and again, without all that the others need."""

# How many threads a library of matrices takes, which it reads when numpy is imported. A search multiplies so little
# that a second thread brings nothing; but threads wait for each other in a busy loop, which on a busy machine takes
# several times the processor and now and then stops everything for ten milliseconds.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    """Run the command line and exit with its code: 0, 1 when something failed, 2 when it was asked wrongly."""
    if sys.argv[1:2] == [AT_ONCE]:
        from proxy.cli.status_summary import main as at_once

        if (code := at_once(sys.argv[2:])) is not None:
            sys.exit(code)
    # Imported late: what stands behind the commands takes ten times as long as a line in a prompt may.
    from proxy.cli.faults import as_sentences, obey, own_arguments
    from proxy.cli.terminal import guard_terminal

    own = own_arguments(sys.argv[1:])
    debug = "--debug" in own
    arguments = [argument for argument in own if argument != "--debug"] + sys.argv[1 + len(own) :]
    if not arguments and sys.stdin.isatty() and sys.stdout.isatty():
        arguments = [ALONE, "--unless-done"]
    if _root(memory.__file__) != _root(proxy.__file__):
        print(
            f"another package called `memory` stands before ours: {memory.__file__}. Install palimpsest-proxy into "
            "an environment of its own (pipx install palimpsest-proxy).",
            file=sys.stderr,
        )
        sys.exit(1)
    for library in _ONE_THREAD:
        os.environ.setdefault(library, "1")
    for stream in (sys.stdout, sys.stderr):
        # Where a terminal has no letter for something, a mark stands in its place, and the command goes on.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    guard_terminal()
    with as_sentences(debug, "--json" in own):
        # Imported late: `--help` and a mistyped option need none of what stands behind the commands.
        from proxy.cli.app import command_line

        obey(command_line(*arguments[:1]), arguments, PROGRAM)


def _root(file: str | None) -> Path | None:
    return Path(file).resolve().parent.parent if file else None
