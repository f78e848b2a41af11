"""A hook of a coding agent: `python -I -S hookclient.py FOLDER AGENT [--hold]`.

It reads the payload on standard input, and takes it to the server or into the spool. With --hold
it waits until someone decides, and prints what was decided. Without it prints what the server has
for the agent to read, such as a plan that was lost with its context. It prints nothing else, and
its exit code is 0: what goes wrong here is nothing that the agent's session should show.
"""

import posix
import sys


def _alone() -> None:
    """Let `callboard` be a package of which nothing is loaded: its `__init__` would take longer
    than all we do. The modules come compiled from its cache, as this script does not.
    """
    package = type(sys)("callboard")
    package.__path__ = [__file__.rpartition("/")[0] or "."]
    sys.modules["callboard"] = package


def _run(arguments: list[str]) -> None:
    from callboard.courier.delivery import deliver, is_agent, print_context
    from callboard.courier.letters import Letter, read_payload

    words = [word for word in arguments if word != "--hold"]
    if len(words) != 2 or not is_agent(words[1]):
        read_payload()  # The process that wrote it must not notice.
        return
    folder, agent = words
    if "--hold" not in arguments:
        print_context(deliver(Letter(folder, agent, read_payload())))
        return
    from callboard.courier.holding import hold_errand

    hold_errand(folder, agent)


if __name__ == "__main__":
    try:
        _alone()
        _run(sys.argv[1:])
    finally:
        # Nothing is left to clean up, and no traceback may be printed.
        posix._exit(0)  # pyright: ignore[reportPrivateUsage] - it has no other name here
