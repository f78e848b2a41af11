"""The board in the terminal: every session, who needs a person first, answered in place."""
