"""Settings that are a JSON document with `hooks` in it, as Claude Code made them usual."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol, cast

from callboard.errors import SettingsUnusable, ValidationError
from callboard.vendors import documents_editing as editing
from callboard.vendors.documents import Node, comments, parse
from callboard.vendors.settings import Plan, Scope, Standing
from callboard.vendors.settings_commands import (
    TOKEN_VARIABLE,
    folder_of,
    is_ours,
    port_of,
    transport_of,
)
from callboard.vendors.settings_records import Record

Steps = editing.Path
Groups = dict[str, list[dict[str, Any]]]
"""An event → its hooks, in groups."""

_ORDER_MARK: Final = "\ufeff"
_TO_GROUP, _TO_HANDLER = 3, 5
_APART = ("SessionStart", "PermissionRequest")
"""Events whose hooks run the client, however the others reach the server."""


class HookDocument(Protocol):
    """What differs from one agent to the next."""

    @property
    def agent(self) -> str:
        """Its name."""
        ...

    def place(self, scope: Scope, project: Path) -> Path:
        """The file."""
        ...

    def wanted(self, plan: Plan) -> dict[str, Any]:
        """What has to be in the document, in its shape."""
        ...

    def owns(self, steps: Steps, value: Any, folders: frozenset[Path]) -> bool:
        """Whether something that is no hook is ours. folders: hooks folders we know of."""
        ...


class DocumentSettings:
    """The settings of an agent whose hooks are in a JSON document."""

    def __init__(self, kind: HookDocument) -> None:
        self._kind = kind

    @property
    def agent(self) -> str:
        """Its name."""
        return self._kind.agent

    def place(self, scope: Scope, project: Path) -> Path:
        """The file."""
        return self._kind.place(scope, project)

    def installed(self, text: str | None, plan: Plan) -> str:
        """The text with ours in it, in the style of the rest."""
        mark, body = _split(text or "")
        is_empty = not body.strip()
        try:
            after = editing.add("{}" if is_empty else body, self._kind.wanted(plan))
        except ValidationError as error:
            raise _unusable(error) from error
        return f"{mark}{after}\n" if is_empty else mark + after

    def uninstalled(self, text: str, record: Record | None, folder: Path) -> str | None:
        """The text without ours; None when there was no file before us and nothing is left."""
        mark, body = _split(text)
        if not body.strip():
            return text
        value = document(text)
        before = document(record.before or "") if record else {}
        # Rules that look like ours, with no hook of ours beside them, are somebody else's.
        was_here = record is not None or bool(_our_groups(value))
        folders = _folders(value) | {folder}

        def is_gone(steps: Steps, found: Any) -> bool:
            if _is_our_hook(steps, found):
                return True
            # What stood there before us stays, though we would have put it there too.
            ours = was_here and self._kind.owns(steps, found, folders)
            return ours and not _stands(before, steps, found)

        left = editing.remove(body, is_gone, lambda steps: _stands(before, steps, None))
        if record and not (record.before or "").strip() and _is_blank(left):
            return record.before
        return mark + left

    def standing(self, text: str) -> Standing | None:
        """What of ours is in it; None for nothing."""
        value = document(text)
        ours = list(_handlers(_our_groups(value)))
        if not ours:
            return None
        told = [one for event, one in ours if event not in _APART] or [ours[0][1]]
        asked = [str(one.get("command")) for event, one in ours if event == "PermissionRequest"]
        token = _object(value.get("env")).get(TOKEN_VARIABLE)
        return Standing(
            transport=transport_of(told[0]),
            answers=any("--hold" in command for command in asked),
            folder=next(iter(_folders(value)), None),
            port=port_of(told[0]),
            token=token if isinstance(token, str) else None,
        )

    def is_current(self, text: str, plan: Plan) -> bool:
        """Whether ours is in it just as it would be installed, in whatever order."""
        value, wanted = document(text), self._kind.wanted(plan)
        folders = _folders(value) | {plan.folder}

        def owned(tree: dict[str, Any]) -> set[tuple[Steps, str]]:
            found = [one for one in _texts(tree, ()) if self._kind.owns(*one, folders)]
            return {(_numberless(steps), text) for steps, text in found}

        return _our_groups(value) == wanted["hooks"] and owned(value) == owned(wanted)


def document(text: str) -> dict[str, Any]:
    """The value of a document that has to be an object; an empty file counts as one."""
    body = _split(text)[1]
    if not body.strip():
        return {}
    try:
        value = parse(body).value
    except ValidationError as error:
        raise _unusable(error) from error
    if not isinstance(value, dict):
        raise _unusable(ValidationError("the document is not an object"))
    return cast("dict[str, Any]", value)


def _split(text: str) -> tuple[str, str]:
    """The mark that some editors put at the beginning, and the rest."""
    body = text.removeprefix(_ORDER_MARK)
    return text[: len(text) - len(body)], body


def _unusable(error: ValidationError) -> SettingsUnusable:
    return SettingsUnusable(error.message, **dict(error.context))


def _is_our_hook(steps: Steps, value: Any) -> bool:
    """Whether it is one of our hooks, or a group with no other in it."""
    if steps[:1] != ("hooks",):
        return False
    if len(steps) == _TO_HANDLER and steps[3] == "hooks":
        return is_ours(value)
    if len(steps) != _TO_GROUP:
        return False
    hooks = _array(_object(value).get("hooks"))
    return bool(hooks) and all(is_ours(one) for one in hooks)


def _our_groups(value: dict[str, Any]) -> Groups:
    """The groups that have hooks of ours in them, without those of others."""
    found: Groups = {}
    for event, groups in _object(value.get("hooks")).items():
        for group in map(_object, _array(groups)):
            ours = [one for one in _array(group.get("hooks")) if is_ours(one)]
            if ours:
                found.setdefault(event, []).append({**group, "hooks": ours})
    return found


def _handlers(groups: Groups) -> Iterator[tuple[str, dict[str, Any]]]:
    for event, those in groups.items():
        for group in those:
            for handler in group["hooks"]:
                yield event, handler


def _folders(value: dict[str, Any]) -> frozenset[Path]:
    found = [folder_of(handler) for _, handler in _handlers(_our_groups(value))]
    return frozenset(folder for folder in found if folder is not None)


def _texts(value: Any, steps: Steps) -> Iterator[tuple[Steps, str]]:
    """Every text in a document but those in hooks, and where it is."""
    if isinstance(value, str):
        yield steps, value
    for key, one in _object(value).items():
        if (*steps, key) != ("hooks",):
            yield from _texts(one, (*steps, key))
    for index, one in enumerate(_array(value)):
        yield from _texts(one, (*steps, index))


def _numberless(steps: Steps) -> Steps:
    return tuple(step for step in steps if isinstance(step, str))


def _stands(value: Any, steps: Steps, item: Any) -> bool:
    """Whether a document has something at this place; in an array, this very item."""
    for step in steps:
        if isinstance(step, int):
            return item in _array(value)
        if step not in _object(value):
            return False
        value = _object(value)[step]
    return True


def _is_blank(body: str) -> bool:
    root: Node = parse(body)
    return root.value == {} and not list(comments(body, 0, len(body)))


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _array(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
