"""The log of a server that nobody looks after: files that are begun anew, real ones with small limits."""

from __future__ import annotations

import logging
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import pytest

from proxy.cli.log_format import FILE_BYTES, handler
from tests.fake_provider import fake_provider
from tests.proxy.cli.running import serving

BYTES, FILES = 2000, 2
OLDER = "an older line\n"
BEFORE = OLDER * (FILE_BYTES // len(OLDER))


@contextmanager
def logger(file: Path) -> Iterator[logging.Logger]:
    """Logs into a file, as a server does from its start to its end."""
    kept = handler(file, BYTES, FILES)
    made = logging.Logger("n")
    made.addHandler(kept)
    try:
        yield made
    finally:
        kept.close()


def test_the_log_is_begun_anew_and_no_line_of_what_is_kept_is_lost_or_torn(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "server.log"
    for start in range(0, 400, 100):  # four servers, one after the other
        with logger(file) as log:
            for number in range(start, start + 100):
                log.info("line %04d é", number)
    files = [file.with_name("server.log.2"), file.with_name("server.log.1"), file]
    assert sorted(file.parent.iterdir()) == sorted(files)
    assert all(0 < each.stat().st_size <= BYTES for each in files)
    numbers = [int(line.split()[-2]) for each in files for line in each.read_text("utf-8").splitlines()]
    assert numbers == list(range(numbers[0], 400)) and len(numbers) > 2 * BYTES // 50
    assert {stat.S_IMODE(each.stat().st_mode) for each in files} == {0o600}


def test_what_a_program_dies_of_stands_in_the_log_also_after_that_was_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "server.log"
    dies = (
        "import logging, sys; from pathlib import Path; from proxy.cli.log_format import handler\n"
        f"logging.basicConfig(level='INFO', handlers=[handler(Path(sys.argv[1]), {BYTES}, {FILES})])\n"
        "for number in range(200): logging.info('line %d', number)\n"
        "raise SystemExit('what it died of')"
    )
    with file.open("a") as complaints:
        done = subprocess.run([sys.executable, "-c", dies, str(file)], stderr=complaints, check=False)
    assert done.returncode == 1 and file.read_text().endswith("line 199\nwhat it died of\n")
    with (tmp_path / "elsewhere").open("a") as complaints:
        subprocess.run([sys.executable, "-c", dies, str(file)], stderr=complaints, check=False)
    assert (tmp_path / "elsewhere").read_text() == "what it died of\n"


def read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


@pytest.fixture
def grown(home: Path) -> Path:
    """A server's log at its limit."""
    home.mkdir(mode=0o700)
    file = home / "server.log"
    file.write_text(BEFORE)
    return file


async def test_a_server_begins_a_log_anew_that_has_grown_to_its_limit(home: Path, grown: Path) -> None:
    async with fake_provider() as provider:
        arguments = ("--home", str(home), "--upstream", provider.url, "--log-file", str(grown))
        async with serving(*arguments) as started, aiohttp.ClientSession() as client:
            # Of a model whose window nobody knows that is said.
            body = {"model": "m", "messages": [{"role": "user", "content": "Hello."}]}
            async with client.post(f"{started.url}/v1/chat/completions", json=body) as reply:
                await reply.read()
            code, complained = await started.stop()
    assert code == 0 and complained.strip() == "stopping"
    kept, anew = read(grown.with_name("server.log.1")), read(grown)
    assert kept == BEFORE and "WARNING" in anew and OLDER not in anew
