"""A question in full: what is asked, what exactly would be done, what can be chosen."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from callboard.display.lines import Bounds, Line, bounded, collapsed, exact, size_of, text_lines
from callboard.display.tool_calls import INDENT, Part, tool_parts
from callboard.interactions.configs import KIND
from callboard.interactions.outcomes import form_of
from callboard.interactions.records import Interaction
from callboard.vendors.fields import Object, as_list, as_object, objects

_FEW_LINES: Final = 10
"""A prompt of so many lines can be counted at a glance."""
_MOST_PARTS: Final = 4
"""All parts together may have so many times the lines of one."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The lines of a question; shortened: some of its text is not among them."""

    lines: Sequence[Line]
    shortened: bool = False


def show(question: Interaction, bounds: Bounds | None = None) -> Shown:
    """A question as lines: all of it, or within bounds, with its beginning and its end.

    Each part is shortened by itself, so that a long description cannot hide the end of a command.
    """
    parts = [_counted(part) for part in _parts(question)]
    whole = [line for part in parts for line in part]
    if bounds is None:
        return Shown(whole)
    each = [line for part in parts for line in bounded(part, bounds)]
    lines = bounded(each, Bounds(_MOST_PARTS * bounds.lines, bounds.width, bounds.full))
    if lines == whole:
        return Shown(whole)
    return Shown([*lines, Line(f"Shortened. See all: {bounds.full}", "notice", INDENT)], True)


def _counted(part: Part) -> list[Line]:
    """A part without its runs of blank lines, and with its size where that says something."""
    lines = collapsed(part.lines)
    if not part.size or not lines:
        return lines
    if lines[0].look == "heading":
        return [lines[0]._replace(text=f"{lines[0].text} ({part.size})"), *lines[1:]]
    return [Line(part.size, "faint", INDENT), *lines]


def _parts(question: Interaction) -> Iterator[Part]:
    config = as_object(question.config)
    if questions := objects(config.get("questions")):
        yield from (_choices(one) for one in questions)
        return
    if isinstance(config.get("plan"), str):
        plan = config["plan"]
        yield Part([Line("The plan", "heading"), *text_lines(plan, lead=INDENT)], size_of(plan))
        yield from _beside_plan(config)
    elif question.type == "permission" and config.get("toolInput"):
        yield from _wanted(config)
    else:
        yield _prompt(question)
        yield from _beside_plan(config) if question.type == "plan" else ()
    if config.get("truncated"):
        yield Part([_CUT])
    yield Part(list(_numbered((option, "") for option in options_of(question))))
    context = as_object(config.get("context"))
    if question.type == KIND and context:
        lines = [line for part in tool_parts(context) for line in part.lines]
        yield Part([Line("Context", "heading"), *lines])


_CUT: Final = Line(
    "Too long to keep: only its beginning and its end are here. See all of it in the agent's own "
    "terminal.",
    "notice",
    INDENT,
)


def _prompt(question: Interaction) -> Part:
    lines = text_lines(question.prompt, "heading")
    is_long = len(lines) > _FEW_LINES
    return Part(lines, size_of(question.prompt) if is_long else "")


def _wanted(config: Object) -> Iterator[Part]:
    """What an agent wants to do, with everything that it sent."""
    heading = Line(f"Use {exact(str(config.get('toolName') or 'a tool'))}", "heading")
    first, *others = tool_parts(config["toolInput"])
    yield Part([heading, *first.lines], first.size)
    yield from others


def _beside_plan(config: Object) -> Iterator[Part]:
    """What else a yes to the plan allows: the agent may ask for permissions together with it."""
    given = as_object(config.get("toolInput"))
    rest = {key: value for key, value in given.items() if key != "plan"}
    for part in tool_parts(rest):
        yield Part([Line("With the plan", "heading"), *part.lines], part.size)


def _choices(told: Object) -> Part:
    lines = text_lines(str(told.get("question", "")), "heading")
    options = [
        (str(one.get("label", "")), str(one.get("description") or ""))
        for one in objects(told.get("options"))
    ]
    if options:
        how = "Choose one or more:" if told.get("multiSelect") else "Choose one:"
        lines += [Line(how, "faint", INDENT), *_numbered(options)]
    return Part(lines)


def _numbered(options: Iterable[tuple[str, str]]) -> Iterator[Line]:
    for number, (label, description) in enumerate(options, 1):
        yield Line(exact(label), "plain", f"{INDENT}{number} ", "number")
        if description:
            yield from text_lines(description, "faint", INDENT * 2)


def options_of(question: Interaction) -> list[str]:
    """What can be chosen."""
    if question.type == KIND:
        schema: Any = as_object(question.config).get("outcomeSchema")
        if form_of(schema) != "selection":
            return []
        return [str(one) for one in as_list(as_object(schema).get("options"))]
    return list(question.options or ())
