"""Look back and try again: you can inspect and fork a session at any position.

A bid is made, raised and rejected. Then we look at the state at each step, compare two positions,
and fork the session before the rejection, with a higher limit.

    python examples/time_travel.py
"""

import asyncio

from callboard import Approval, Callboard, Phase, State, Workflow, agent, auto_approve


class Auction(State):
    bid: int = 0
    limit: int = 0
    won: bool = False


def set_up(state: Auction, limit: int) -> None:
    state.limit = limit


@agent
async def bidder(state: Auction) -> int:
    return min(state.bid + 40, state.limit)


def keep_bid(state: Auction, bid: int) -> None:
    state.bid = bid


auction = Workflow(
    "auction",
    state=Auction,
    start=set_up,
    phases=[
        Phase("open", agent=bidder, update=keep_bid, next="raise"),
        Phase(
            "raise",
            agent=bidder,
            update=keep_bid,
            human=Approval(lambda s: f"Sell for {s.bid}?"),
            next=lambda s: "sold" if s.approved else "kept",
            to=["sold", "kept"],
        ),
        Phase("sold", terminal=True),
        Phase("kept", terminal=True),
    ],
)


async def main() -> tuple[str, str]:
    """Runs a session, inspects it and forks it; returns where both sessions ended."""
    async with Callboard.open(None, [auction]) as board:
        first = await board.run(auction, input=50, human_input={"approval": lambda prompt: False})
        print(f"The first try ended in {first.exit_phase!r}, with a bid of {first.state.bid}.\n")

        for event in first.events:
            state = await board.state(first.session_id, at=event.position)
            print(f"{event.position:>3}  {event.name:<20} bid {state.bid:>3}, limit {state.limit}")

        changes = await board.diff(first.session_id, 2, len(first.events))
        print(f"\nWhat changed since position 2: {changes}")

        def raise_the_limit(state: Auction) -> None:
            state.limit = 100

        fork = await board.fork(
            first.session_id, phase="raise", edits=raise_the_limit, human_input=auto_approve()
        )
        info, state = await board.session(fork.session_id), await board.state(fork.session_id)
        print(
            f"The fork, from position {fork.events_copied}, ended in {info.phase!r}: {state.bid}."
        )
        return str(first.exit_phase), str(info.phase)


if __name__ == "__main__":
    asyncio.run(main())
