"""What changed in the working tree of a coding agent's session, read with git.

Nothing in the person's repository is written, and nothing that its configuration names is run.
"""
