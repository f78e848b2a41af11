"""A board that moves without any agent: what real clients sent their hooks, played again."""
