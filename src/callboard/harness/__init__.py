"""Interactive sessions: a person and a coding agent decide together, in the person's terminal.

`attending` does one from its claim to its end. What agents and people see of it: a pseudo-terminal
(`passthrough`) or a window of tmux, and the tool `submit_decision` (`deciding`). `asking` is the
other direction: tools with which any agent calls a person.
"""
