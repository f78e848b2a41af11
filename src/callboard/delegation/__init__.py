"""Delegation: a task is broken into phases, each done by its own coding agent.

It is a workflow like any other: its log has what was planned, approved, done and failed, and its
status files, plates and questions follow from that.
"""
