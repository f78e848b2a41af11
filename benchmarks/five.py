"""Five phases, as `workflows` has them, for workers: `callboard worker benchmarks/five.py`."""

from workflows import define

five = define()
