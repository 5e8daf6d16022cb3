"""The program's own door: arguments, faults, and a foreign package in our place."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import memory
from proxy.cli import main
from proxy.cli.app import GROUPS
from tests.proxy.cli.running import program, run

NO_SUCH_MEMORY = "there is no memory 'nothing': it is named by its id, or the beginning of one"


def test_a_foreign_package_in_our_place_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(memory, "__file__", str(tmp_path / "memory" / "__init__.py"))
    monkeypatch.setattr(sys, "argv", ["palimpsest", "version"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    told = capsys.readouterr().err
    assert str(tmp_path) in told and "pipx" in told


async def test_the_module_is_the_program() -> None:
    assert (await program("version")).out.strip()
    helped = await program("--help")
    assert helped.code == 0 and all(name in helped.out for name in ("serve", "connect", "doctor", "forget"))
    # Whole sentences, within 80 columns.
    assert "..." not in helped.out.partition("Commands:")[2] and max(map(len, helped.out.splitlines())) <= 80
    assert run().code != 0


async def test_a_fault_is_a_sentence_and_with_debug_a_traceback(home: Path) -> None:
    config = home.parent / "config.yaml"
    plain = await program("config", "--config", str(config))
    assert "Traceback" not in plain.err and plain.code == 2
    debugged = await program("--debug", "config", "--config", str(config))
    assert "Traceback" in debugged.err and debugged.code == 1


@pytest.mark.skipif(importlib.util.find_spec("uvloop") is not None, reason="uvloop is installed here")
async def test_uvloop_that_is_not_installed_is_told(home: Path) -> None:
    done = await program("serve", "--port", "0", "--home", str(home), PALIMPSEST__SERVER__UVLOOP="true")
    assert done.code == 1 and "uvloop is not installed" in done.err


def test_matrices_are_multiplied_in_one_thread_unless_somebody_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["palimpsest", "--help"])
    for library in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.setenv(library, "")
        monkeypatch.delenv(library)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    with pytest.raises(SystemExit):
        main()
    assert (os.environ["OMP_NUM_THREADS"], os.environ["OPENBLAS_NUM_THREADS"]) == ("1", "3")


def test_where_json_was_asked_for_a_fault_is_json_too(home: Path) -> None:
    run("remember", "The harbour code is 4711.")
    done = run("fact", "nothing", "--json")
    assert (done.code, done.json) == (1, {"error": NO_SUCH_MEMORY})
    assert done.err == f"palimpsest: {NO_SUCH_MEMORY}\n"
    (home / "config.yaml").write_text("memry: 1\n")
    done = run("facts", "--json")
    assert done.code == 2 and "memry" in done.json["error"]
    assert run("facts").out == ""


@pytest.mark.usefixtures("server")
async def test_what_the_output_has_no_letter_for_is_a_mark_and_in_json_an_escape(home: Path) -> None:
    assert run("remember", "Jördis owns the 🦊 service").code == 0
    plain = await program("facts", PALIMPSEST_HOME=str(home), PYTHONIOENCODING="ascii")
    assert plain.code == 0 and "J?rdis owns the ? service" in plain.out and plain.err == ""
    listed = await program("facts", "--json", PALIMPSEST_HOME=str(home), PYTHONIOENCODING="latin-1")
    assert listed.json["facts"][0]["text"] == "Jördis owns the 🦊 service"


@pytest.mark.parametrize("command", ["remember", "search"])
def test_bytes_that_are_no_text_are_told_as_such(command: str) -> None:
    run("remember", "The harbour code is 4711.")
    done = run(command, "\udcff\udcfe and words")
    assert done.code == 2 and "UTF-8" in done.err


@pytest.mark.parametrize("wrong", [("promote", "9"), ("facts", "-n", "0"), ("facts", "--nope"), ("nope",)])
def test_what_was_asked_wrongly_is_json_too(wrong: tuple[str, ...]) -> None:
    done = run(*wrong, "--json")
    assert done.code == 2 and list(done.json) == ["error"] and done.json["error"] in done.err
    assert "Usage:" in run(*wrong).err


FAILING = """
import sys, typer
from proxy.cli.faults import as_sentences, obey
app = typer.Typer()
@app.command()
def fails(as_json: bool = typer.Option(False, "--json")) -> None:
    raise TypeError("no")
with as_sentences(as_json="--json" in sys.argv):
    obey(app, sys.argv[1:], "program")
"""


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_was_not_foreseen_is_a_sentence_too(options: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-c", FAILING, *options], capture_output=True, text=True, check=False)
    sentence = "this should not have happened: TypeError: no"
    assert done.returncode == 1 and f"palimpsest: {sentence}\n" in done.stderr
    assert "--debug" in done.stderr and "Traceback" not in done.stderr
    assert not options or json.loads(done.stdout) == {"error": sentence}


def test_who_stops_reading_is_told_nothing(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in (("version",), ("config", "--json")):
        command = [sys.executable, "-m", "proxy", *arguments]
        ran = subprocess.run(
            command,
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "PALIMPSEST_HOME": str(tmp_path)},
            timeout=120,
            check=False,
        )
        assert (ran.returncode, ran.stderr) == (1, b"")
    os.close(writing)


@pytest.mark.parametrize("group", GROUPS)
def test_a_groups_commands_are_told_in_whole_sentences(group: str) -> None:
    told = run(group, "--help").out
    assert "Commands:" in told and "..." not in told.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("verify {}/gone", "there is no {}/gone"),
        ("restore {}/gone", "there is no {}/gone"),
        ("trust {}/gone", ".palimpsest.toml is not there"),
        ("tokens add t --role read --expires yesterday", "30m from now"),
    ],
)
def test_a_place_or_a_time_that_is_none_is_told_as_such(command: str, told: str, tmp_path: Path) -> None:
    done = run(*command.format(tmp_path).split())
    assert done.code in (1, 2) and told.format(tmp_path) in done.err
