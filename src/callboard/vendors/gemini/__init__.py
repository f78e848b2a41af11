"""Gemini CLI: its hooks, which report everything and can't be answered."""
