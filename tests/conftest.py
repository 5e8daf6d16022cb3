"""Laws are tried on the same examples in every run of the suite, on new ones by ``make fuzz``, and never timed."""

import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests import postgresql

MEMORY_FILES = Path("/dev/shm")
"""Where Linux keeps files in memory. Homes are opened by the thousand; on a disk each costs twice the time."""
ROOM = 4 * 2**30
"""What must be free there."""


def _in_memory() -> bool:
    """Whether tests can have their files there, programs that they write among them."""
    if "TMPDIR" in os.environ or not MEMORY_FILES.is_dir() or shutil.disk_usage(MEMORY_FILES).free < ROOM:
        return False
    return not os.statvfs(MEMORY_FILES).f_flag & os.ST_NOEXEC


if _in_memory():
    tempfile.tempdir = os.environ["TMPDIR"] = str(MEMORY_FILES)

# What Python has compiled is kept, whatever the shell says: else each process of the run, and each program that a test
# starts, compiles all of ours anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Fifteen examples, the same ones each time: `make fuzz` draws a hundred others.
settings.register_profile(
    "palimpsest", max_examples=15, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("fuzz", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("palimpsest")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What imports litellm comes first, so that of several processes only the first imports it."""
    items.sort(key=lambda item: "litellm" not in item.keywords)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the collector of garbage from ten thousand tests: while they are collected, and as they are there until the
    end, ever after."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_report_header() -> str:
    """Which PostgreSQL the tests use."""
    return postgresql.said()


def pytest_runtest_logfinish() -> None:
    """Let go of what a test has opened: aiohttp remembers the applications of the last 1,024 routes that were asked,
    and with each of them thirteen megabytes of ours. What a test's settings redact is of the process."""
    web_app = sys.modules.get("aiohttp.web_app")
    if web_app is not None:
        web_app._cached_build_middleware.cache_clear()
    redact = sys.modules.get("memory.learning.redact")
    if redact is not None:
        redact.also_redact(())
