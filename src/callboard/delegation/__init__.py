"""Delegation: a task is broken into phases, and each is done by a coding agent of its own.

It is a workflow like any other: what is planned, approved, done and failed is in its log, and its
status files, its plates and its questions follow from that.
"""
