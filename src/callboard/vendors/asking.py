"""What a coding agent asks a person: in words, and as a question that can be answered."""

from collections.abc import Mapping
from typing import Any, Final

from callboard.events.codec import dump_json
from callboard.interactions.excerpts import excerpt
from callboard.vendors.fields import (
    LONGEST_TEXT,
    Object,
    as_object,
    json_value,
    objects,
    present,
    text,
    word,
)
from callboard.vendors.reports import Request

ASKS: Final = "AskUserQuestion"
PLANS: Final = "ExitPlanMode"

LONGEST_PROMPT: Final = 20_000
"""Of the one sentence; what exactly would be done is in the tool's input."""
LONGEST_INPUT: Final = 131_072
"""Bytes of a tool's input that are kept whole, and characters of a plan."""
_LONGEST_STRING: Final = 2_000
_LONGEST_FIELD: Final = 4_000
"""Of an input that is too long to keep: so much of each field, from both of its ends."""
_MOST_QUESTIONS: Final = 50
_MOST_OPTIONS: Final = 100
_MOST_FIELDS: Final = 30

_SENTENCES: Final[Mapping[str, tuple[str, str]]] = {
    "Bash": ("command", "Run: {}"),
    "Edit": ("file_path", "Edit {}"),
    "MultiEdit": ("file_path", "Edit {}"),
    "NotebookEdit": ("notebook_path", "Edit {}"),
    "Write": ("file_path", "Write {}"),
    "Read": ("file_path", "Read {}"),
    "WebFetch": ("url", "Fetch {}"),
    "WebSearch": ("query", "Search the web for: {}"),
}


_MODE: Final = "setMode"
"""A suggestion to ask less from now on, whatever comes: more than a yes to one call can mean."""


def asks(tool: str, given: Any) -> str:
    """What a person is asked when a tool wants to be used: one sentence."""
    told = as_object(given)
    if tool == ASKS and (questions := questions_of(told)):
        more = len(questions) - 1
        return questions[0]["question"] + (f" (and {more} more)" if more else "")
    if tool == PLANS:
        return "Approve the plan" + (f": {title}" if (title := _first_line(told)) else "?")
    key, sentence = _SENTENCES.get(tool, ("", ""))
    subject = _said(told.get(key), LONGEST_PROMPT)
    if subject is not None:
        return sentence.format(subject)
    return _use(tool, json_value(given))


def request(tool: str, given: Any, cwd: str | None, suggestions: Any = None) -> Request:
    """The question that a held hook puts to people.

    Answering it takes the tool's input again, so that of a question is kept whole; of others, as
    much as a person can look at, and where that is not all of it, the beginning and the end.
    """
    given = json_value(given)
    told = as_object(given)
    offered = [
        one for one in objects(suggestions) if one.get("type") != _MODE and json_value(one) is one
    ]
    shared = present(toolName=tool, cwd=cwd, suggestions=offered or None)
    prompt = asks(tool, given)
    if tool == ASKS and (questions := questions_of(told)):
        config = {**shared, "toolInput": given, "questions": questions}
        return Request("question", prompt, config, _labels(questions))
    if tool == PLANS:
        plan = _said(told.get("plan"), LONGEST_INPUT)
        return Request("plan", prompt, {**shared, **_input(given), **present(plan=plan)})
    return Request("permission", prompt, {**shared, **_input(given)})


def questions_of(given: Object) -> list[dict[str, Any]]:
    """The questions that can be answered: those that have a text, as the client words it."""
    return [
        {
            **present(
                question=question["question"],
                header=text(question.get("header")),
            ),
            "multiSelect": question.get("multiSelect") is True,
            "options": [
                present(
                    label=option["label"],
                    description=_said(option.get("description"), LONGEST_TEXT),
                )
                for option in objects(question.get("options"))[:_MOST_OPTIONS]
                if word(option.get("label"), _LONGEST_STRING) is not None
            ],
        }
        for question in objects(given.get("questions"))[:_MOST_QUESTIONS]
        if word(question.get("question"), LONGEST_PROMPT) is not None
    ]


def _labels(questions: list[dict[str, Any]]) -> tuple[str, ...]:
    """What one can choose from, where there is only one choice to make."""
    if len(questions) != 1 or questions[0]["multiSelect"]:
        return ()
    return tuple(option["label"] for option in questions[0]["options"])


def _first_line(given: Object) -> str | None:
    plan = text(given.get("plan")) or ""
    lines = (line.strip().lstrip("#").strip() for line in plan.splitlines())
    return next((line for line in lines if line), None)


def _use(tool: str, given: Any) -> str:
    name = tool or "a tool"
    if not given:
        return f"Use {name}"
    words = given if isinstance(given, str) else dump_json(given).decode("utf-8")
    return f"Use {name}: {_said(words, _LONGEST_STRING)}"


def _input(given: Any) -> dict[str, Any]:
    if len(dump_json(given)) <= LONGEST_INPUT:
        return {"toolInput": given}
    return {"toolInput": _cut(given), "truncated": True}


def _cut(given: Any) -> Any:
    """An input that is too long to keep: its fields, each with its beginning and its end."""
    told = as_object(given)
    if not told:
        return excerpt(dump_json(given).decode("utf-8"), _LONGEST_FIELD)
    kept = {excerpt(key, _LONGEST_STRING): _ends(told[key]) for key in list(told)[:_MOST_FIELDS]}
    more = len(told) - _MOST_FIELDS
    return kept | ({"…": f"{more} more fields not shown"} if more > 0 else {})


def _ends(value: Any) -> Any:
    words = value if isinstance(value, str) else dump_json(value).decode("utf-8")
    return value if len(words) <= _LONGEST_FIELD else excerpt(words, _LONGEST_FIELD)


def _said(value: Any, longest: int) -> str | None:
    """What somebody wrote, with its beginning and its end where it is too long."""
    return text(excerpt(value, longest), longest) if isinstance(value, str) else None
