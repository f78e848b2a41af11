"""The settings files of coding agents: our hooks go in and come out, nothing else changes."""
