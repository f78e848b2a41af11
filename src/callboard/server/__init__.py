"""Callboard over HTTP: commands and views as JSON, events as server-sent events."""
