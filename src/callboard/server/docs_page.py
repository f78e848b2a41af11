"""The page that documents the server, made from its OpenAPI document.

It is whole in itself: no script, nothing from elsewhere. What the document says is escaped,
and of Markdown only `code` and paragraphs are known.
"""

import re
import shlex
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from typing import Any, Final, NamedTuple

import orjson

from callboard.server.docs_schema import (
    Examples,
    Schema,
    limits_of,
    name_of,
    type_of,
    without_null,
)

STYLE: Final = "/docs/style.css"
"""Where the page's style is served: the policy of the server forbids it in the page itself."""

_METHODS = ("get", "post", "put", "patch", "delete")
_FIRST_ERROR = 400


class Operation(NamedTuple):
    """One thing that can be done: a method at an address."""

    method: str
    path: str
    told: Mapping[str, Any]

    @property
    def anchor(self) -> str:
        """Where on the page it stands."""
        return re.sub(r"[^a-z0-9]+", "-", f"{self.method}{self.path}".lower()).strip("-")

    @property
    def tag(self) -> str:
        """What it belongs to."""
        return (self.told.get("tags") or ["other"])[0]


def style() -> bytes:
    """The page's style."""
    return resources.files("callboard.server").joinpath("docs.css").read_bytes()


def page(document: Mapping[str, Any], address: str) -> str:
    """The whole page; `address` stands in the examples."""
    operations = [
        Operation(method, path, item[method])
        for path, item in document["paths"].items()
        for method in _METHODS
        if method in item
    ]
    schemas: Mapping[str, Schema] = document.get("components", {}).get("schemas", {})
    writer = _Writer(schemas, address)
    tags = list(dict.fromkeys(operation.tag for operation in operations))
    sections = "".join(
        f"<h2 id='{_id(tag)}'>{escape(tag.capitalize())}</h2>"
        + "".join(writer.operation(one) for one in operations if one.tag == tag)
        for tag in tags
    )
    title, version = escape(document["info"]["title"]), escape(document["info"]["version"])
    about = _prose(document["info"].get("description", ""))
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        "<meta name='color-scheme' content='light dark'>"
        f"<title>{title}: HTTP</title><link rel='stylesheet' href='{STYLE}'></head><body>"
        f"{_navigation(title, tags, operations)}"
        f"<main><header><h1>{title} <small>{version}</small></h1>{about}"
        "<p>For programs: <a href='/openapi.json'>openapi.json</a></p></header>"
        f"{sections}<h2 id='shapes'>Shapes</h2>"
        f"{''.join(writer.shape(name, schemas[name]) for name in schemas)}"
        "</main></body></html>"
    )


def _navigation(title: str, tags: Iterable[str], operations: Iterable[Operation]) -> str:
    listed = list(operations)
    parts = [
        f"<a class='tag' href='#{_id(tag)}'>{escape(tag.capitalize())}</a>"
        + "".join(
            f"<a href='#{one.anchor}'>{_method(one.method)}<span>{_path(one.path)}</span></a>"
            for one in listed
            if one.tag == tag
        )
        for tag in tags
    ]
    shapes = "<a class='tag' href='#shapes'>Shapes</a>"
    return f"<nav aria-label='{title}'>{''.join(parts)}{shapes}</nav>"


class _Writer:
    """Writes operations and shapes, with examples of them."""

    def __init__(self, schemas: Mapping[str, Schema], address: str) -> None:
        self._schemas = schemas
        self._address = address
        self._examples = Examples(schemas, whole=True)
        self._smallest = Examples(schemas)

    def operation(self, one: Operation) -> str:
        """Everything about one operation."""
        # Behind each parameter may stand a break, so that a long address fits a narrow screen.
        heading = f"{_method(one.method)} <code>{_path(one.path)}</code>"
        return (
            f"<article id='{one.anchor}'><h3><a href='#{one.anchor}'>{heading}</a></h3>"
            f"{_prose(one.told.get('description') or one.told.get('summary', ''))}"
            f"{'' if one.told.get('security') else '<p><em>Needs no token.</em></p>'}"
            f"{_parameters(one.told.get('parameters', ()))}"
            f"{self._body(one)}"
            f"{_answers(one.told['responses'])}"
            f"{''.join(f'<pre>{escape(line)}</pre>' for line in self._curls(one))}"
            "</article>"
        )

    def _body(self, one: Operation) -> str:
        schema = _json_body(one)
        if schema is None:
            return ""
        optional = "" if one.told["requestBody"].get("required") else " <em>optional</em>"
        shape = without_null(schema)
        fields = _fields(self._schemas.get(name_of(shape) or "", shape))
        return f"<h4>Body {_type(shape)}{optional}</h4>{fields}"

    def _curls(self, one: Operation) -> list[str]:
        """Commands that do it, one for each kind of answer."""
        plain = self._curl(one, ())
        responses: Mapping[str, Mapping[str, Any]] = one.told["responses"]
        kinds: Mapping[str, Any] = responses.get("200", {}).get("content", {})
        if "text/event-stream" not in kinds:
            return [plain]
        stream = self._curl(one, ("-N", "-H 'Accept: text/event-stream'"))
        return [stream] if len(kinds) == 1 else [plain, stream]

    def _curl(self, one: Operation, more: Iterable[str]) -> str:
        path = re.sub(r"\{(\w+)\}", lambda found: f"${found[1].upper()}", one.path)
        method = "" if one.method == "get" else f"-X {one.method.upper()} "
        parts = [f'curl {method}"{self._address}{path}{_query(one)}"', *more]
        if one.told.get("security"):
            parts.append('-H "Authorization: Bearer $CALLBOARD_TOKEN"')
        schema = _json_body(one)
        if schema is not None and one.told["requestBody"].get("required"):
            body = orjson.dumps(self._smallest.of(without_null(schema))).decode()
            parts += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(body)}"]
        return " \\\n  ".join(parts)

    def shape(self, name: str, schema: Schema) -> str:
        """A named schema: its fields, and an example."""
        example = orjson.dumps(self._examples.of(schema), option=orjson.OPT_INDENT_2).decode()
        return (
            f"<article id='shape-{_id(name)}'><h3><a href='#shape-{_id(name)}'>"
            f"<code>{escape(name)}</code></a></h3>{_prose(schema.get('description', ''))}"
            f"{_fields(schema)}"
            f"<details><summary>Example</summary><pre>{escape(example)}</pre></details></article>"
        )


def _fields(schema: Schema) -> str:
    required = schema.get("required", ())
    rows = [
        (_field(field, needed=field in required), _type(told), _about(told))
        for field, told in schema.get("properties", {}).items()
    ]
    return _table(("Field", "Type", ""), rows)


def _json_body(one: Operation) -> Schema | None:
    content = one.told.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema")


def _query(one: Operation) -> str:
    """The parameters that must be there."""
    needed = [p for p in one.told.get("parameters", ()) if p["in"] == "query" and p.get("required")]
    return "?" + "&".join(f"{p['name']}=${p['name'].upper()}" for p in needed) if needed else ""


def _parameters(parameters: Iterable[Mapping[str, Any]]) -> str:
    rows = [
        (
            _field(told["name"], needed=told.get("required", False)),
            escape(told["in"]),
            _type(without_null(told["schema"])),
            _about({**told["schema"], "description": told.get("description", "")}),
        )
        for told in parameters
    ]
    return f"<h4>Parameters</h4>{_table(('Name', 'In', 'Type', ''), rows)}" if rows else ""


def _answers(responses: Mapping[str, Mapping[str, Any]]) -> str:
    good = [one for one in responses.items() if int(one[0]) < _FIRST_ERROR]
    bad = [one for one in sorted(responses.items()) if int(one[0]) >= _FIRST_ERROR]
    errors = _table(("Status", "Meaning", "Shape"), [_answer(*one) for one in bad])
    folded = f"<details><summary>Errors: {', '.join(code for code, _ in bad)}</summary>{errors}"
    answers = _table(("Status", "Meaning", "Shape"), [_answer(*one) for one in good])
    return f"<h4>Answers</h4>{answers}{f'{folded}</details>' if bad else ''}"


def _answer(status: str, told: Mapping[str, Any]) -> tuple[str, str, str]:
    shapes = [
        _type(content["schema"]) if name_of(content.get("schema", {})) else escape(kind)
        for kind, content in told.get("content", {}).items()
    ]
    return f"<code>{escape(status)}</code>", _inline(told["description"]), " or ".join(shapes)


def _field(name: str, *, needed: bool) -> str:
    mark = " <abbr title='must be given'>*</abbr>" if needed else ""
    return f"<code>{escape(name)}</code>{mark}"


def _type(schema: Schema) -> str:
    pieces = type_of(schema)
    return "".join(
        f"<a href='#shape-{_id(piece[1:])}'>{escape(piece[1:])}</a>"
        if piece.startswith("#")
        else escape(piece)
        for piece in pieces
    )


def _about(schema: Schema) -> str:
    said = [_inline(schema["description"])] if schema.get("description") else []
    limits = "; ".join(_inline(limit) for limit in limits_of(schema))
    return " ".join([*said, f"<em>{limits}</em>" if limits else ""])


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    head = "".join(f"<th>{title}</th>" for title in titles)
    return f"<div class='table'><table><tr>{head}</tr>{body}</table></div>" if body else ""


def _method(method: str) -> str:
    return f"<b class='{method}'>{method.upper()}</b>"


def _path(path: str) -> str:
    return escape(path).replace("/", "<wbr>/").replace("<wbr>", "", 1)


def _prose(text: str) -> str:
    paragraphs = [part.strip() for part in text.strip().split("\n\n")]
    return "".join(f"<p>{_inline(part)}</p>" for part in paragraphs if part)


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _id(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())
