"""Claude Code as a phase's agent: its command line program, spoken to in stream-json, no SDK."""
