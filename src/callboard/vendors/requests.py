"""A coding agent's question to a person: as text, and in a form that can be answered."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Final, NotRequired, TypedDict

from callboard.events.codec import dump_json
from callboard.events.envelope import Json
from callboard.events.json_values import Object, as_list, as_object, is_object, objects
from callboard.interactions.edited_input import EDITABLE
from callboard.interactions.excerpts import excerpt
from callboard.vendors.fields import LONGEST_TEXT, json_value, present, text, word
from callboard.vendors.reports import HookRequest

ASKS: Final = "AskUserQuestion"
PLANS: Final = "ExitPlanMode"

LONGEST_PROMPT: Final = 20_000
"""Maximum length of the sentence; the details are in the tool's input."""
LONGEST_INPUT: Final = 131_072
"""Bytes of a tool's input, and characters of a plan, that are kept whole."""
_LONGEST_STRING: Final = 2_000
_LONGEST_FIELD: Final = 4_000
"""How much to keep of each field of a longer input, from both ends."""
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
"""A suggestion to ask less in general, which is more than a yes to one call can mean."""


class HookOption(TypedDict):
    """An answer that an agent offers."""

    label: str
    description: NotRequired[str]
    preview: NotRequired[str]


class HookQuestion(TypedDict):
    """An agent's question. omitted: the number of options that were left out."""

    question: str
    header: NotRequired[str]
    multiSelect: bool
    options: list[HookOption]
    omitted: NotRequired[int]


def asks(tool: str, given: Json) -> str:
    """A tool's question for permission, as one sentence. given: its JSON input."""
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
    return _use(tool, given)


def request(
    tool: str, given: Json, cwd: str | None, suggestions: Json = None, prompt: str | None = None
) -> HookRequest:
    """The question that a held hook asks people.

    An answer needs the tool's input, so a question's is kept whole; of others, as much as a person
    can read, and the start and end if that isn't all.
    prompt: the result of `asks` for the same input, if known: megabytes take long to format.
    """
    if prompt is None:
        given = json_value(given)
        prompt = asks(tool, given)
    told = _told_apart(as_object(given)) if tool == ASKS else as_object(given)
    offered = [
        one for one in objects(suggestions) if one.get("type") != _MODE and json_value(one) is one
    ]
    shared = present(toolName=tool, cwd=cwd, suggestions=offered or None)
    if tool == ASKS and (questions := questions_of(told)):
        omitted = present(omitted=_omitted(told, questions))
        config = {**shared, "toolInput": told, "questions": questions, **omitted}
        return HookRequest("question", prompt, config, _labels(questions))
    if tool == PLANS:
        plan = _said(told.get("plan"), LONGEST_INPUT)
        return HookRequest("plan", prompt, {**shared, **_input(given), **present(plan=plan)})
    return HookRequest("permission", prompt, {**shared, **_input(given)})


def questions_of(given: Object) -> list[HookQuestion]:
    """The questions that can be answered: those with text, as the client worded it.

    Half a label would be a different answer, so an option either has its whole label or is left
    out.
    """
    asked = (
        _question(words, one)
        for one in objects(given.get("questions"))
        if (words := word(one.get("question"), LONGEST_PROMPT)) is not None
    )
    return list(islice(asked, _MOST_QUESTIONS))


def _told_apart(given: Object) -> Object:
    """The input, with a number after each question that repeats an earlier one.

    Answers are matched by the question's text, so one would otherwise count for both.
    """
    numbers: dict[str, int] = {}
    questions: list[Json] = []
    for one in as_list(given.get("questions")):
        words = asked = as_object(one).get("question")
        if not isinstance(asked, str) or not asked.strip():
            questions.append(one)
            continue
        while words in numbers:
            numbers[asked] += 1
            words = f"{asked} ({numbers[asked]})"
        numbers[str(words)] = 1
        questions.append({**as_object(one), "question": words})
    return {**given, "questions": questions} if questions else given


def _question(question: str, told: Object) -> HookQuestion:
    labelled = [one for one in objects(told.get("options")) if text(one.get("label")) is not None]
    options = [
        _option(label, one)
        for one in labelled
        if (label := word(one["label"], LONGEST_PROMPT)) is not None
    ][:_MOST_OPTIONS]
    asked: HookQuestion = {
        "question": question,
        "multiSelect": told.get("multiSelect") is True,
        "options": options,
    }
    if (header := _said(told.get("header"), LONGEST_TEXT)) is not None:
        asked["header"] = header
    if len(labelled) > len(options):
        asked["omitted"] = len(labelled) - len(options)
    return asked


def _option(label: str, told: Object) -> HookOption:
    option: HookOption = {"label": label}
    if (description := _said(told.get("description"), LONGEST_TEXT)) is not None:
        option["description"] = description
    if (preview := _said(told.get("preview"), LONGEST_TEXT)) is not None:
        option["preview"] = preview
    return option


def _omitted(given: Object, questions: list[HookQuestion]) -> int | None:
    """How many questions were left out because they are too long or too many."""
    asked = [one for one in objects(given.get("questions")) if text(one.get("question"))]
    return len(asked) - len(questions) or None


def _labels(questions: list[HookQuestion]) -> tuple[str, ...]:
    """The options, if there is only one question with one choice."""
    if len(questions) != 1 or questions[0]["multiSelect"]:
        return ()
    return tuple(option["label"] for option in questions[0]["options"])


def _first_line(given: Object) -> str | None:
    plan = text(given.get("plan")) or ""
    lines = (line.strip().lstrip("#").strip() for line in plan.splitlines())
    return next((line for line in lines if line), None)


def _use(tool: str, given: Json) -> str:
    name = tool or "a tool"
    if given is None or given == {}:
        return f"Use {name}"
    words = given if isinstance(given, str) and given.strip() else dump_json(given).decode("utf-8")
    return f"Use {name}: {_said(words, _LONGEST_STRING)}"


def editable(asked: HookRequest) -> HookRequest:
    """The same for an agent that runs an edited call, if a person can see all of the input."""
    if asked.type != "permission" or not is_object(asked.config.get("toolInput")):
        return asked
    if asked.config.get("truncated"):
        return asked
    return replace(asked, config={**asked.config, EDITABLE: True})


def _input(given: Json) -> dict[str, Json]:
    if len(dump_json(given)) <= LONGEST_INPUT:
        return {"toolInput": given}
    return {"toolInput": _cut(given), "truncated": True}


def _cut(given: Json) -> Json:
    """An input that is too long to keep: its fields, each with its start and end."""
    told = as_object(given)
    if not told:
        return excerpt(dump_json(given).decode("utf-8"), _LONGEST_FIELD)
    kept = {excerpt(key, _LONGEST_STRING): _ends(told[key]) for key in list(told)[:_MOST_FIELDS]}
    more = len(told) - _MOST_FIELDS
    return kept | ({"…": f"{more} more fields not shown"} if more > 0 else {})


def _ends(value: Json) -> Json:
    words = value if isinstance(value, str) else dump_json(value).decode("utf-8")
    return value if len(words) <= _LONGEST_FIELD else excerpt(words, _LONGEST_FIELD)


def _said(value: Json, longest: int) -> str | None:
    """Text, with its start and end if it is too long."""
    return text(excerpt(value, longest), longest) if isinstance(value, str) else None
