"""Adapters for other libraries' agents, so that they work in a phase: one module each.

An adapter turns what a library streams into what the engine records. It may import the engine and
its own library, which is needed only by those who use the adapter.
"""
