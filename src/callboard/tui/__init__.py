"""The board in the terminal: every session, those that need a person first, answered in place."""
