"""JSON Schemas from callers: checked within limits, in bounded time."""
