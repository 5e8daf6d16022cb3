"""PgBouncer in transaction mode before a PostgreSQL server: each transaction may be another server process's."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.bench.processes import free_port

_SETTINGS = """
[databases]
* = host={host} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 200
server_login_retry = 1
user = {runs_as}
"""


@contextmanager
def pooled(program: str, url: str, folder: Path, runs_as: str) -> Iterator[str]:
    """Where the database at ``url`` is reached through PgBouncer.

    Raises:
        RuntimeError: when it does not start.
    """
    parts, port = urlsplit(url), free_port()
    file = folder / "pgbouncer.ini"
    settings = _SETTINGS.format(
        host=parse_qs(parts.query)["host"][0], user=parts.username, port=port, runs_as=runs_as or ""
    )
    file.write_text("\n".join(line for line in settings.splitlines() if line != "user = "), encoding="utf-8")
    with (folder / "pgbouncer.log").open("ab") as log:
        process = subprocess.Popen([program, str(file)], stdout=log, stderr=log)
    try:
        until = time.monotonic() + 10
        while not _listens(port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"PgBouncer does not start: {(folder / 'pgbouncer.log').read_text()[-500:]}")
            time.sleep(0.05)
        yield f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}"
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
