"""The settings files of coding agents: install and remove our hooks, change nothing else."""
