"""The payload of each event: one `TypedDict` per name, the source of docs/reference/events.md.

`callboard.events.names`, `plates` and `messages` map names to payloads. A key that is
`NotRequired` is left out if it would say nothing. Durations are milliseconds; deadlines are
milliseconds since 1970.
"""
