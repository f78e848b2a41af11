"""Which of a board's machines this command runs on."""

from callboard.board.hosts import local_host
from callboard.board.protocol import Board
from callboard.cli.targets import ServerTarget, Target
from callboard.errors import NotFound, ValidationError


async def this_machine(board: Board, place: Target) -> str | None:
    """This machine's id on the board; None if the board is in this process.

    A server may be on another machine, even at a local address: that can be a tunnel.
    ValidationError if this machine is neither the server's own, nor has a relay to it.
    """
    if not isinstance(place, ServerTarget):
        return None
    own = local_host().id
    try:
        if own:
            await board.hosts.check(own)
            return own
    except NotFound:
        pass
    raise ValidationError(
        f"host: the server at {place.url} is not on this machine, and this machine has no relay to "
        "it. Either name the machine and a folder there: --host HOST --cwd DIR; or pair this "
        "machine: `callboard pair` on the server makes the code for `callboard relay`.",
        field="host",
    )
