"""``palimpsest conformance``: what a transparent proxy must do, tried on any proxy."""

from __future__ import annotations

import asyncio
import sys
from typing import Annotated

import typer

from proxy.cli import output
from proxy.cli.faults import CommandError
from proxy.cli.options import Json


def conformance(
    base_url: Annotated[str, typer.Option("--base-url", help="Where the proxy listens: http://127.0.0.1:8484")] = "",
    upstream_port: Annotated[
        int, typer.Option("--upstream-port", min=0, max=65535, help="Where it forwards to: a port of this machine.")
    ] = 0,
    model: Annotated[str, typer.Option(help="The model that is asked for.")] = "conformance",
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", help="One more for every request: 'Name: value'.")
    ] = None,
    memory_header: Annotated[
        list[str] | None,
        typer.Option(help="One more where a memory is taught and asked: 'x-palimpsest-project: conformance'."),
    ] = None,
    format: Annotated[
        list[str] | None, typer.Option("--format", "-f", help="chat, responses, messages, gemini or ollama; all.")
    ] = None,
    case: Annotated[list[str] | None, typer.Option("--case", "-c", help="Its id, or the beginning of some.")] = None,
    large: Annotated[int, typer.Option("--large-mib", min=1, max=512, help="MiB of the largest body.")] = 64,
    only_list: Annotated[bool, typer.Option("--list", help="List the cases, each with its reason and source.")] = False,
    as_json: Json = False,
) -> None:
    """Try on any proxy of model APIs what a transparent one must do; the exit code is 1 where a case fails.

    Start the proxy with http://127.0.0.1:PORT as its provider, and give that port as --upstream-port."""
    # Only here: it brings a server and a client along.
    from proxy.conformance.case import ALL, CASES, Result
    from proxy.conformance.run import CaseRun, RunRequest, as_markdown, run, summary
    from proxy.conformance.run import as_json as told

    if only_list:
        for each in CASES.values():
            print(f"{each.id} ({', '.join(each.formats)})\n    {each.says}\n    why: {each.why}\n    {each.source}")
        return
    if not base_url or not upstream_port:
        raise CommandError("needs --base-url and --upstream-port: where the proxy listens, and where it forwards to")
    if unknown := set(format or ()) - set(ALL):
        raise CommandError(f"there is no format {sorted(unknown)[0]!r}; there are {', '.join(ALL)}")
    request = RunRequest(
        base_url,
        upstream_port,
        model,
        _headers(header),
        tuple(format or ()),
        tuple(case or ()),
        large * 2**20,
        _headers(memory_header),
    )

    async def all_of_them() -> list[CaseRun]:
        done = []
        async for each in run(request):
            done.append(each)
            if not as_json:
                print(f"{each.result.value:8}{each.case.id:22}{each.format:10}{each.said}", file=sys.stderr, flush=True)
        return done

    try:
        ran = asyncio.run(all_of_them())
    except OSError as error:
        raise CommandError(f"nobody can listen on port {upstream_port}: {error.strerror or error}") from error
    if not ran:
        raise CommandError("no case is called so; palimpsest conformance --list lists them")
    if as_json:
        output.as_json(told(ran))
    else:
        print(as_markdown(ran))
        print(summary(ran))
    raise typer.Exit(int(any(each.result is Result.FAILED for each in ran)))


def _headers(given: list[str] | None) -> dict[str, str]:
    pairs = [each.partition(":") for each in given or ()]
    return {name.strip(): value.strip() for name, _, value in pairs}
