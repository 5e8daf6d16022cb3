"""Debian's Chromium comes by an ``apt-get`` of our own; nothing is fetched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e import __main__ as e2e
from tests.e2e import chromium

APT = """\
#!/bin/sh
echo "$@" >> {told}
case "$*" in
    *update*) {update};;
    *--no-download*) printf '#!/bin/sh\\n' > {folder}/chromium; /bin/chmod +x {folder}/chromium;;
esac
"""


def apt(folder: Path, update: str = ":") -> None:
    (folder / "apt-get").write_text(APT.format(told=folder / "told", folder=folder, update=update))
    (folder / "apt-get").chmod(0o755)


@pytest.fixture
def bin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_it_is_installed_once_and_only_where_we_may(bin: Path) -> None:
    assert "as root" in chromium.install(root=True)
    apt(bin)
    assert "as root" in chromium.install(root=False) and not (bin / "told").exists()
    assert chromium.install(root=True) == "" and chromium.program() == str(bin / "chromium")
    told = (bin / "told").read_text().splitlines()
    assert [("--download-only" in line, "--no-download" in line) for line in told] == [
        (False, False),
        (True, False),
        (False, True),
    ]
    assert chromium.install(root=True) == "" and len((bin / "told").read_text().splitlines()) == 3


def test_what_takes_too_long_or_fails_is_told_and_nothing_is_installed(bin: Path) -> None:
    apt(bin, update="echo no such host >&2; exit 100")
    assert chromium.install(root=True) == "apt-get: no such host"
    apt(bin, update=f"exec {os.path.realpath('/bin/cat')} {bin / 'waits'}")
    os.mkfifo(bin / "waits")
    assert chromium.install(root=True, seconds=0.2) == "apt-get has not fetched it in 0 s"
    assert chromium.program() is None


def test_a_run_without_a_browser_says_so_in_its_head_and_at_its_end(
    bin: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(e2e, "isolation", lambda: None)
    assert e2e.main([]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith(chromium.LEFT_OUT) and told[-2].startswith(chromium.LEFT_OUT)
    assert told[-1] == "0 passed, 0 failed"
    e2e.main(["claude"])
    assert chromium.LEFT_OUT not in capsys.readouterr().out
