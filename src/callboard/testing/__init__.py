"""Helpers for testing your own workflows and logs.

| module | contents |
|---|---|
| `given`, `commands` | given a history, when something happens, then these events follow |
| `scripted` | agents and people that follow a script |
| `fake_clock` | a clock that the test controls |
| `faults` | a log that fails, stalls or crashes on demand |
| `log_suite` | the contract of a log, for testing your own; needs pytest |
| `driver_suite` | the contract of a driver, for testing your own engine; needs pytest |

May import drivers and everything below.
"""
