"""Commands that look and change nothing: status, log, config, version, and what a handle in a stub stands for."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from proxy.cli import output, sessions, shed_report, wording
from proxy.cli.call import Call, takes
from proxy.cli.faults import CommandError
from proxy.cli.options import Json
from proxy.cli.server_access import NoMemoryYetError

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


@takes()
def status(
    call: Call,
    days: Annotated[int, typer.Option("--days", min=1, max=1000, help="Sum up so many days, today included.")] = 30,
) -> None:
    """Say whether the server runs, how much is stored, what memory did and saved, and what is wrong.

    The exit code is 0 where all is well, 1 where something is not, 2 where no server runs."""
    server = call.running()
    try:
        response = call.ask("GET", "api/status", {"days": days})
    except NoMemoryYetError as error:
        raise CommandError(f"no server runs, and {error}", 2) from None
    response["running"] = server is not None
    response["url"] = server.url if server else None
    if call.as_json:
        output.as_json(response)
    else:
        _standing(response)
    raise typer.Exit(2 if server is None else int(response["status"] != "ok"))


def _standing(data: dict[str, Any]) -> None:
    console = output.screen()
    runs = f"runs at {data['url']} (process {data['pid']})"
    console.print(runs if data["running"] else "no server runs; the stores were opened here")
    rows: list[tuple[str, Any]] = [("status", data["status"]), ("memory", data["memory"]), ("data", data["home"])]
    if stored := data.get("stored"):
        rows += [("memories", f"{stored['facts'] + stored['passages']:,}")]
        rows += [(name, stored[name]) for name in ("facts", "passages", "messages", "exchanges", "sessions")]
        if stored["candidates"]:
            rows += [("wait for you", f"{wording.count(stored['candidates'], 'candidate')}: palimpsest candidates")]
        if stored["drafts"]:
            rows += [("wait for you", f"{wording.count(stored['drafts'], 'draft')}: palimpsest review")]
        for each in data.get("asked", ()):
            rows += [("wait for you", f"{each['text']}: {each['command']}")]
        rows += [("learning behind", stored["behind"]), ("index behind", data["waiting"])]
        rows += [("embedder", f"{data['embedder']['name']}, {data['embedder']['dimensions']} dimensions")]
        if data["kept"] or data["lost"] or data["broken"]:
            rows += [("kept for the journal", data["kept"]), ("lost", data["lost"]), ("not taken back", data["broken"])]
    if progress := data.get("reindexing"):
        if progress["fault"]:
            rows.append(("new index given up", progress["fault"]))
        elif not progress["finished"]:
            rows.append(("index being filled", f"{progress['done']} of {progress['total']} ({progress['embedder']})"))
    rows += [
        ("being shed" if not place else "", sessions.line(each)) for place, each in enumerate(data.get("shed", ()))
    ]
    output.pairs(rows)
    if (sums := data.get("sums")) and sums["requests"]:
        console.print(f"\n{'today' if sums['days'] == 1 else 'in the last {} days'.format(sums['days'])}")
        output.pairs(_sums(sums))
    for why in data["why"]:
        console.print(f"! {why}")


def _sums(sums: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What memory did to requests, and what that was worth."""
    yield "requests", f"{sums['requests']:,}"
    yield "added", f"{sums['added']:,} tokens, {wording.count(sums['shown'], 'memory')} recalled"
    if sums["shorter"]:
        yield "not sent", f"{sums['shorter']:,} tokens, by {wording.count(sums['sheds'], 'shed')}"
    if sums["cache"] is not None:
        yield "from the cache", f"{sums['cache']:.0%} of {sums['input']:,} tokens, as the providers report them"
    if (net := sums["net"]) is not None:
        shows = round(net, 4)
        sum_ = f"about {shed_report.money(abs(net))}" if shows else "nothing that would show"
        yield ("saved" if shows >= 0 else "spent"), f"{sum_}, an estimate:"
        yield "", f"{shed_report.money(sums['saved'])} not spent on what was left out"
        yield "", f"{shed_report.money(sums['spent'])} spent on additions"
        if sums["lost"]:
            yield "", f"{shed_report.money(sums['lost'])} lost by cache breaks"
        if sums["priced"] < sums["requests"]:
            yield "", f"of the {sums['priced']:,} requests whose tokens and prices are known"
    yield "degraded", f"{sums['degraded']:,}"


@takes("user")
def log(
    call: Call,
    id: Annotated[str | None, typer.Argument(help="A receipt's id, or the beginning of it.", metavar="[ID]")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000)] = 20,
) -> None:
    """What was added to requests and left out of them; with an ID (from x-palimpsest-receipt) what, and why."""
    response = call.ask("GET", f"api/log/{id}" if id else "api/log", None if id else {"limit": limit})
    if call.as_json:
        output.as_json(response)
    elif id:
        output.receipt(response)
    else:
        _lines(response["receipts"])


def _lines(receipts: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    console = output.screen()
    if not receipts:
        console.print("no request has come through yet")
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("id", "when", "kind", "model", "ms"):
        table.add_column(
            name, no_wrap=name != "model", overflow="ellipsis", justify="right" if name == "ms" else "left"
        )
    table.add_column("what was done", overflow="fold", ratio=1)
    for each in receipts:
        cells = (each["id"][: output.SHORT], output.moment(each["at"]), each["kind"], each["model"])
        done = Text("; ".join(filter(None, (each["status"], _added(each), shed_report.short(each)))))
        table.add_row(*map(Text, cells), Text(f"{each['milliseconds']:.0f}"), done)
    console.print(table)


def _added(data: dict[str, Any]) -> str:
    """What was added to a request, in a few words; empty where nothing was."""
    tokens = data["page_tokens"] + data["recall_tokens"]
    return f"{tokens} tokens added" if tokens else ""


@takes()
def config(call: Call) -> None:
    """Print every setting in force and where it comes from."""
    server = call.running()
    if server is not None:
        rows = server.ask("GET", "api/config")["settings"]
    else:
        rows = [{"key": key, "value": value, "source": source} for key, value, source in call.loaded().rows()]
    if call.as_json:
        output.as_json({"settings": rows, "running": server is not None})
        return
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="dim")
    for name in ("key", "value", "from"):
        table.add_column(name, overflow="fold")
    for row in rows:
        style = "dim" if row["source"] == "default" else ""
        cells = (row["key"], output.plain(row["value"]) or "-", row["source"])
        table.add_row(*(Text(cell, style) for cell in cells))
    output.screen().print(table)


def version(as_json: Json = False) -> None:
    """Print the version."""
    from memory.version import release

    if as_json:
        output.as_json({"version": release()})
    else:
        print(release())


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
        print("nothing that was asked is like that" if who or what else "nothing was asked yet")
