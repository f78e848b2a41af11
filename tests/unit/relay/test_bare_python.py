"""A relay runs without installed packages: nothing that it ever imports may need one."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import callboard

SOURCE = Path(callboard.__file__).parent
ASKED = [
    *("relay.running", "relay.commands", "board.conversation_reading", "board.changes_reading"),
    *("vendors.agents", "vendors.conversations", "vendors.starting", "vendors.steering_table"),
]
"""What a relay's commands and hooks lead to, besides what its own modules name."""
BARE = """
import importlib, sys
package = type(sys)("callboard")
package.__path__ = [sys.argv[1]]
sys.modules["callboard"] = package
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(name, "needs", error.name)
"""


def named_in(file: Path) -> Iterator[str]:
    """The modules of ours that a file imports when it runs, at its top or later."""
    tree = ast.parse(file.read_text("utf-8"))
    only_types = [
        inner
        for outer in ast.walk(tree)
        if isinstance(outer, ast.If) and "TYPE_CHECKING" in ast.unparse(outer.test)
        for inner in ast.walk(outer)
    ]
    for one in ast.walk(tree):
        name = one.module if isinstance(one, ast.ImportFrom) else None
        if name is not None and name.startswith("callboard.") and one not in only_types:
            yield name


def test_nothing_that_a_relay_imports_needs_a_package():
    steering = [
        f"callboard.vendors.{file.parent.name}.steering"
        for file in SOURCE.glob("vendors/*/steering.py")
    ]
    relay = {name for file in SOURCE.glob("relay/*.py") for name in named_in(file)}
    asked = [f"callboard.{name}" for name in ASKED]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", BARE, str(SOURCE), *sorted({*relay, *asked, *steering})],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("", "")
