"""Callboard over HTTP: what `Callboard` does on a database, `Client` does on a server."""

from callboard.client.client import Client

__all__ = ["Client"]
