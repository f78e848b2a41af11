"""The engine: definitions, pure decisions, and the runner that carries them out.

Connects the log and the state, which don't know about each other. Knows agents and people only as
ports. Imports nothing above itself.
"""
