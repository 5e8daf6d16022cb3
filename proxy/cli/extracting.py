"""``palimpsest extract``: what the rules would learn from conversations, a line each, for measuring and scripts."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated

import typer

from proxy.cli.faults import CommandError


def extract(
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON object a line; the only format there is.")] = False,
    assistant: Annotated[bool, typer.Option("--assistant", help="Read the assistant's words too.")] = False,
    at: Annotated[str | None, typer.Option("--at", help="When it was said (ISO 8601).", show_default="now")] = None,
) -> None:
    """Read {"id", "messages"} from standard input and print {"id", "facts"}; nothing is stored."""
    from memory.learning.offline import extract_jsonl

    if not jsonl:
        raise CommandError("say --jsonl: one conversation a line", 2)
    try:
        when = (datetime.fromisoformat(at) if at else datetime.now()).astimezone()
    except ValueError:
        raise CommandError(f"--at {at!r} is no time: write it like 2026-03-04T15:30", 2) from None
    try:
        for line in extract_jsonl(sys.stdin, when, assistant=assistant):
            sys.stdout.write(line + "\n")
    except ValueError as error:
        raise CommandError(str(error)) from error
    sys.stdout.flush()
