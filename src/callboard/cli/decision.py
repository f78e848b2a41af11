"""`callboard decision FOLDER`: started by an agent, never by a person."""

import asyncio
from pathlib import Path

import click

from callboard.harness.deciding import serve_decision
from callboard.harness.folders import Attempt


@click.command("decision", hidden=True)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def command(folder: Path) -> None:
    """Offer the tool `submit_decision` to the agent of a session."""
    asyncio.run(serve_decision(Attempt(folder)))
