"""`callboard decision FOLDER`: started by an agent, never by a person."""

import asyncio
from pathlib import Path

import click

from callboard.harness.folders import Attempt
from callboard.harness.submit_decision import serve_decision


@click.command("decision", hidden=True)
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
def command(folder: Path) -> None:
    """Offer the tool `submit_decision` to the agent of a session."""
    asyncio.run(serve_decision(Attempt(folder)))
