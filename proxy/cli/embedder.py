"""Commands about what turns texts into vectors: show, use."""

from __future__ import annotations

import typer

from proxy.cli import operations

embedder = typer.Typer(help="What turns texts into vectors.", no_args_is_help=True, rich_markup_mode=None)
embedder.command("show")(operations.embedder)
embedder.command("use")(operations.use)
