"""Callboard's protocol over HTTP: what `Callboard` does on a database, a `Client` on a server."""

from callboard.client.client import Client

__all__ = ["Client"]
