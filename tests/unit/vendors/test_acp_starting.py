"""What is checked before an agent that speaks ACP is started."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from callboard.errors import ValidationError
from callboard.terminals.starting import StartedProcess
from callboard.vendors import acp_starting
from callboard.vendors.acp_starting import DEADLINE_VARIABLE, AcpStart, start_acp


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Mapping[str, object]]:
    """What hosts are told, of which none starts."""
    found: list[Mapping[str, object]] = []

    def start_host(
        words: Sequence[str], told: Mapping[str, object], env: Mapping[str, str]
    ) -> StartedProcess:
        found.append(told)
        return StartedProcess(1, "1")

    monkeypatch.setattr(acp_starting, "start_host", start_host)
    return found


def start(tmp_path: Path, within: str | None) -> None:
    env = {} if within is None else {DEADLINE_VARIABLE: within}
    start_acp(AcpStart([sys.executable], tmp_path, tmp_path), env)


@pytest.mark.parametrize(
    ("given", "seconds"), [(None, None), ("", None), ("90", 90.0), ("1.5", 1.5)]
)
def test_a_person_can_change_the_deadline(
    tmp_path: Path, told: list[Mapping[str, object]], given: str | None, seconds: float | None
):
    start(tmp_path, given)
    assert [one["within"] for one in told] == [seconds]


@pytest.mark.parametrize("given", ["0", "0.0", "-5", "soon", "nan", "inf", "\N{SUPERSCRIPT TWO}"])
def test_a_deadline_that_no_agent_can_meet_is_refused(
    tmp_path: Path, told: list[Mapping[str, object]], given: str
):
    with pytest.raises(ValidationError, match=f"{DEADLINE_VARIABLE}: expected a number of seconds"):
        start(tmp_path, given)
    assert told == []
