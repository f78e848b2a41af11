"""Takes one hook of a coding agent to the server, or to the spool.

An agent waits for its hooks, and most of a hook's cost is starting Python. So nothing here imports
a module that loads slowly. Whatever goes wrong, the agent must not notice.
"""
