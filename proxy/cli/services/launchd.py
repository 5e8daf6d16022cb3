"""An agent of launchd, which starts the server at login and again when it dies.

The socket is launchd's own: who connects while the server starts, or is started again, waits and is not refused.
"""

from __future__ import annotations

import plistlib
import re
from pathlib import Path
from typing import Any

from proxy.cli.services.installation import Installation, ServiceState, ServiceTarget

LABEL = "dev.palimpsest.proxy"

SOCKET = "Listeners"
"""The name by which the server asks launchd for its sockets."""


def installation(served: ServiceTarget, folder: Path, user: int) -> Installation:
    """What installs it in launchd's ``folder`` of a user's agents."""
    file = folder / f"{LABEL}.plist"
    domain = f"gui/{user}"
    service = f"{domain}/{LABEL}"
    load = ("launchctl", "bootstrap", domain, str(file))
    unload = ("launchctl", "bootout", service)
    return Installation(
        manager="launchd",
        files={file: agent(served)},
        there=("launchctl", "print", domain),
        install=(("launchctl", "enable", service), load),
        start=(load,),
        stop=(unload,),
        uninstall=(unload,),
        reload=(),
        ask=("launchctl", "print", service),
        read=state,
        end_seconds=served.end_seconds,
        unloads=True,
    )


def agent(served: ServiceTarget) -> str:
    """The agent's property list."""
    address = served.address
    handed = [] if address is None else ["--launchd", SOCKET]
    fields: dict[str, Any] = {
        "Label": LABEL,
        "ProgramArguments": [*served.command(listens=address is None), *handed],
        "RunAtLoad": True,
        # A server that was told to stop stays so; one that failed or was killed comes back.
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 2,
        "ExitTimeOut": served.end_seconds,
        "ProcessType": "Interactive",
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": str(served.log),
    }
    if address is not None:
        family = f"IPv{address.version}"
        place = {"SockNodeName": str(address), "SockServiceName": str(served.port), "SockFamily": family}
        fields["Sockets"] = {SOCKET: place}
    return plistlib.dumps(fields, sort_keys=False).decode()


def state(text: str) -> ServiceState:
    """How the agent stands, by what ``launchctl print`` tells; nothing is told of one that is not loaded."""
    word = re.search(r"^\s*state = (.+?)\s*$", text, re.MULTILINE)
    process = re.search(r"^\s*pid = (\d+)\s*$", text, re.MULTILINE)
    if word is None:
        return ServiceState("not loaded", known=False)
    # By the signal that it was sent: SIGTERMed, SIGKILLed.
    return ServiceState(word[1], int(process[1]) if process else 0, ending=word[1].startswith("SIG"))
