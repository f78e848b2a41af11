"""JSON Schemas that callers send: checked within limits, in bounded time."""
