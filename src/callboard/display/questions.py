"""A question in full: what is asked, exactly what would be done, and the options."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from callboard.display.lines import Bounds, Line, bounded, collapsed, exact, size_of, text_lines
from callboard.display.tool_calls import INDENT, CallPart, edited_parts, tool_parts
from callboard.events.json_values import Object, as_list, as_object, is_object, objects
from callboard.interactions.configs import KIND
from callboard.interactions.edited_input import edited_of, original_input
from callboard.interactions.outcomes import form_of
from callboard.interactions.records import Interaction
from callboard.vendors.reports import SUBAGENT

_FEW_LINES: Final = 10
"""With no more lines than this, a prompt's length is obvious."""
_MOST_PARTS: Final = 4
"""How many times the lines of one part all parts may have together."""


@dataclass(frozen=True, slots=True)
class QuestionText:
    """The lines of a question; shortened: some of its text was left out."""

    lines: Sequence[Line]
    shortened: bool = False


def show(question: Interaction, bounds: Bounds | None = None) -> QuestionText:
    """A question as lines: complete, or within bounds, with its start and its end.

    Each part is shortened on its own, so that a long description can't hide the end of a command.
    """
    parts = [_counted(part) for part in _parts(question)]
    whole = [line for part in parts for line in part]
    if bounds is None:
        return QuestionText(whole)
    each = [line for part in parts for line in bounded(part, bounds)]
    lines = bounded(each, Bounds(_MOST_PARTS * bounds.lines, bounds.width, bounds.full))
    if lines == whole:
        return QuestionText(whole)
    return QuestionText(
        [*lines, Line(f"Shortened. See all: {bounds.full}", "notice", INDENT)], True
    )


def _counted(part: CallPart) -> list[Line]:
    """A part without runs of blank lines, and with its size if that is useful."""
    lines = collapsed(part.lines)
    if not part.size or not lines:
        return lines
    if lines[0].look == "heading":
        return [lines[0]._replace(text=f"{lines[0].text} ({part.size})"), *lines[1:]]
    return [Line(part.size, "faint", INDENT), *lines]


def subagent_of(question: Interaction) -> str | None:
    """The subagent that asks, and of which agent, as far as it is known; None for all others."""
    told = as_object(question.config).get(SUBAGENT)
    if not is_object(told):
        return None
    name, parent = (exact(str(told.get(key) or "")) for key in ("name", "parent"))
    return f"subagent {name}".strip() + (f" of {parent}" if parent else "")


def _parts(question: Interaction) -> Iterator[CallPart]:
    yield from _asked(question)
    if (asker := subagent_of(question)) is not None:
        yield CallPart([Line(f"Asked by the {asker}", "faint", INDENT)])


def _asked(question: Interaction) -> Iterator[CallPart]:
    config = as_object(question.config)
    if questions := objects(config.get("questions")):
        yield from (_choices(one) for one in questions)
        yield CallPart(omitted_from(config, "question"))
        return
    if isinstance(plan := config.get("plan"), str):
        yield CallPart([Line("The plan", "heading"), *text_lines(plan, lead=INDENT)], size_of(plan))
        yield from beside_plan(config)
    elif question.type == "permission" and (parts := tool_parts(config.get("toolInput"))):
        heading = Line(f"Use {exact(str(config.get('toolName') or 'a tool'))}", "heading")
        yield CallPart([heading, *parts[0].lines], parts[0].size)
        yield from parts[1:]
        yield from _edited(question)
    else:
        yield _prompt(question)
        yield from beside_plan(config) if question.type == "plan" else ()
    if config.get("truncated"):
        yield CallPart([CUT])
    yield CallPart([_option(number, one) for number, one in enumerate(options_of(question), 1)])
    context = as_object(config.get("context"))
    if question.type == KIND and context:
        lines = [line for part in tool_parts(context) for line in part.lines]
        yield CallPart([Line("Context", "heading"), *lines])


CUT: Final = Line(
    "Too long to store: only the start and the end are here. See all of it in the agent's own "
    "terminal.",
    "notice",
    INDENT,
)
"""Shown below an input that is incomplete."""


def _edited(question: Interaction) -> Iterator[CallPart]:
    """What the person who allowed a call made of its input, and who that was."""
    edited = edited_of(question.accepted) or edited_of(question.response)
    if edited is None:
        return
    who = f" by {exact(question.answered_by)}" if question.answered_by else ""
    yield CallPart([Line(f"Edited{who} before it was allowed", "heading")])
    yield from edited_parts(original_input(question.config), edited)


def _prompt(question: Interaction) -> CallPart:
    lines = text_lines(question.prompt, "heading")
    is_long = len(lines) > _FEW_LINES
    return CallPart(lines, size_of(question.prompt) if is_long else "")


def beside_plan(config: Object) -> Iterator[CallPart]:
    """What else approving the plan allows: the agent may request permissions along with it."""
    given = config.get("toolInput")
    if is_object(given):
        given = {key: value for key, value in given.items() if key != "plan"}
    for part in tool_parts(given):
        yield CallPart([Line("With the plan", "heading"), *part.lines], part.size)


def _choices(told: Object) -> CallPart:
    lines = text_lines(titled(told), "heading")
    options = objects(told.get("options"))
    if options:
        how = "Choose one or more:" if told.get("multiSelect") else "Choose one:"
        lines.append(Line(how, "faint", INDENT))
    for number, one in enumerate(options, 1):
        lines += [_option(number, str(one.get("label", ""))), *details_of(one)]
    return CallPart([*lines, *omitted_from(told, "option")])


def titled(told: Object) -> str:
    """One of an agent's questions, after its header."""
    header, asked = told.get("header"), str(told.get("question", ""))
    return f"{exact(str(header))}: {asked}" if header else asked


def details_of(option: Object) -> list[Line]:
    """What an agent says about an option: its description, then a preview."""
    said = [option.get("description"), option.get("preview")]
    return [line for one in said if one for line in text_lines(str(one), "faint", INDENT * 2)]


def omitted_from(told: Object, what: str) -> list[Line]:
    """A notice if the agent sent more options or questions than are kept."""
    count = told.get("omitted")
    if not isinstance(count, int) or count < 1:
        return []
    more = f"1 more {what} is" if count == 1 else f"{count:,} more {what}s are"
    text = f"{more} too long to show, or too many. Answer in the agent's own terminal to see all."
    return [Line(text, "notice", INDENT)]


def _option(number: int, label: str) -> Line:
    return Line(exact(label), "plain", f"{INDENT}{number} ", "number")


def options_of(question: Interaction) -> list[str]:
    """The options to choose from."""
    if question.type == KIND:
        schema = as_object(question.config).get("outcomeSchema")
        if form_of(schema) != "selection":
            return []
        return [str(one) for one in as_list(as_object(schema).get("options"))]
    return list(question.options or ())
