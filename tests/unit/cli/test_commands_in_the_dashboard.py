"""Every command that the dashboard tells people to run is one that there is."""

import re
from pathlib import Path

import click

from callboard.cli.main import group

SOURCE = Path(__file__).parents[3] / "web" / "src"
COMMAND = re.compile(r"""[`'">]callboard ([a-z][^`'"<\n]*)""")


def commands() -> list[tuple[str, list[str]]]:
    """Where a command is named, and its words."""
    return [
        (f"{file.relative_to(SOURCE)}: callboard {found}", found.split())
        for file in sorted(SOURCE.rglob("*.ts*"))
        for found in COMMAND.findall(file.read_text(encoding="utf-8"))
    ]


def wrong(words: list[str]) -> str | None:
    """What the command line would not know."""
    command: click.Command = group
    context = click.Context(group, info_name="callboard")
    for word in words:
        if word.startswith("--"):
            known = {name for one in command.get_params(context) for name in one.opts}
            if word.partition("=")[0] not in known:
                return word
        elif isinstance(command, click.Group):
            inner = command.get_command(context, word)
            if inner is None:
                return word
            command, context = inner, click.Context(inner, info_name=word, parent=context)
    return None


def test_the_dashboard_names_commands_that_exist():
    found = commands()
    assert len(found) > 5
    assert {where: word for where, words in found if (word := wrong(words))} == {}
