"""Gemini CLI: its hooks, which tell of everything and can be answered in nothing."""
