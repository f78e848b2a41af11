"""opencode: the events of its bus, forwarded by our plugin."""
