"""The rules that a coding agent proposes for "always", in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from callboard.events.codec import dump_json
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object

_WHERE: Final[Mapping[str, str]] = {
    "session": "for this session",
    "localSettings": "for you in this project (.claude/settings.local.json)",
    "projectSettings": "for everyone in this project (.claude/settings.json)",
    "userSettings": "for all your projects (~/.claude/settings.json)",
    "cliArg": "for this session",
}
_DOES: Final[Mapping[str, str]] = {
    "allow": "Allow without asking",
    "deny": "Deny without asking",
    "ask": "Always ask",
}


@dataclass(frozen=True, slots=True)
class Rule:
    """What "always" would change in the agent's settings.

    does: what it does.
    exactly: the rules, directories or modes themselves, as they would be written.
    where: for how long or for whom; empty if not given.
    """

    does: str
    exactly: tuple[str, ...]
    where: str


def rules_of(config: Json) -> list[Rule]:
    """The rules proposed with a question; unknown ones are shown as they are.

    The texts are the agent's own: when showing them, make hidden characters visible.
    """
    return [_rule(one) for one in as_list(as_object(config).get("suggestions"))]


def _rule(suggestion: Json) -> Rule:
    told = as_object(suggestion)
    destination = told.get("destination")
    where = _WHERE.get(str(destination), destination if isinstance(destination, str) else "")
    does, exactly = _said(suggestion, told)
    return Rule(does, tuple(exactly), where)


def _said(suggestion: Json, told: Object) -> tuple[str, list[str]]:
    match told.get("type"):
        case "addRules":
            return _behaviour(told), [_written(one) for one in as_list(told.get("rules"))]
        case "replaceRules":
            rules = [_written(one) for one in as_list(told.get("rules"))]
            return f"Instead of all rules: {_behaviour(told)}", rules
        case "addDirectories":
            return "Let it work in", [_as_text(one) for one in as_list(told.get("directories"))]
        case "setMode":
            return "Switch the permission mode to", [_as_text(told.get("mode"))]
        case _:
            return "Change its settings", [_as_text(suggestion)]


def _behaviour(told: Object) -> str:
    behavior = str(told.get("behavior"))
    return _DOES.get(behavior, behavior)


def _written(rule: Json) -> str:
    """A rule as Claude Code writes it: `Bash(git status)`."""
    told = as_object(rule)
    tool, content = told.get("toolName"), told.get("ruleContent")
    if not isinstance(tool, str):
        return _as_text(rule)
    return f"{tool}({content})" if isinstance(content, str) else tool


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else dump_json(value).decode()
