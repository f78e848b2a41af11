"""Request a decision without waiting for it, and check its status at any time.

An agent requests a review and doesn't wait. The agent's work is done before the review, but the
workflow doesn't complete until the review ends, because the review is a task of the session.

    python examples/interactive_reactive.py
"""

import asyncio

from callboard import Callboard, Context, HumanInteractive, Phase, State, Workflow, agent


class Screen:
    """Shows the status of the review as it changes."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.changed = asyncio.Event()

    def show(self, review: HumanInteractive[str]) -> None:
        self.changed.set()
        if review.status == "pending" and review.session_id is not None:
            self.lines.append("Waiting for human review…")
        if review.status == "success" and review.data is not None:
            self.lines.append(f"Review {review.data.outcome}: {review.data.response}")

    async def until(self, review: HumanInteractive[str], status: str) -> str:
        while review.status != status or review.session_id is None:
            self.changed.clear()
            await self.changed.wait()
        return review.session_id


def deployment(review: HumanInteractive[str]) -> Workflow:
    @agent
    async def builder(state: State, ctx: Context) -> None:
        review.request("Review the deployment plan", outcome_schema={"type": "approval"})

    return Workflow("deploy", state=State, phases=[Phase(agent=builder, terminal=True)])


async def main() -> list[str]:
    screen = Screen()
    async with Callboard.open() as board:
        review = HumanInteractive[str](board)
        review.on_change(screen.show)
        session = (await board.run(deployment(review))).session_id
        asked = await screen.until(review, "pending")
        info = await board.session(session)
        screen.lines.append(f"The work is done, and the session is {info.status}.")

        # Decide here instead of with `callboard attend`.
        await board.human.complete_interactive(asked, "completed", "approved", by="Ada")
        await screen.until(review, "success")
        info = await board.drive(session)
        screen.lines.append(f"Now it is {info.status}.")
    return screen.lines


if __name__ == "__main__":
    print("\n".join(asyncio.run(main())))
