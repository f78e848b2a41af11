"""Claude Code as a phase's agent: its command-line program, over stream-json, without an SDK."""
