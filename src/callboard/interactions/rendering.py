"""Render a workflow's questions: evaluate everything on the state."""

from callboard.errors import AnswerInvalid
from callboard.interactions.interactive import Interactive
from callboard.interactions.questions import (
    Approval,
    Choice,
    Rendered,
    checked_options,
    millis,
    policy,
    render_assignees,
)

Question = Approval | Choice | Interactive


def is_question(given: object) -> bool:
    """Whether this is a question to a person."""
    return isinstance(given, Question)


def render(question: Question, state: object) -> Rendered:
    """Evaluate prompt and options on the state, and check the result."""
    if isinstance(question, Interactive):
        return question.render(state)
    prompt = question.prompt(state) if callable(question.prompt) else question.prompt
    if not isinstance(prompt, str) or not prompt.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise AnswerInvalid("The prompt of a question must be non-empty text.")
    options = question.options(state) if callable(question.options) else question.options
    if question.type == "choice":
        options = checked_options(options)
    return Rendered(
        type=question.type,
        prompt=prompt,
        options=list(options) if options is not None else None,
        other=question.other,
        timeout_ms=None if question.timeout is None else millis(question.timeout),
        on_timeout=None if question.timeout is None else policy(question, question.on_timeout),
        assignees=render_assignees(question.assignees, state),
    )
