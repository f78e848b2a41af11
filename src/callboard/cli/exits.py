"""What the exit code of a command says."""

from typing import Final

DONE: Final = 0
FAILED: Final = 1
WRONG_USE: Final = 2
WAITING: Final = 3
"""The session waits for a person, or an answer for the agent that asked."""
INTERRUPTED: Final = 130
