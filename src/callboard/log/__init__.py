"""The append-only truth: one contract, fulfilled in memory and on SQLite.

Imports events and what lies below; never state. What it may do besides storing events is
given to it: a projection that turns events into rows of views.
"""
