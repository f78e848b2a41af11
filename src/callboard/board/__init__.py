"""The board: every coding agent session on this machine, as a plate folded from its events."""
