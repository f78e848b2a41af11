"""Writes what the documents take from the code: `python docs/generate.py`.

The command reference comes from the commands, so that it cannot say anything else than they do.
"""

from pathlib import Path

import click

from callboard.cli.main import SECTIONS, group

TARGET = Path(__file__).parent / "reference" / "cli.md"

INTRODUCTION = """\
# Command line

<!-- Written by docs/generate.py; change the commands, not this page. -->

`callboard COMMAND --help` says the same in the terminal. What the exit codes mean is on
[Statuses and exit codes](statuses.md#exit-codes).

Every command works on one database: the one that `--db` names, before or after the command,
else the one in the environment variable `CALLBOARD_DB`, else `callboard.db` in your user data
directory. Those with `--server` work on a [server](../how-to/work-against-a-server.md) as well:
the one that it names, else the one in `CALLBOARD_SERVER`. What is typed outranks the
environment; where only the environment speaks, the server outranks the database.
"""


def cli_reference() -> str:
    """The page `reference/cli.md`."""
    context = click.Context(group, info_name="callboard")
    parts = [INTRODUCTION, _options(group, context)]
    for title, commands in SECTIONS.items():
        parts.append(f"## {title}\n")
        for name in commands:
            command = group.get_command(context, name)
            assert command is not None
            own = click.Context(command, info_name=name, parent=context)
            parts.append(_section(command, own))
            for inner in command.commands.values() if isinstance(command, click.Group) else ():
                inside = click.Context(inner, info_name=inner.name, parent=own)
                parts.append(_section(inner, inside, f"{name} {inner.name}"))
    return "\n".join(parts)


def _section(command: click.Command, context: click.Context, name: str | None = None) -> str:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    about = click.Context.formatter_class(width=10_000)
    command.format_help_text(context, about)
    text = "\n".join(line.strip() for line in about.getvalue().strip().splitlines())
    return f"### {name or context.info_name}\n\n```text\n{usage}\n```\n\n{text}\n\n" + _options(
        command, context
    )


def _options(command: click.Command, context: click.Context) -> str:
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]
    records = [one.get_help_record(context) for one in options if "--help" not in one.opts]
    lines = [f"| `{_cell(record[0])}` | {_cell(record[1])} |" for record in records if record]
    return "\n".join(["| Option | |", "|---|---|", *lines, ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(cli_reference(), encoding="utf-8")
