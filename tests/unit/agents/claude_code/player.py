#!/usr/bin/env python3
"""Stands in for Claude Code: plays lines that the real one once told.

PLAY is the recording; what the player was called with and told goes into the file HEARD.
"""

import json
import os
import sys
from pathlib import Path

heard = Path(os.environ["HEARD"])


def hear(what: object) -> None:
    with heard.open("a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\n")


hear(sys.argv[1:])
hear(json.loads(sys.stdin.readline()))
for line in Path(os.environ["PLAY"]).read_text(encoding="utf-8").splitlines():
    print(line, flush=True)
    if json.loads(line)["type"] == "control_request":
        hear(json.loads(sys.stdin.readline()))
sys.stdin.read()
