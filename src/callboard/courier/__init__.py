"""What takes one hook of a coding agent to the server, or into the spool.

An agent waits for its hooks, and most of what one costs is the start of Python. So nothing here
imports more than the interpreter has at hand. Whatever goes wrong, the agent must not notice.
"""
