"""Claude Code: what its hooks send, how to answer them, and what else it reveals."""
