"""The coding agents that the board knows."""

import pytest

from callboard.vendors.agents import VENDORS
from callboard.vendors.hook_targets import INSTALLABLE

ID = "01a1e07d-442d-7ed3-8fd8-faeada1b81fc"


def test_there_are_four_and_those_that_speak_acp():
    assert {name: vendor.title for name, vendor in VENDORS.items()} == {
        "claude": "Claude Code",
        "codex": "Codex",
        "gemini": "Gemini CLI",
        "opencode": "opencode",
        "acp": "ACP agent",
    }


def test_hooks_can_be_installed_into_each_that_has_a_transcript():
    assert list(INSTALLABLE) == [one.name for one in VENDORS.values() if not one.is_logged]
    for name, one in INSTALLABLE.items():
        assert (one.title, one.name) == (VENDORS[name].title, VENDORS[name].resuming[0])


@pytest.mark.parametrize(
    ("agent", "command"),
    [
        ("claude", ["claude", "--resume", ID]),
        ("codex", ["codex", "resume", ID]),
        ("gemini", ["gemini", "--resume", ID]),
        ("opencode", ["opencode", "--session", ID]),
    ],
)
def test_a_session_is_taken_up_again(agent: str, command: list[str]):
    assert VENDORS[agent].resume(ID) == command


@pytest.mark.parametrize("agent", sorted(VENDORS))
@pytest.mark.parametrize("id", ["", "--dangerously-skip", "-c", "pending:abc", "a b", "a;b", "a\n"])
def test_what_is_no_session_id_gets_into_no_command(agent: str, id: str):
    assert VENDORS[agent].resume(id) == []
