"""Output to a pipe is written without rich, and reads as if rich had printed it."""

from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from callboard.cli.screen import STYLES, Screen

PARTS = st.lists(st.text() | st.tuples(st.text(), st.sampled_from([*STYLES, "unknown"])))


@given(PARTS)
def test_a_pipe_gets_what_a_console_would_print(parts: list[str | tuple[str, str]]):
    quick, slow = StringIO(), StringIO()
    Screen(quick).line(*parts)
    Screen(quick).add(*parts)
    screen = Screen(slow)
    screen.console.print(screen.styled(*parts), soft_wrap=True)
    screen.console.print(screen.styled(*parts), end="", soft_wrap=True)
    assert quick.getvalue() == slow.getvalue()


def test_a_pipe_can_be_treated_as_a_terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    out = StringIO()
    Screen(out).line(("Ready", "done"))
    assert out.getvalue() == "\x1b[32mReady\x1b[0m\n"
