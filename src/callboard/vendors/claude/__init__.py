"""Claude Code: what its hooks send, how they are answered, and what it tells beside them."""
