"""Show what a handle in a stub stands for."""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from typing import Annotated

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes

_HANDLE = re.compile(r"(#|p:)?[0-9a-f]{8,32}\.\d+", re.IGNORECASE)


class InTier(StrEnum):
    """One line, an overview, or the whole."""

    L0 = "L0"
    L1 = "L1"
    L2 = "L2"


def is_handle(text: str) -> bool:
    """Whether a text names a content, and not a fact: digits, a dot and a number."""
    return _HANDLE.fullmatch(text.strip()) is not None


@takes("user")
def show(
    call: Call,
    handle: Annotated[str, typer.Argument(help="As it stands in a stub, such as 0a1b2c3d4e5f.0.", metavar="HANDLE")],
    tier: Annotated[InTier, typer.Option(help="One line, an overview, or the whole.", case_sensitive=False)] = (
        InTier.L2
    ),
) -> None:
    """Print what was left out of a request, by the handle in its stub."""
    response = call.ask("GET", f"api/content/{handle}", {"tier": tier.value})
    if call.as_json:
        output.as_json(response)
        return
    # The text alone, as it is, so that it can go into a file or another program; about it is said beside.
    text = response["text"]
    sys.stdout.write(text if text.endswith("\n") or not sys.stdout.isatty() else text + "\n")
    if response["redacted"]:
        print("a secret was taken out of this message before it was stored", file=sys.stderr)
    if response["tier"] != tier.value:
        print(f"there is no {tier.value} of it; this is {response['tier']}", file=sys.stderr)
