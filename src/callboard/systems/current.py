"""The system that this process runs on, as a module: `linux`, or `portable` for all others."""

import sys

if sys.platform == "linux":
    from callboard.systems import linux as system
else:
    from callboard.systems import portable as system

__all__ = ["system"]
