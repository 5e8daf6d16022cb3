"""The scripts for shells name what there is, and bash completes by its own."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from proxy.cli.app import COMMANDS, GROUPS
from proxy.cli.completion import Shell
from tests.proxy.cli.running import run


@pytest.mark.parametrize("shell", list(Shell))
def test_every_command_is_in_the_script(shell: Shell) -> None:
    told = run("completion", shell)
    assert told.code == 0
    for name in (*COMMANDS, *GROUPS):
        assert name in told.out
    assert "opencode" in told.out and "--dry-run" in told.out.replace("-l dry-run", "--dry-run")


@pytest.mark.parametrize("shell", list(Shell))
def test_what_help_does_not_show_is_not_offered(shell: Shell) -> None:
    told = run("completion", shell).out
    for hidden in ("unless-done", "fd", "launchd", "standby"):
        assert not re.search(rf"(--|-l ){hidden}\b", told), hidden


def test_a_shell_of_which_nothing_is_known_is_refused() -> None:
    assert run("completion", "tcsh").code == 2


@pytest.mark.parametrize(
    ("line", "found"), [("forg", "forget"), ("connect open", "opencode"), ("serve --po", "--port")]
)
def test_bash_completes(tmp_path: Path, line: str, found: str) -> None:
    script = tmp_path / "palimpsest.bash"
    script.write_text(run("completion", "bash").out)
    words = ["palimpsest", *line.split()]
    set_ = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}"
    asked = f"source {script}; {set_}; _palimpsest; echo ${{COMPREPLY[*]}}"
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert found in done.stdout.split() and done.stderr == ""


@pytest.mark.parametrize("shell", [Shell.ZSH, Shell.FISH])
def test_the_shell_itself_takes_its_script(tmp_path: Path, shell: Shell) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    script = tmp_path / "script"
    script.write_text(run("completion", shell).out)
    done = subprocess.run([program, "-n", str(script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
