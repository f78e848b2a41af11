"""Extracts the decision from a conversation in which the agent submitted none."""
