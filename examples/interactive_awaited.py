"""Wait for a decision that a person makes together with an agent.

The program requests a review, gets it as a pydantic model, and continues. The record outlives the
program: if you run it twice with the same file, the second run finds the decision of the first.

    python examples/interactive_awaited.py              the program itself answers
    python examples/interactive_awaited.py review.db    you answer: callboard attend --db review.db
"""

import asyncio
import sys

from pydantic import BaseModel

from callboard import Callboard, HumanInteractive

FINDINGS = ["login.py takes any password", "api.py logs every token"]


class Decision(BaseModel):
    approved: bool
    notes: str


def answer_automatically(review: HumanInteractive[Decision], board: Callboard) -> None:
    """Answers instead of `callboard attend`; the caller doesn't notice the difference."""
    answering: list[asyncio.Task[object]] = []

    def answer(changed: HumanInteractive[Decision]) -> None:
        if changed.status == "pending" and changed.session_id is not None:
            told = {"approved": False, "notes": "fix login.py first"}
            done = board.human.complete_interactive(changed.session_id, "completed", told, by="Ada")
            answering.append(asyncio.create_task(done))

    review.on_change(answer)


async def main(db: str | None = None) -> str:
    async with Callboard.open(db) as board:
        review = HumanInteractive(board, standalone=True, result_type=Decision)
        if db is None:
            answer_automatically(review, board)
        else:
            print(f"Waiting for you. In another terminal: callboard attend --db {db}")
        result = await review.request_async(
            "Review the security audit findings and decide whether we ship.",
            key="audit-7",
            context={"findings": FINDINGS, "severity": "high"},
            system_prompt="Help the engineer understand each finding before they decide.",
            timeout=30 * 60,
        )
    if result.outcome != "completed" or result.response is None:
        return f"No decision ({result.outcome}): nothing is shipped."
    verdict = "Ship it" if result.response.approved else "Hold it back"
    return f"{verdict}: {result.response.notes}"


if __name__ == "__main__":
    print(asyncio.run(main(*sys.argv[1:])))
