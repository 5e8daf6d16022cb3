"""Sessions that have grown beyond their window: told on a terminal, and taken along as a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from proxy.cli import output
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError

SHOWN = 5
"""Sessions that a warning names."""


@takes("user")
def export_session(
    call: Call,
    session: Annotated[str, typer.Argument(help="The beginning of its id, or its runtime's own id.", metavar="ID")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The file to write; else it is printed.")] = None,
) -> None:
    """Write a session as it was last forwarded: its messages as JSON, with what was shed in short."""
    response = call.ask("GET", f"api/sessions/{session}")
    text = json.dumps(response, ensure_ascii=False, indent=2) + "\n"
    if out is None:
        print(json.dumps(response, ensure_ascii=False) if call.as_json else text, end="\n" if call.as_json else "")
        return
    try:
        with out.open("x", encoding="utf-8") as file:
            out.chmod(0o600)
            file.write(text)
    except FileExistsError:
        raise CommandError(f"{out} is there already") from None
    except OSError as error:
        raise CommandError(f"{out} cannot be written: {error.strerror}") from error
    if call.as_json:
        output.as_json({key: value for key, value in response.items() if key not in ("messages", "reply")})
        return
    print(f"written: {out}, {len(response['messages'])} messages and the reply to them")
    for line in _missing_from_file(response):
        print(f"- {line}")
    print(response["note"], file=sys.stderr)


def line(each: dict[str, Any]) -> str:
    """A session in a line: what is forwarded, of how much, and what its model reads."""
    window, tokens = each["window"], each["tokens"]
    segment = f", segment {each['segment'] + 1}" if each["segment"] else ""
    where = f", {each['project']}" if each["project"] else ""
    return (
        f"{each['id'][: output.SHORT]} {each['runtime']}, {each['model']}: {tokens:,} of {window:,} tokens "
        f"({tokens / window:.0%}), the client's own history has {each['own']:,}{segment}{where}"
    )


def warnings(too_large: list[dict[str, Any]]) -> list[str]:
    """What is to be known before sessions that are larger than their window are left to their runtime alone."""
    if not too_large:
        return []
    count = len(too_large)
    which = "1 session has" if count == 1 else f"{count} sessions have"
    more = [f"  … and {count - SHOWN} more"] if count > SHOWN else []
    return [
        f"{which} a history that is larger than the model reads at once. It fits because its older parts are shed on "
        "the way; without that the next request is refused, or the runtime compacts it:",
        *(f"  {line(each)}" for each in too_large[:SHOWN]),
        *more,
        "  `palimpsest export-session ID --out FILE` writes one as it was last forwarded.",
    ]


def _missing_from_file(data: dict[str, Any]) -> list[str]:
    left = [
        (data["left"], "messages were left out by a new segment; its note stands at the head"),
        (data["shortened"], "contents stand there in short; `palimpsest show HANDLE` has the whole"),
        (data["redacted"], "messages had a secret, which was never stored"),
        (data["forgotten"], "messages were forgotten"),
    ]
    return [f"{count} {what}" for count, what in left if count]
