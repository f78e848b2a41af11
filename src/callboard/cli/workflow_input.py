"""A workflow's input as typed, and the error if something is missing."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from callboard.cli.invocation import program
from callboard.engine.workflow import Workflow
from callboard.errors import CallboardError, ValidationError
from callboard.events.json_values import as_list, as_object

_EXAMPLES: Final[Mapping[object, object]] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


@dataclass(frozen=True, slots=True)
class WorkflowInput:
    """What a workflow takes as its input.

    schema: None if its `start` doesn't declare it. name: the parameter's name in `start`, if known.
    """

    workflow: str
    schema: Mapping[str, object] | None
    name: str | None = None
    may_be_missing: bool = True
    """Whether its start may have failed because of a missing input."""

    @classmethod
    def of(cls, workflow: Workflow) -> Self:
        """The input of a workflow in this process."""
        name = workflow.input_name
        return cls(workflow.name, workflow.input_schema, name, may_be_missing=name is not None)

    def read(self, given: str | None) -> object:
        """The input as typed: text, or JSON if the workflow takes something else."""
        if given is None or self.schema is None or _takes(self.schema, "string"):
            return given
        try:
            return json.loads(given)
        except ValueError:
            return given

    def check_missing(self, file: str) -> None:
        """Raise a ValidationError if the workflow can't start without an input."""
        if self.schema is not None and not _takes(self.schema, "null"):
            raise self.missing(file)

    def missing(self, file: str, because: CallboardError | None = None) -> ValidationError:
        """The error that names what is missing, with a command that provides it."""
        schema = self.schema or {"type": "string"}
        example = _example(schema, schema)
        text = example if isinstance(example, str) else json.dumps(example)
        command = shlex.join([program(), "run", file, "--input", text])
        failed = f"{because.message} " if because else ""
        return ValidationError(
            f"{failed}Workflow {self.workflow!r} needs an input{self._what(schema)}. Give it "
            f"with --input, for example: {command}",
            field="input",
            workflow=self.workflow,
        )

    def _what(self, schema: Mapping[str, object]) -> str:
        fields = _fields(schema)
        if not fields and self.name is not None:
            kind = schema.get("type") if self.schema else None
            fields = [f"{self.name} ({kind})" if kind else self.name]
        return f": {', '.join(fields)}" if fields else ""


def _fields(schema: Mapping[str, object]) -> list[str]:
    """The required fields of an object, each with its type."""
    schema = _resolved(schema, schema)
    properties = as_object(schema.get("properties"))
    return [
        f"{name} ({_resolved(as_object(properties.get(str(name))), schema).get('type', 'JSON')})"
        for name in as_list(schema.get("required"))
    ]


def _example(schema: Mapping[str, object], root: Mapping[str, object]) -> object:
    schema = _resolved(schema, root)
    for given in (*as_list(schema.get("examples")), *as_list(schema.get("enum"))):
        return given
    properties = as_object(schema.get("properties"))
    if properties:
        needed = [str(name) for name in as_list(schema.get("required"))]
        return {name: _example(as_object(properties.get(name)), root) for name in needed}
    for branch in as_list(schema.get("anyOf")):
        return _example(as_object(branch), root)
    return _EXAMPLES.get(schema.get("type"), "text")


def _resolved(schema: Mapping[str, object], root: Mapping[str, object]) -> Mapping[str, object]:
    """The definition that a reference points to."""
    reference = schema.get("$ref")
    if not isinstance(reference, str):
        return schema
    return as_object(as_object(root.get("$defs")).get(reference.rpartition("/")[2]))


def _takes(schema: Mapping[str, object], kind: str) -> bool:
    """Whether a value of this type fits; a schema without a type takes anything."""
    schema = _resolved(schema, schema)
    branches = [_resolved(as_object(one), schema) for one in as_list(schema.get("anyOf"))]
    types = {one.get("type") for one in branches or [schema]}
    return kind in types or None in types
