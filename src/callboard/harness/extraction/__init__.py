"""What was decided in a conversation, where the agent submitted no decision."""
