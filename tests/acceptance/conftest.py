from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.acceptance.cli_process import CallboardCommand


@pytest.fixture
def callboard(tmp_path: Path) -> Iterator[CallboardCommand]:
    """The command in a folder of its own; whatever it left in terminals is ended."""
    command = CallboardCommand(tmp_path)
    yield command
    for child in command.children:
        child.close(force=True)
