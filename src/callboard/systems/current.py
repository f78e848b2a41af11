"""The system that this process runs on, as a module: `linux`, `macos`, or `portable` for others."""

import sys

if sys.platform == "linux":
    from callboard.systems import linux as system
elif sys.platform == "darwin":
    from callboard.systems import macos as system
else:
    from callboard.systems import portable as system

__all__ = ["system"]
