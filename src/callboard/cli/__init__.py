"""The command line: one module a command, found only when it is called.

A command parses, calls `callboard.app`, and prints; it decides nothing. May import anything
below; nothing but `callboard.__main__` imports it.
"""
