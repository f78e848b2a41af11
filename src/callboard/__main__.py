"""The `callboard` command, and `python -m callboard`."""

import gc
import sys


def main() -> int:
    """Run the command line; returns its exit code."""
    gc.disable()  # Until the command is imported, which creates hardly any garbage.
    from callboard.cli.exit import leave_threads_behind
    from callboard.cli.main import run_command

    code = run_command(sys.argv[1:])
    leave_threads_behind(code)
    return code


if __name__ == "__main__":
    sys.exit(main())
