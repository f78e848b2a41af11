"""What a person lets a coding agent's tool run with instead, from the command line."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import click

from callboard.errors import ValidationError
from callboard.events.envelope import Json
from callboard.events.json_values import as_object, as_text, is_object
from callboard.interactions.edited_input import EDITABLE, original_input
from callboard.interactions.records import Interaction

_COMMAND = "command"


@dataclass(frozen=True, slots=True)
class InputEdit:
    """The options that edit a call. command, input: as typed. editor: edit it in `$EDITOR`."""

    command: str | None
    input: str | None
    editor: bool

    @property
    def is_wanted(self) -> bool:
        """Whether there is an edit at all."""
        return self.command is not None or self.input is not None or self.editor

    def check(self) -> None:
        """UsageError if there is more than one."""
        if sum((self.command is not None, self.input is not None, self.editor)) > 1:
            raise click.UsageError("Give one of --command, --input and --edit.")

    def of(self, asked: Interaction) -> Mapping[str, Json]:
        """The input to run with. What is wrong with it, the answer's check says."""
        config = as_object(asked.config)
        original = as_object(original_input(asked.config))
        if config.get(EDITABLE) is not True:
            raise ValidationError(
                f"{asked.id} can't be edited: its agent doesn't run an edited call, or its input "
                "is too long. Answer without --command, --input and --edit.",
                field="input",
                interaction_id=asked.id,
            )
        if self.command is not None:
            return _with_command(original, self.command)
        return _parsed(self.input) if self.input is not None else _from_editor(original)


def _with_command(original: Mapping[str, Json], command: str) -> Mapping[str, Json]:
    if _COMMAND not in original:
        raise ValidationError(
            f"This call has no command. Use --input with its whole input: {', '.join(original)}.",
            field=_COMMAND,
        )
    return {**original, _COMMAND: command}


def _parsed(text: str) -> Mapping[str, Json]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValidationError(f"The input is not valid JSON: {error}.", field="input") from error
    if not is_object(given):
        raise ValidationError("The input must be a JSON object.", field="input")
    return given


def _from_editor(original: Mapping[str, Json]) -> Mapping[str, Json]:
    """As it was saved: of a command only its text, of anything else all of the JSON."""
    if isinstance(original.get(_COMMAND), str):
        command = as_text(original[_COMMAND])
        # An editor ends the last line.
        saved = _edited(command, ".sh")
        return {**original, _COMMAND: saved if command.endswith("\n") else saved.rstrip("\n")}
    return _parsed(_edited(json.dumps(original, indent=2, ensure_ascii=False), ".json"))


def _edited(text: str, extension: str) -> str:
    saved = click.edit(text, extension=extension, require_save=True)
    if saved is None:
        raise click.ClickException("Nothing was saved in the editor, so nothing was answered.")
    return saved
