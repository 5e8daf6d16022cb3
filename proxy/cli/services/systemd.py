"""A service and a socket of systemd's user instance.

The socket is systemd's own: who connects while the server starts, or is started again, waits and is not refused.
"""

from __future__ import annotations

from pathlib import Path

from proxy.cli.services.installation import TITLE, Installation, ServiceState, ServiceTarget

SERVICE, SOCKET = "palimpsest.service", "palimpsest.socket"

_CTL = ("systemctl", "--user")


def installation(served: ServiceTarget, folder: Path) -> Installation:
    """What installs it in systemd's ``folder`` of a user's units."""
    place = listened(served)
    names = (SERVICE,) if place is None else (SOCKET, SERVICE)
    files = {folder / SERVICE: service(served, place)}
    if place is not None:
        files[folder / SOCKET] = socket(place)
    return Installation(
        manager="systemd",
        files=files,
        there=(*_CTL, "show-environment"),
        install=((*_CTL, "enable", "--now", *names),),
        # What failed again and again is not started by systemd any more, until that is forgotten.
        start=((*_CTL, "reset-failed", "palimpsest.*"), (*_CTL, "start", *names)),
        stop=((*_CTL, "stop", *names),),
        uninstall=((*_CTL, "disable", "--now", *names),),
        reload=((*_CTL, "daemon-reload"),),
        ask=(*_CTL, "show", "--property=LoadState,ActiveState,MainPID", SERVICE),
        read=state,
        end_seconds=served.end_seconds,
        notes=("It ends when you log out; `loginctl enable-linger` lets it run from the machine's start on.",),
    )


def service(served: ServiceTarget, place: str | None) -> str:
    """The unit that runs the server."""
    socket = f"\nRequires={SOCKET}\nAfter={SOCKET}" if place is not None else ""
    also = f"\nAlso={SOCKET}" if place is not None else ""
    return f"""\
[Unit]
Description={TITLE}
Documentation=https://pypi.org/project/palimpsest-proxy/{socket}
StartLimitIntervalSec=60
StartLimitBurst=10

[Service]
Type=exec
ExecStart={" ".join(map(word, served.command(listens=place is None)))}
Restart=on-failure
RestartSec=1
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec={served.end_seconds}
StandardOutput=null
NoNewPrivileges=yes

[Install]
WantedBy=default.target{also}
"""


def socket(place: str) -> str:
    """The unit that listens at our address, also while no server runs."""
    return f"""\
[Unit]
Description={TITLE}: its address

[Socket]
ListenStream={place}
Backlog=1024

[Install]
WantedBy=sockets.target
"""


def listened(served: ServiceTarget) -> str | None:
    """The address as systemd writes it; None where it is none that it could listen on."""
    address = served.address
    if address is None:
        return None
    return f"[{address}]:{served.port}" if address.version == 6 else f"{address}:{served.port}"


def word(text: str) -> str:
    """An argument in a line of ``ExecStart``, whatever letters it has.

    Raises:
        ValueError: when no line can hold it.
    """
    if "\n" in text or "\r" in text:
        raise ValueError(f"{text!r} has a line break in it")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    plain = all(letter.isalnum() or letter in "/_.,:=@+-%$" for letter in text) and text
    return escaped if plain else f'"{escaped}"'


def state(text: str) -> ServiceState:
    """How the service stands, by what ``systemctl show`` tells."""
    properties = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    process = properties.get("MainPID", "0")
    known = properties.get("LoadState") not in (None, "not-found")
    return ServiceState(properties.get("ActiveState", "unknown"), int(process) if process.isdigit() else 0, known)
