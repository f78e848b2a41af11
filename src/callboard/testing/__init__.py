"""For users' own tests: the suites that Callboard holds itself to, and stand-ins for the world.

May import everything below the command line. Needs pytest, which Callboard itself does not.
"""
