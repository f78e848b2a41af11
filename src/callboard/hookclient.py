"""A hook of a coding agent: `python -I -S hookclient.py FOLDER AGENT [--hold]`.

Reads the payload from standard input and passes it to the server, or to the spool. With --hold, it
waits for a decision and prints it. Without it, it prints what there is for the agent to read: a
plan that was lost with its context, or a person's message. It prints nothing else and always exits
with 0: problems here must not show up in the agent's session.
"""

import posix
import sys


def _alone() -> None:
    """Register `callboard` as a package without loading it.

    Its `__init__` would take longer than everything else here. Its modules are loaded from the
    bytecode cache, which a script does not have.
    """
    package = type(sys)("callboard")
    package.__path__ = [__file__.rpartition("/")[0] or "."]
    sys.modules["callboard"] = package


def _run(arguments: list[str]) -> None:
    from callboard.courier.delivery import is_agent
    from callboard.courier.letters import Letter, read_payload
    from callboard.courier.mail import deliver_and_print

    words = [word for word in arguments if word != "--hold"]
    if len(words) != 2 or not is_agent(words[1]):
        read_payload()  # Read it all, so that the process writing it does not notice.
        return
    folder, agent = words
    if "--hold" not in arguments:
        deliver_and_print(Letter(folder, agent, read_payload()))
        return
    from callboard.courier.holding import hold_errand

    hold_errand(folder, agent)


if __name__ == "__main__":
    try:
        _alone()
        _run(sys.argv[1:])
    finally:
        # There is nothing to clean up, and no traceback may be printed.
        posix._exit(0)  # pyright: ignore[reportPrivateUsage] - it has no other name here
