"""Codex: hooks in Claude Code's format, and its older `notify`."""
