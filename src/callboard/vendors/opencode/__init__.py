"""opencode: the events of its bus, as our plugin sends them on."""
