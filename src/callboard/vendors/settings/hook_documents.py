"""Settings in a JSON document with `hooks`, the format that Claude Code established."""

from abc import abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NotRequired, TypedDict

from callboard.errors import SettingsUnusable
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, is_object, objects
from callboard.vendors.settings import jsonc_editing as editing
from callboard.vendors.settings.commands import (
    TOKEN_VARIABLE,
    folder_of,
    interpreter_of,
    is_ours,
    port_of,
    transport_of,
)
from callboard.vendors.settings.installing import AgentSettings, InstallPlan, InstallState
from callboard.vendors.settings.jsonc import comments, parse
from callboard.vendors.settings.records import InstallRecord

Steps = editing.Path
Groups = dict[str, list[Object]]
"""Each event, with its hooks in groups."""

_ORDER_MARK: Final = "\ufeff"
_TO_GROUP, _TO_HANDLER = 3, 5
_APART = ("SessionStart", "PermissionRequest")
"""Events whose hooks run the client, whatever transport the others use."""


class PermissionRules(TypedDict):
    """Claude Code's rules about what an agent may do."""

    deny: list[str]
    ask: NotRequired[list[str]]
    allow: NotRequired[list[str]]


class HookSettings(TypedDict):
    """What we want in a settings document. Only Claude Code uses more than `hooks`."""

    hooks: Groups
    permissions: NotRequired[PermissionRules]
    env: NotRequired[dict[str, str | None]]


class DocumentSettings(AgentSettings):
    """Settings of an agent whose hooks are in a JSON document."""

    @abstractmethod
    def wanted(self, plan: InstallPlan) -> HookSettings:
        """What the document has to contain, in its own format."""

    def owns(self, steps: Steps, value: Json, folders: frozenset[Path]) -> bool:
        """Whether something other than a hook is ours. folders: known hooks folders."""
        return False

    def installed(self, text: str | None, plan: InstallPlan) -> str:
        """The text with ours added, in the style of the rest."""
        mark, body = _split(text or "")
        is_empty = not body.strip()
        after = editing.add("{}" if is_empty else body, self.wanted(plan))
        return f"{mark}{after}\n" if is_empty else mark + after

    def uninstalled(self, text: str, record: InstallRecord | None, folder: Path) -> str | None:
        """The text without ours; None if there was no file before and nothing is left."""
        mark, body = _split(text)
        if not body.strip():
            return text
        value = document(text)
        before = document((record and record.before) or "")
        # Rules that look like ours, without any of our hooks, are someone else's.
        was_here = record is not None or bool(_our_groups(value))
        folders = _folders(value) | {folder}

        def is_gone(steps: Steps, found: Json) -> bool:
            if _is_our_hook(steps, found):
                return True
            # What was there before us stays, even if we would have added it too.
            ours = was_here and self.owns(steps, found, folders)
            return ours and not _stands(before, steps, found)

        left = editing.remove(body, is_gone, lambda steps: _stands(before, steps, None))
        if record and not (record.before or "").strip() and _is_blank(left):
            return record.before
        return mark + left

    def standing(self, text: str) -> InstallState | None:
        """Which of our hooks it has; None without any."""
        value = document(text)
        ours = list(_handlers(_our_groups(value)))
        if not ours:
            return None
        told = [one for event, one in ours if event not in _APART] or [ours[0][1]]
        asked = [str(one.get("command")) for event, one in ours if event == "PermissionRequest"]
        token = as_object(value.get("env")).get(TOKEN_VARIABLE)
        return InstallState(
            transport=transport_of(told[0]),
            answers=any("--hold" in command for command in asked),
            folder=next(iter(_folders(value)), None),
            port=port_of(told[0]),
            token=token if isinstance(token, str) else None,
            interpreters=frozenset(
                python for _, one in ours if (python := interpreter_of(one)) is not None
            ),
        )

    def is_current(self, text: str, plan: InstallPlan) -> bool:
        """Whether ours is in it exactly as it would be installed, in any order."""
        value, wanted = document(text), self.wanted(plan)
        folders = _folders(value) | {plan.folder}

        def owned(tree: Object) -> set[tuple[Steps, str]]:
            found = [one for one in _texts(tree, ()) if self.owns(*one, folders)]
            return {(_numberless(steps), text) for steps, text in found}

        return _our_groups(value) == wanted["hooks"] and owned(value) == owned(wanted)


def document(text: str) -> Object:
    """The value of a document that has to be an object; an empty file counts as one."""
    body = _split(text)[1]
    if not body.strip():
        return {}
    value = parse(body).value
    if not is_object(value):
        raise SettingsUnusable("the document is not an object")
    return value


def _split(text: str) -> tuple[str, str]:
    """Split off the byte order mark that some editors write."""
    body = text.removeprefix(_ORDER_MARK)
    return text[: len(text) - len(body)], body


def _is_our_hook(steps: Steps, value: Json) -> bool:
    """Whether it is one of our hooks, or a group that contains only ours."""
    if steps[:1] != ("hooks",):
        return False
    if len(steps) == _TO_HANDLER and steps[3] == "hooks":
        return is_ours(value)
    if len(steps) != _TO_GROUP:
        return False
    hooks = as_list(as_object(value).get("hooks"))
    return bool(hooks) and all(is_ours(one) for one in hooks)


def _our_groups(value: Object) -> Groups:
    """The groups with our hooks, without the hooks of others."""
    found: Groups = {}
    for event, groups in as_object(value.get("hooks")).items():
        for group in objects(groups):
            ours = [one for one in as_list(group.get("hooks")) if is_ours(one)]
            if ours:
                found.setdefault(event, []).append({**group, "hooks": ours})
    return found


def _handlers(groups: Groups) -> Iterator[tuple[str, Object]]:
    for event, those in groups.items():
        for group in those:
            for handler in objects(group["hooks"]):
                yield event, handler


def _folders(value: Object) -> frozenset[Path]:
    found = [folder_of(handler) for _, handler in _handlers(_our_groups(value))]
    return frozenset(folder for folder in found if folder is not None)


def _texts(value: Json, steps: Steps) -> Iterator[tuple[Steps, str]]:
    """Every text in a document outside hooks, with its path."""
    if isinstance(value, str):
        yield steps, value
    for key, one in as_object(value).items():
        if (*steps, key) != ("hooks",):
            yield from _texts(one, (*steps, key))
    for index, one in enumerate(as_list(value)):
        yield from _texts(one, (*steps, index))


def _numberless(steps: Steps) -> Steps:
    return tuple(step for step in steps if isinstance(step, str))


def _stands(value: Json, steps: Steps, item: Json) -> bool:
    """Whether a document has something at this path; in an array, this item."""
    for step in steps:
        if isinstance(step, int):
            return item in as_list(value)
        if step not in as_object(value):
            return False
        value = as_object(value)[step]
    return True


def _is_blank(body: str) -> bool:
    return parse(body).value == {} and not comments(body, 0, len(body))
