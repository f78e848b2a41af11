"""Files and folders that other people can write to: whole or not at all, and never through a link.

Everything that Callboard writes itself goes through here (ADR 14). It needs the standard library
alone, because hooks use it before anything else is loaded.
"""
