"""The `callboard` command, and `python -m callboard`."""

import sys


def main() -> int:
    """Run the command line; returns its exit code."""
    from callboard.cli.main import run_command

    return run_command(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
