"""Workflows whose sessions are long or wide: many phases, many events, text without a break."""

from callboard import Approval, Choice, Context, Phase, State, Text, Workflow, agent

UNBROKEN = "x" * 5000
MANY = 80
STOP_AT = 60


class Steps(State):
    rounds: int = 0
    notes: dict[str, str] = {}


def count(state: Steps, output: object) -> None:
    state.rounds += 1


@agent
async def work(state: Steps) -> str:
    return "done"


def _phase(number: int) -> Phase:
    name, following = f"step-{number:02}", f"step-{number + 1:02}"
    if number == MANY:
        return Phase(name, agent=work, terminal=True)
    if number == STOP_AT:
        return Phase(name, human=Approval("Go on?"), next=following)
    if number == 12:
        again = f"step-{number - 2:02}"
        return Phase(
            name,
            agent=work,
            update=count,
            next=lambda s: again if s.rounds % 4 else following,
            to=[again, following],
        )
    return Phase(name, agent=work, next=following)


many_phases = Workflow(
    "many-phases", state=Steps, phases=[_phase(number) for number in range(1, MANY + 1)]
)


limited = Workflow(
    "limited", state=Steps, phases=[Phase("build", agent=work, limit="builds", terminal=True)]
)


@agent
async def shout(state: Steps, ctx: Context) -> str:
    await ctx.emit(Text(UNBROKEN))
    return UNBROKEN


def keep(state: Steps, output: str) -> None:
    state.notes = {UNBROKEN: output, "plain": "text"}


wide = Workflow(
    "wide" + "w" * 120,
    state=Steps,
    title=lambda state, input: UNBROKEN,
    phases=[
        Phase("p" * 120, agent=shout, update=keep, next="ask"),
        Phase(
            "ask",
            human=Choice(UNBROKEN, [UNBROKEN, *(f"Option {n}" for n in range(30))]),
            terminal=True,
        ),
    ],
)
