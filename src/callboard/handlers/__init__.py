"""Ways to ask a person in this process: the terminal, automatic approval, or your own handler."""
