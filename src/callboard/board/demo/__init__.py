"""A board that moves without any agent: plays back what real clients sent to their hooks."""
