"""Which of a server's machines this command runs on."""

from callboard.board.hosts import local_host
from callboard.board.protocol import Board
from callboard.errors import NotFound


async def this_machine(board: Board) -> str | None:
    """This machine's id, if it is the server's own or has a relay to it; else None.

    A server may be on another machine, even at a local address: that can be a tunnel.
    """
    own = local_host().id
    try:
        if own:
            await board.hosts.check(own)
            return own
    except NotFound:
        pass
    return None
