"""Callboard over HTTP: what `Callboard` does on a database, `Client` does on a server."""
