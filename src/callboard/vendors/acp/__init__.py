"""Agents that speak the Agent Client Protocol, which we start and whose client we are.

`agent_host` is the process that keeps one of them: it speaks the protocol, and reports to the board
as hooks do. The other modules are what the board makes of that, as for every other agent.
"""
