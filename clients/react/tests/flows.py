"""Workflows for tests of the React package, beside those of the server's own tests."""

from collections.abc import AsyncIterator

from callboard import Context, Phase, State, Text, Workflow, agent


class Talk(State):
    """How much is to be said."""

    words: int = 0


def talk_of(state: Talk, words: int = 3) -> None:
    """Begin."""
    state.words = words


@agent
async def talker(state: Talk) -> AsyncIterator[Text]:
    """Say it in pieces."""
    for number in range(state.words):
        yield Text(f"{number} ")


@agent
async def chatterbox(state: Talk, ctx: Context) -> str:
    """Say as much as is wanted, as fast as it goes."""
    for number in range(state.words):
        await ctx.emit("word", number)
    return "done"


talk = Workflow(
    "talk", state=Talk, start=talk_of, phases=[Phase("talk", agent=talker, terminal=True)]
)
chatter = Workflow(
    "chatter", state=Talk, start=talk_of, phases=[Phase("chat", agent=chatterbox, terminal=True)]
)
