"""Messages to agents, as anybody on the board writes them."""

from collections.abc import Callable
from typing import Any

from tests.real_clients.board import Board, Wire
from tests.real_clients.patience import until_told


async def write(board: Board, plate: Wire, text: str, **more: Any) -> Wire:
    """Write a message to an agent."""
    async with board.server.client() as client:
        path = f"/plates/{plate['plateId']}/messages"
        said = await client.post(path, json={"text": text, **more})
        assert said.status_code == 201, said.text
        return said.json()


async def listed(board: Board, plate: Wire) -> list[Wire]:
    return (await reached(board, plate))["messages"]


async def reached(board: Board, plate: Wire) -> Wire:
    """The messages, and how the session can be reached now."""
    return await board.get(f"/plates/{plate['plateId']}/messages")


async def receipt(board: Board, plate: Wire, text: str, *wanted: str) -> Wire:
    """Wait for the receipt of a message."""
    return await _written(
        board, plate, text, f"to be {wanted}", lambda one: one["status"] in wanted
    )


async def left_for_hooks(board: Board, plate: Wire, text: str) -> Wire:
    """Wait until a message is where the client's hooks take it."""

    def is_left(one: Wire) -> bool:
        return (one["status"], one["way"]) == ("queued", "hook")

    return await _written(board, plate, text, "left for hooks", is_left)


async def left_or_taken(board: Board, plate: Wire, text: str) -> Wire:
    """Wait until a message is out of the board's hands: with the client, or where hooks take it."""

    def is_out(one: Wire) -> bool:
        return one["status"] in ("handed", "delivered") or one["way"] == "hook"

    return await _written(board, plate, text, "out of our hands", is_out)


async def _written(
    board: Board, plate: Wire, text: str, how: str, fits: Callable[[Wire], bool]
) -> Wire:
    seen: list[Wire] = []

    async def look() -> Wire | None:
        seen[:] = await listed(board, plate)
        return next((one for one in seen if one["text"] == text and fits(one)), None)

    return await until_told(look, lambda: f"{text[:200]!r} {how}; there are {seen}"[:5000])
