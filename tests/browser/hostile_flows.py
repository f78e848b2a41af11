"""Workflows whose every text is as unkind to a page as a text can be."""

from typing import Any

from pydantic import BaseModel, Field
from tests.browser.hostile_text import EMOJI, OPTIONS, RIGHT_TO_LEFT, UNBROKEN, UNBROKEN_NAME

from callboard import Approval, Choice, Context, Interactive, Phase, State, Text, Workflow, agent

PROMPT = "\n\n".join(
    [
        f"# {UNBROKEN_NAME}",
        UNBROKEN,
        RIGHT_TO_LEFT * 20,
        EMOJI * 100,
        f"`{UNBROKEN}`",
        f"```python\n{UNBROKEN}\n```",
        "| " + " | ".join(UNBROKEN_NAME for _ in range(12)) + " |\n" + "|---" * 12 + "|",
        f"[{UNBROKEN}](https://example.com/{UNBROKEN})",
    ]
)


class Loud(State):
    events: int = 0
    text: str = ""
    nested: dict[str, Any] = {}


def begin(state: Loud, events: int) -> None:
    state.events = events
    state.text = UNBROKEN
    state.nested = {UNBROKEN_NAME: {RIGHT_TO_LEFT: [UNBROKEN, EMOJI * 300]}, "list": [1] * 300}


@agent(name=UNBROKEN_NAME)
async def shouter(state: Loud, ctx: Context) -> str:
    await ctx.emit(Text(UNBROKEN))
    for number in range(state.events):
        await ctx.emit(Text(f"{number}{RIGHT_TO_LEFT}"))
    return UNBROKEN


loud = Workflow(
    "loud",
    state=Loud,
    start=begin,
    phases=[
        Phase(
            UNBROKEN_NAME,
            agent=shouter,
            human=Approval(PROMPT),
            next="options",
        ),
        Phase("options", human=Choice(f"{RIGHT_TO_LEFT} {UNBROKEN}", OPTIONS), next="end"),
        Phase("end", terminal=True),
    ],
)

many_options = Workflow(
    "options",
    state=State,
    phases=[Phase(UNBROKEN_NAME, human=Choice(PROMPT, OPTIONS, other=True), terminal=True)],
)


@agent
async def breaker(state: State) -> None:
    raise RuntimeError(f"{UNBROKEN} {RIGHT_TO_LEFT} {EMOJI}")


broken = Workflow("broken", state=State, phases=[Phase("break", agent=breaker, terminal=True)])


class Verdict(BaseModel):
    approved: bool = Field(title=UNBROKEN_NAME, description=UNBROKEN)
    reason: str = Field(RIGHT_TO_LEFT, description=EMOJI * 50)
    lines: list[str] = [UNBROKEN]


decided = Workflow(
    "decided",
    state=State,
    phases=[
        Phase(
            "decide",
            human=Interactive(
                PROMPT,
                context=lambda s: {UNBROKEN_NAME: UNBROKEN},
                system_prompt=UNBROKEN,
                cwd=f"/home/{UNBROKEN_NAME}",
                result_type=Verdict,
            ),
            terminal=True,
        )
    ],
)


def _next(number: int) -> Phase:
    name = f"step-{number}-{RIGHT_TO_LEFT if number % 9 == 0 else 'of-a-long-way'}"
    after = f"step-{number + 1}-{RIGHT_TO_LEFT if (number + 1) % 9 == 0 else 'of-a-long-way'}"
    return Phase(name, terminal=True) if number == PHASES - 1 else Phase(name, next=after)


PHASES = 80
winding = Workflow("winding", state=State, phases=[_next(number) for number in range(PHASES)])
