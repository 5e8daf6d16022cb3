"""Every command by its name."""

from __future__ import annotations

import typer

from proxy.cli.candidates import approve, candidates, defer, promote, reject
from proxy.cli.connecting import connect
from proxy.cli.contents import show
from proxy.cli.demo import demo
from proxy.cli.doctor import doctor
from proxy.cli.exporting import export
from proxy.cli.extracting import extract
from proxy.cli.habits import habits
from proxy.cli.importing import import_
from proxy.cli.lives import history
from proxy.cli.looking import config, log, status, version
from proxy.cli.mcp import mcp
from proxy.cli.memories import fact, facts, forget, pin, remember, search
from proxy.cli.nights import consolidate, night, nights
from proxy.cli.page import page
from proxy.cli.research import research
from proxy.cli.revising import confirm, update
from proxy.cli.serving import serve
from proxy.cli.sessions import export_session
from proxy.cli.switching import embedder as show_embedder
from proxy.cli.switching import pause, reindex, resume, use

app = typer.Typer(
    help="A reverse proxy between an agent runtime and the model that gives the agent a memory.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="--debug, anywhere, shows where something went wrong.",
)

for command in (
    serve,
    connect,
    demo,
    doctor,
    status,
    search,
    facts,
    fact,
    history,
    remember,
    pin,
    confirm,
    update,
    forget,
    page,
    export,
    export_session,
    import_,
    consolidate,
    nights,
    night,
    candidates,
    approve,
    reject,
    defer,
    promote,
    habits,
    log,
    show,
    pause,
    resume,
    config,
    reindex,
    extract,
    mcp,
    version,
):
    # A whole sentence each, wrapped: without it, what does not fit one line ends in dots.
    told = " ".join((command.__doc__ or "").partition("\n\n")[0].split())
    app.command(command.__name__.rstrip("_").replace("_", "-"), short_help=told)(command)

embedder = typer.Typer(help="What turns texts into vectors.", no_args_is_help=True, rich_markup_mode=None)
embedder.command("show")(show_embedder)
embedder.command("use")(use)
app.add_typer(embedder, name="embedder")
app.add_typer(research, name="research", short_help=str(research.info.help))
