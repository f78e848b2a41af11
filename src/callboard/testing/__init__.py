"""For users' own tests: stand-ins for the world, and the suites that Callboard holds itself to.

| module | what it is for |
|---|---|
| `given`, `commands` | given a history, when something happens, then these events follow |
| `scripted` | agents and people who do what a test tells them to |
| `fake_clock` | a clock that a test moves |
| `faults` | a log that fails, dawdles or dies when a test wants it to |
| `log_suite` | the contract of a log, for a log of your own; the one module that needs pytest |

May import drivers and everything below.
"""
