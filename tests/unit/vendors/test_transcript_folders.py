"""Which files are transcripts: a server that may read those reads nothing else."""

from pathlib import Path

import pytest

from callboard.vendors.transcript_folders import is_own_transcript


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(
    ("agent", "path"),
    [
        ("claude", ".claude/projects/p/s.jsonl"),
        ("codex", ".codex/sessions/2026/11/19/rollout-x.jsonl"),
        ("gemini", ".gemini/tmp/p/chats/session-x.jsonl"),
    ],
)
def test_transcripts_are_where_clients_keep_them(home: Path, agent: str, path: str):
    assert is_own_transcript(agent, str(home / path))


@pytest.mark.parametrize(
    ("agent", "path"),
    [
        ("claude", ".claude/.credentials.json"),
        ("claude", ".claude/history.jsonl"),
        ("claude", ".claude/projects/../settings.json"),
        ("claude", ".claude.json"),
        ("codex", ".codex/auth.json"),
        ("codex", ".codex/history.jsonl"),
        ("gemini", ".gemini/oauth_creds.json"),
        ("another", ".another/s.jsonl"),
        ("", "s.jsonl"),
    ],
)
def test_keys_and_settings_next_to_them_are_none(home: Path, agent: str, path: str):
    assert not is_own_transcript(agent, str(home / path))
