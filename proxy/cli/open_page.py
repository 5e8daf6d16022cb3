"""``palimpsest open``: the web page of the running server, in this machine's browser."""

from __future__ import annotations

import contextlib
import socket
import sys
import webbrowser
from typing import Annotated
from urllib.parse import urlsplit

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.server import running

NAME = "palimpsest.localhost"
"""What the page is called by: a name of its own, so that no other server of this machine is sent its cookie."""

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@takes()
def open(
    call: Call,
    only_print: Annotated[bool, typer.Option("--print", help="Print the address; open no browser.")] = False,
    plain: Annotated[
        bool, typer.Option("--plain", help=f"Use 127.0.0.1, where the browser does not know {NAME}.")
    ] = False,
) -> None:
    """Open the web page: what is remembered, what was added and why, and what waits for you.

    The address lets one browser in, once and within a minute."""
    settings = call.loaded().settings
    server = running(settings.home)
    if server is None:
        raise CommandError("no server runs: start it with `palimpsest serve`, or `palimpsest service install`", 2)
    response = server.ask("POST", "api/tickets", body={})
    url = _named(server.url, plain) + str(response["path"])
    opened = False
    if not (only_print or call.as_json):
        with contextlib.suppress(webbrowser.Error, OSError):
            opened = webbrowser.open(url)
    if call.as_json:
        output.as_json({"url": url, "seconds": response["seconds"]})
    elif opened:
        print("opened in your browser")
    else:
        if not only_print:
            print("no browser could be started here; open this address yourself, within a minute:", file=sys.stderr)
        print(url)


def _named(url: str, plain: bool) -> str:
    """The server's address under the name of the page, where it is this machine's own and the name is known."""
    place = urlsplit(url)
    if plain or place.hostname not in LOOPBACK or not _is_known():
        return url
    return f"{place.scheme}://{NAME}:{place.port}"


def _is_known() -> bool:
    """Whether browsers resolve the name. Those on Linux and Windows do so by themselves; Safari asks the system."""
    if sys.platform != "darwin":
        return True
    try:
        return bool(socket.getaddrinfo(NAME, None))
    except OSError:
        return False
