"""Reads and writes files in folders that other users can write to, safely.

A file is written completely or not at all, and never through a link. Everything that Callboard
writes itself goes through here (ADR 14). It needs only the standard library, because hooks use it
before anything else is loaded.
"""
