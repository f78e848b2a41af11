"""Agents of other libraries, made to work in a phase: one adapter a module.

An adapter turns what a library streams into what the engine records. It may import the engine
and its own library, which no one else has to have installed.
"""
