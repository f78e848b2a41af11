"""What a system has to provide: processes, their users, and the client of a socket.

`current.py` picks the module for the current system. A process's start is opaque text that is
unique to the process: only compare it.
"""
