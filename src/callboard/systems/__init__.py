"""What a system has to provide: processes, their users, and who is at the other end of a socket.

`current.py` picks the module for the system that we run on. A process's start is text that only
that process has: compare it, and read nothing else from it.
"""
