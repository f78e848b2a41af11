"""Gemini CLI: its hooks, which report everything and can be answered in nothing."""
