"""The relay's process: `python -I -S relay/__main__.py FOLDER VERSION`.

`callboard relay` becomes this process: the command line alone takes more memory than a relay.
"""

import sys

REVOKED = 4
"""The exit code when the server doesn't accept this machine anymore. Restarting would not help."""

BY_LAUNCHD = "CALLBOARD_BY_LAUNCHD"
"""The variable that says so. Launchd restarts whatever fails, so a refused relay exits with 0."""


def main(folder: str, version: str) -> int:
    """Run the relay; returns the exit code."""
    import logging
    import os
    from pathlib import Path

    from callboard.errors import CallboardError
    from callboard.relay.running import run_relay
    from callboard.relay.uplink import RelayRefused

    logging.basicConfig(
        stream=sys.stderr, level=logging.INFO, format="callboard relay: %(message)s"
    )
    try:
        run_relay(Path(folder), version)
    except RelayRefused as refused:
        again = "callboard relay --server URL --pair CODE"
        sys.stderr.write(
            f"The server doesn't accept this machine: {refused}\n"
            f"Pair it again: {again}\n"
            "Or, if it should not report anymore: callboard hooks uninstall --server URL\n"
        )
        return 0 if os.environ.get(BY_LAUNCHD) else REVOKED
    except CallboardError as error:
        sys.stderr.write(f"{error.message}\n")
        return 1
    return 0


if __name__ == "__main__":
    # Isolated and without site-packages, Python finds only its own library.
    sys.path.insert(0, __file__.rpartition("/callboard/relay/")[0])
    sys.exit(main(*sys.argv[1:3]))
