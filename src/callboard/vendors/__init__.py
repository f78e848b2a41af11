"""Coding agents by other makers: what their hooks send, and where their settings are."""
