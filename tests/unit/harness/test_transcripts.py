"""What is kept of a conversation: bounded, and without what looks like a secret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.events.codec import dump_json
from callboard.harness import transcripts
from callboard.harness.transcripts import CUT, LARGEST, kept, redacted
from callboard.recording.redaction import REDACTED
from callboard.vendors.claude.extraction import Spoken

SECRETS = {
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "anthropic": "sk-ant-REDACTED-tOkEn",
    "github": "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "slack": "xoxb-123456789012-abcdefghijkl",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
    "ours": "cb_3q2rEvJ8yZ5nXw0aBcDeFgHiJk",
    "key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    "half a key": "-----BEGIN PRIVATE KEY-----\nMIIEow",
}


@pytest.mark.parametrize("name", SECRETS)
def test_secrets_are_left_out(name: str):
    text = redacted(f"It is {SECRETS[name]}")
    assert text == f"It is {REDACTED}"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password=hunter22", f"password={REDACTED}"),
        ('"password": "hunter 22"', f'"password": "{REDACTED}"'),
        ("DB_PASSWORD: 'a b c d'", f"DB_PASSWORD: '{REDACTED}'"),
        ("api_key = abcd1234", f"api_key = {REDACTED}"),
        ("Authorization: Bearer abcdefgh12", f"Authorization: Bearer {REDACTED}"),
        ("postgres://ann:hunter2@db/x", f"postgres://ann:{REDACTED}@db/x"),
    ],
)
def test_what_a_name_gives_away_is_left_out(text: str, left: str):
    assert redacted(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "The password is long.",
        "token: 5",
        "skip the tests",
        "AKIA is a prefix",
        "It needs a basic understanding of bearer authentication.",
        "https://x.org/a:b",
    ],
)
def test_other_words_stay(text: str):
    assert redacted(text) == text


@given(st.text(max_size=200))
def test_redaction_takes_any_text_and_does_nothing_twice(text: str):
    once = redacted(text)
    assert redacted(once) == once


@pytest.mark.parametrize("piece", ["x", "é", "🎉", '"', "\x1b", "\n"])
def test_of_a_long_conversation_the_end_is_kept(piece: str):
    said = [
        Spoken("person", "how it began"),
        Spoken("agent", piece * LARGEST),
        Spoken("person", "the end"),
    ]
    text = kept(said)
    assert len(dump_json(text)) <= LARGEST
    assert text.startswith(CUT)
    assert text.endswith("the end")
    assert "how it began" not in text


def test_only_what_may_be_kept_is_looked_at(monkeypatch: pytest.MonkeyPatch):
    looked_at: list[int] = []

    def look(text: str) -> str:
        looked_at.append(len(text))
        return redacted(text)

    monkeypatch.setattr(transcripts, "redacted", look)
    text = kept([Spoken("call", "x" * 8_000_000, "Write"), Spoken("agent", "the end")])
    assert text.endswith("the end")
    assert sum(looked_at) < 2 * LARGEST


def test_half_a_secret_is_not_kept_where_a_conversation_is_cut():
    key = "-----BEGIN PRIVATE KEY-----\n" + "MIIEow\n" * 500 + "-----END PRIVATE KEY-----\n"
    said = [Spoken("agent", key * 300 + "x" * (LARGEST - 100_000))]
    assert "MIIEow" not in kept(said)


def test_a_conversation_reads_well():
    said = [
        Spoken("person", "Look at it."),
        Spoken("call", '{"command":"ls"}', "Bash"),
        Spoken("result", "a.py \x1b[31m", "Bash"),
        Spoken("refused", "", "submit_decision"),
        Spoken("agent", "There is a.py."),
    ]
    assert kept(said) == (
        "## Person\nLook at it.\n\n"
        '[Bash] {"command":"ls"}\n\n'
        "[result] a.py \\x1b[31m\n\n"
        "## Agent\nThere is a.py."
    )
