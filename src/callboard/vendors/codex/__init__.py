"""Codex: hooks in the shape of Claude Code, and its older `notify`."""
