"""Ways to ask a person in this process: the terminal, an automatic yes, or the caller's own."""
