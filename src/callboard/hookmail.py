"""A hook that has mail for its agent: `python -I -S hookmail.py FOLDER AGENT`.

A hook that only writes to the spool is a shell. It runs this instead while a message of a person
waits for the agent: it does the same, and prints the message.
"""

import posix
import sys


def _run(arguments: list[str]) -> None:
    from callboard.courier.delivery import is_agent
    from callboard.courier.letters import Letter, read_payload
    from callboard.courier.mail import spool_and_print

    payload = read_payload()  # All of it, so that the process writing it does not notice.
    if len(arguments) == 2 and is_agent(arguments[1]):
        folder, agent = arguments
        spool_and_print(Letter(folder, agent, payload))


if __name__ == "__main__":
    try:
        # As in `hookclient`: the package itself would take longer than everything else here.
        package = type(sys)("callboard")
        package.__path__ = [__file__.rpartition("/")[0] or "."]
        sys.modules["callboard"] = package
        _run(sys.argv[1:])
    finally:
        posix._exit(0)  # pyright: ignore[reportPrivateUsage] - it has no other name here
