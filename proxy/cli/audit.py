"""``palimpsest audit``: who asked what of memory."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes


@takes()
def audit(
    call: Call,
    who: Annotated[str | None, typer.Option("--who", help="Only of this token; `owner` is the data folder's.")] = None,
    what: Annotated[str | None, typer.Option("--what", help="Only of endpoints with this: forget, export, …")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 50,
) -> None:
    """Show who read, approved, exported and forgot, the newest first: no texts, and it is only ever added to."""
    response = call.ask("GET", "api/audit", {"who": who, "what": what, "limit": limit})
    if call.as_json:
        output.as_json(response)
        return
    for each in response["audit"]:
        at = datetime.fromisoformat(each["at"]).astimezone()
        whose = f" of {each['user']}" if each["user"] else ""
        about = f" {each['memory']}" if each["memory"] else ""
        print(f"{at:%Y-%m-%d %H:%M:%S}  {each['who']}{whose}: {each['what']}{about} ({each['status']})")
    if not response["audit"]:
        print("nothing was asked yet")
