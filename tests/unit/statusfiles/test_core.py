"""The core of status files stays small, and is quick to load."""

import ast
import subprocess
import sys
from pathlib import Path

from callboard import statusfiles

HOME = Path(statusfiles.__file__).parent
SOURCE = HOME.parents[1]
PREFIX = "callboard.statusfiles"
MOST_LINES = 500


def needed(module: str) -> set[str]:
    """The modules of this package that one needs, itself included."""
    tree = ast.parse((HOME / f"{module}.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    named = {node.module.removeprefix(f"{PREFIX}.") for node in imports if node.module != PREFIX
             and (node.module or "").startswith(PREFIX) and node.module}  # fmt: skip
    named |= {one.name for node in imports if node.module == PREFIX for one in node.names}
    return {module}.union(*(needed(one) for one in named))


def test_what_the_four_functions_need_is_under_500_lines():
    core = {"__init__"} | needed("workflows") | needed("markdown")
    assert core == {"__init__", "files", "location", "markdown", "phases", "workflows"}
    lines = [len((HOME / f"{module}.py").read_text().splitlines()) for module in core]
    assert sum(lines) < MOST_LINES


def test_it_loads_nothing_that_takes_its_time():
    code = (
        f"import sys; sys.path.insert(0, {str(SOURCE)!r}); import {PREFIX};"
        "print(*{'typing', 'pathlib', 'datetime', 'dataclasses', 'inspect', 'tempfile', 'logging',"
        "'subprocess', 'warnings', 'urllib.parse'} & set(sys.modules))"
    )
    said = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == []
