"""What `make run` shows: sessions in every standing, and questions to answer."""

import os
import subprocess
import sys
from pathlib import Path

from callboard import Callboard

ROOT = Path(__file__).parent.parent.parent


async def test_the_demo_data_has_something_to_answer(tmp_path: Path):
    database = tmp_path / "demo" / "x.db"
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for _ in range(2):  # What a failed attempt left is replaced.
        made = [sys.executable, str(ROOT / "tools" / "demo_data.py"), str(database)]
        assert subprocess.run(made, env=env, check=False).returncode == 0
    async with Callboard.open(database) as board:
        sessions = await board.sessions()
        questions = await board.inbox()
    assert {one.status for one in sessions} == {"completed", "failed", "waiting"}
    assert {one.type for one in questions} == {"approval", "choice"}
    assert "Publish 2.4.0" in questions[0].prompt
