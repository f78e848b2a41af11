"""Keeps one agent in a terminal in the background: `python -I -S host_process.py`.

Reads what to start as JSON from standard input, and prints the agent's process, or why there is
none. It has a session of its own, so it outlives the program that started it, and ends with its
agent. If it is killed, the kernel hangs up on the agent.
"""

import os
import sys


def main() -> None:
    """Become a process of its own, and keep the agent."""
    import json

    given = json.load(sys.stdin)
    if os.fork():
        os._exit(0)  # Who started us doesn't have to wait for us.
    os.setsid()
    tells = os.dup(1)
    from contextlib import suppress

    from callboard.terminals.starting_job import keep

    try:
        keep(given, lambda told: _tell(tells, json.dumps(told)))
    except OSError as error:
        with suppress(OSError):
            _tell(tells, json.dumps({"error": error.strerror or str(error)}))
    os._exit(0)


def _tell(file: int, text: str) -> None:
    os.write(file, text.encode() + b"\n")
    os.close(file)


if __name__ == "__main__":
    # Isolated and without site-packages, Python finds only its own library. The package is not
    # loaded, because that takes longer than everything else here.
    package = type(sys)("callboard")
    package.__path__ = [__file__.rpartition("/terminals/")[0]]
    sys.modules["callboard"] = package
    main()
