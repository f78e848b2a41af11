"""The append-only event log: one contract, implemented in memory and on SQLite.

Imports events and what is below; never state. Anything beyond storing events is passed in: a
projection that turns events into rows of views.
"""
