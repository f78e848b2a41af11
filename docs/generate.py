"""Generate reference pages and TypeScript types from the code: `python docs/generate.py`.

The command reference comes from the commands. The event reference and the TypeScript types of the
React package come from the shapes and payloads, so they can't differ from the code.
"""

import ast
import inspect
import re
from itertools import pairwise
from pathlib import Path

import click
from fastapi import FastAPI
from pydantic.json_schema import models_json_schema

from callboard.cli.main import SECTIONS, group
from callboard.events import messages as message_names
from callboard.events import names
from callboard.events import plates as plate_names
from callboard.events.event_name import payload_types
from callboard.events.payloads import agents, messages, people, plates, usage, workflow
from callboard.server.application import ROUTERS
from callboard.server.openapi import document, model_of

TARGET = Path(__file__).parent / "reference" / "cli.md"
EVENTS = TARGET.with_name("events.md")
REACT = Path(__file__).parent.parent / "clients" / "react" / "src" / "client"

INTRODUCTION = """\
# Command line

<!-- Written by docs/generate.py; change the commands, not this page. -->

`callboard COMMAND --help` shows the same text in the terminal. For exit codes, see
[Statuses and exit codes](statuses.md#exit-codes).

Every command finds its database or server by the same rule. The first of these that applies
counts:

1. `--db` or `--server`, before or after the command. Give one of them, not both.
2. The environment variable `CALLBOARD_SERVER`, or else `CALLBOARD_DB`.
3. Your running server, if there is exactly one. The command says so on standard error.
4. `callboard.db` in your user data directory, which is `~/.local/share/callboard` by default.

Commands that need a server, such as `open` and `board`, use the one that is running on the
database. All others work on the database itself, whether or not a server is running, unless you
name a [server](../how-to/work-against-a-server.md) by its address. `serve`, `hooks`, `service`,
`backup`, `migrate`, `prune`, `rebuild` and `watch` never guess: they skip step 3.
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


def events_reference(page: str) -> str:
    """The page `reference/events.md`: the row of each session event says what its type says."""
    for name, payload in (payload_types(names) | payload_types(message_names)).items():
        row = f"| `{name}` | {_keys(payload)} | {_when(payload)} |"
        page = re.sub(rf"^\| `{name}` \|.*$", lambda _, row=row: row, page, flags=re.MULTILINE)
    return page


def _keys(payload: type) -> str:
    required = payload.__required_keys__
    # Those that are always there come first.
    ordered = sorted(payload.__annotations__, key=lambda key: key not in required)
    return ", ".join(f"`{key}`" if key in required else f"`{key}?`" for key in ordered)


def _when(payload: type) -> str:
    told = _key_docs(payload.__name__)
    notes = [f"`{key}`: {told[key]}" for key in payload.__annotations__ if key in told]
    return _cell(" ".join([inspect.getdoc(payload) or "", *notes]))


def _key_docs(name: str) -> dict[str, str]:
    """What is written below the keys of a payload's type, and of those that it extends."""
    found: dict[str, str] = {}
    one = _CLASSES.get(name)
    for base in one.bases if one else ():
        found |= _key_docs(ast.unparse(base))
    body = one.body if one else []
    for key, text in pairwise(body):
        if isinstance(key, ast.AnnAssign) and isinstance(text, ast.Expr):
            found[ast.unparse(key.target)] = ast.literal_eval(text.value)
    return found


_CLASSES = {
    node.name: node
    for module in (workflow, agents, people, plates, messages, usage)
    for node in ast.parse(inspect.getsource(module)).body
    if isinstance(node, ast.ClassDef)
}


# ---------------------------------------------------------------------- TypeScript

_HEAD = "// Written by docs/generate.py from the classes of the server. Do not edit.\n"
_SCALARS = {"string": "string", "boolean": "boolean", "null": "null"} | dict.fromkeys(
    ("integer", "number"), "number"
)
# The framework's own, which the server's envelope takes the place of.
_LEFT_OUT = ("HTTPValidationError", "ValidationError")
# Only these are meant to have members that their types do not name.
_OPEN = ("Problem", "Background", "ProcessRequest", "ReportRequest")


def _wire_schemas() -> dict[str, dict]:
    app = FastAPI(title="Callboard", separate_input_output_schemas=False)
    routes = [route for router in ROUTERS for route in router.routes]
    schemas = document(app, routes)["components"]["schemas"]
    return {name: schemas[name] for name in sorted(schemas) if name not in _LEFT_OUT}


def wire_types() -> str:
    """The module `wire.ts`: what the routes take and give."""
    return "\n".join([_HEAD, *(_declared(*one) for one in _wire_schemas().items())])


def event_types() -> str:
    """The module `payloads.ts`: what each event carries, by its name."""
    of_plates = payload_types(plate_names) | payload_types(message_names)
    maps = {"EventPayloads": payload_types(names), "PlateEventPayloads": of_plates}
    payloads = [payload for told in maps.values() for payload in told.values()]
    models = [(model_of(payload), "validation") for payload in payloads]
    schemas = models_json_schema(models, ref_template="/{model}")[1]["$defs"]
    wire = sorted(schemas.keys() & _wire_schemas().keys())
    parts = [_HEAD, f"import type {{ {', '.join(wire)} }} from './wire.js'\n"]
    parts += [_declared(name, schemas[name]) for name in sorted(schemas) if name not in wire]
    for title, told in maps.items():
        members = "".join(f"  '{name}': {payload.__name__}\n" for name, payload in told.items())
        about = "/** The payload of each name that this version knows. */\n"
        parts.append(f"{about}export interface {title} {{\n{members}}}\n")
        listed = "".join(f"  '{name}',\n" for name in told)
        which = "eventNames" if title == "EventPayloads" else "plateEventNames"
        parts.append(
            "/** Every name that this version knows. */\n"
            f"export const {which}: ReadonlyArray<keyof {title}> = [\n{listed}]\n"
        )
    return "\n".join(parts)


def _declared(name: str, schema: dict) -> str:
    about = f"/** {' '.join(schema['description'].split())} */\n"
    if "oneOf" in schema:
        return f"{about}export type {name} =\n" + "".join(
            f"  | {_type(one)}\n" for one in schema["oneOf"]
        )
    required = schema.get("required", ())
    notes = _key_docs(name)
    lines: list[str] = []
    for key, value in schema.get("properties", {}).items():
        if note := notes.get(key) or value.get("description"):
            lines.append(f"  /** {' '.join(note.split())} */")
        lines.append(f"  readonly {key}{'' if key in required else '?'}: {_type(value)}")
    if name in _OPEN:
        lines.append("  readonly [further: string]: unknown")
    return f"{about}export interface {name} {{\n" + "\n".join(lines) + "\n}\n"


def _type(schema: dict) -> str:
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(map(_type, schema["anyOf"])))
    if "enum" in schema or "const" in schema:
        words = schema.get("enum", [schema.get("const")])
        return " | ".join(f"'{word}'" if isinstance(word, str) else "true" for word in words)
    if schema.get("type") == "array":
        return f"ReadonlyArray<{_type(schema.get('items', {}))}>"
    if schema.get("type") == "object":
        more = schema.get("additionalProperties")
        value = _type(more) if isinstance(more, dict) else "unknown"
        return f"Readonly<Record<string, {value}>>"
    return _SCALARS.get(schema.get("type", ""), "unknown")


if __name__ == "__main__":
    EVENTS.write_text(events_reference(EVENTS.read_text(encoding="utf-8")), encoding="utf-8")
    TARGET.write_text(cli_reference(), encoding="utf-8")
    (REACT / "wire.ts").write_text(wire_types(), encoding="utf-8")
    (REACT / "payloads.ts").write_text(event_types(), encoding="utf-8")
