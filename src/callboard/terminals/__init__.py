"""Terminals of coding agents: one that a person has, and ones of our own that run without a person.

`host_process` keeps an agent in a pseudo-terminal in the background. `link` reads its screen, types
into it and stops it; `attaching` joins a person's terminal to it. Only the standard library: there
is one process for each agent.
"""
