"""What each event says: one `TypedDict` per name, the source of docs/reference/events.md.

`callboard.events.names` and `callboard.events.plates` say which name carries which. A key that is
`NotRequired` is left out where it would say nothing. Durations are milliseconds; deadlines are
milliseconds since 1970.
"""
