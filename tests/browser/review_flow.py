"""A workflow whose phase asks for an interactive session, held as its input says."""

from typing import Any

from callboard import Interactive, Phase, State, Workflow


class Review(State):
    prompt: str = ""
    options: dict[str, Any] = {}


def begin(state: Review, asked: dict[str, Any]) -> None:
    state.prompt, state.options = asked["prompt"], asked["options"]


reviewed = Workflow(
    "reviewed",
    state=Review,
    start=begin,
    phases=[
        Phase(
            "review", human=lambda state: Interactive(state.prompt, **state.options), terminal=True
        )
    ],
)
