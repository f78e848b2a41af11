"""Interactive sessions: a person and a coding agent decide together, in the person's terminal.

`attending` conducts a session from its claim to its end. The agent runs in a pseudo-terminal
(`pty`) or a tmux window, and has the tool `submit_decision`. `mcp_tools` is the other direction:
tools with which any agent can ask a person.
"""
