"""JSON Schemas in words, and values that fit them, for the page that documents the server."""

from collections.abc import Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

_PREFIX: Final = "#/components/schemas/"
_STRINGS: Final = {"date-time": "2026-01-31T12:00:00.000Z"}
_SCALARS: Final[Mapping[str, Any]] = {"integer": 1, "number": 1.0, "boolean": True, "null": None}
_BOUNDS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} long",
    "maxLength": "at most {} long",
    "pattern": "like `{}`",
    "format": "{}",
}
_DEEPEST = 4


def name_of(schema: Schema) -> str | None:
    """The name of the schema that is referred to."""
    reference: str | None = schema.get("$ref")
    return reference.removeprefix(_PREFIX) if reference else None


def without_null(schema: Schema) -> Schema:
    """The schema of a value that may also be missing: without saying so."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind.get("type") != "null"]
    if len(kinds) != 1:
        return schema
    return {key: value for key, value in schema.items() if key != "anyOf"} | kinds[0]


def type_of(schema: Schema) -> list[str]:
    """What may stand there, in pieces: the name of another schema begins with `#`."""
    named = name_of(schema)
    if named:
        return [f"#{named}"]
    if "anyOf" in schema:
        pieces = [type_of(kind) for kind in schema["anyOf"]]
        return [piece for kind in pieces for piece in (*kind, " or ")][:-1]
    if "enum" in schema:
        return [" | ".join(f'"{value}"' for value in schema["enum"])]
    if "const" in schema:
        return [f'"{schema["const"]}"']
    if schema.get("type") == "array":
        return ["list of ", *type_of(schema.get("items", {}))]
    return [schema.get("type", "any JSON")]


def limits_of(schema: Schema) -> list[str]:
    """What else a value must be, in words."""
    inner = without_null(schema)
    told = [words.format(inner[key]) for key, words in _BOUNDS.items() if key in inner]
    told = ["not empty" if limit == "at least 1 long" else limit for limit in told]
    if schema.get("default") not in (None, [], {}):
        told.append(f"`{_literal(schema['default'])}` unless given")
    return told


def _literal(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Examples:
    """Makes values that fit a schema: what must be there, or with `whole` everything."""

    def __init__(self, schemas: Mapping[str, Schema], *, whole: bool = False) -> None:
        self._schemas = schemas
        self._whole = whole

    def of(self, schema: Schema, deep: int = 0) -> Any:
        """A value, the schema's own example where it has one."""
        given = self._given(schema)
        if given is not None:
            return given[0]
        named = name_of(schema)
        if named:
            return self.of(self._schemas.get(named, {}), deep)
        if "anyOf" in schema:
            return self.of(schema["anyOf"][0], deep)
        match schema.get("type"):
            case "object":
                return self._object(schema, deep)
            case "array":
                return [self.of(schema.get("items", {}), deep + 1)] if deep < _DEEPEST else []
            case "string":
                return _STRINGS.get(schema.get("format", ""), "text")
            case kind:
                return _SCALARS.get(kind or "", {})

    def _given(self, schema: Schema) -> tuple[Any] | None:
        """What the schema itself offers."""
        if schema.get("examples"):
            return (schema["examples"][0],)
        if "const" in schema:
            return (schema["const"],)
        if schema.get("enum"):
            return (schema["enum"][0],)
        return (schema["default"],) if schema.get("default") is not None else None

    def _object(self, schema: Schema, deep: int) -> dict[str, Any]:
        properties: Mapping[str, Schema] = schema.get("properties", {})
        if deep >= _DEEPEST:
            return {}
        wanted = list(properties) if self._whole else schema.get("required", ())
        return {name: self.of(properties[name], deep + 1) for name in wanted if name in properties}
