"""The commands that answer a question."""

from collections.abc import Callable, Sequence

from callboard.display.lines import one_line
from callboard.events.codec import dump_json
from callboard.events.json_values import as_object, objects
from callboard.interactions.kinds import manner_of
from callboard.interactions.records import Interaction

CommandLine = Callable[..., str]
"""Builds a Callboard command line from words."""


def ways_to_answer(one: Interaction, command: CommandLine, *, free: bool = False) -> list[str]:
    """The commands that answer a question, one for each possible answer."""
    declining = command("answer", one.id, "no", "--message", "WHY")
    match manner_of(one.type):
        case "outcome":
            session = ["--session", one.session_id] if one.session_id else []
            deciding = command("answer", one.id, "--outcome", "completed", "--response", "DECISION")
            return [command("attend", *session), deciding, declining]
        case "verdict":
            return [command("answer", one.id, value) for value in ("yes", "no")]
        case "ruling":
            return [command("answer", one.id, "yes"), declining]
        case "answers":
            values = _typed(one.options or []) or [_skeleton(one)]
            ways = [command("answer", one.id, *_as_argument(value)) for value in values]
            return [*ways, declining]
        case _:
            values = _typed(one.options or [])
            values += ["YOUR ANSWER"] if free or not values else []
            return [command("answer", one.id, *_as_argument(value)) for value in values]


def _skeleton(one: Interaction) -> str:
    """A template of answers to several questions, or to one that takes several."""
    asked = objects(as_object(one.config).get("questions"))
    told = {str(each.get("question")): ["A"] if each.get("multiSelect") else "A" for each in asked}
    return dump_json(told).decode()


def _typed(options: Sequence[str]) -> list[str]:
    """The options as they can be typed: by number if they contain hidden characters."""
    return [
        option if one_line(option) == option else str(number)
        for number, option in enumerate(options, 1)
    ]


def _as_argument(value: str) -> list[str]:
    # An answer that looks like an option needs `--` before it.
    return ["--", value] if value.startswith("-") else [value]
