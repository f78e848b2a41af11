"""The command line: one module per command, imported only when it is called.

A command parses, calls `callboard.app`, and prints; it decides nothing. May import anything below;
only `callboard.__main__` imports it.
"""
