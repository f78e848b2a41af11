"""Third-party coding agents: what their hooks send, and where their settings are."""
