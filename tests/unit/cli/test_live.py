"""The live view: what is printed as a session goes on."""

import asyncio
from io import StringIO
from textwrap import dedent

from tests.unit.cli.scenes import BOOM, RUN, Story

from callboard.cli.live import Live
from callboard.cli.screen import Screen
from callboard.events import names

SPEECH = {"agent": "planner", "run": "plan#1", "attempt": 1}


def watching(*, asks_here: bool = False) -> tuple[Live, StringIO]:
    out = StringIO()
    return Live(Screen(out), asks_here=asks_here), out


def told(story: Story, *, asks_here: bool = False) -> str:
    live, out = watching(asks_here=asks_here)
    for event in story.events:
        live.tell(event)
    live.rest()
    return out.getvalue()


def golden(text: str) -> str:
    return dedent(text).lstrip("\n").replace("~", " ")


class Terminalless(StringIO):
    """A stream that can write everything."""

    encoding = "utf-8"


def test_a_whole_session_is_told_line_by_line():
    story = Story().enter().start()
    story.then(1, names.PHASE_FAILED, **RUN, error=BOOM, retryInMs=2000)
    story.start(attempt=2).complete(1.5).ask(prompt="Go?\n- there", type="approval")
    story.then(3, names.RECEIVED, id="q1", value="no", approved=False, by="ann", via="cli")
    story.enter("plan", 2).ask("q2", type="choice", prompt="How?", options=["By train", "By\x07"])
    story.then(9, names.EXPIRED, id="q2", value="By train", timedOut=True)
    story.enter("book").leave("book", reason="skipped", next="end").enter("end")
    story.then(0, names.COMPLETED, exitPhase="end")
    assert told(story) == golden(r"""
        trip  session s1
        > plan
          - planner works
          x ValueError: boom  again in 2.0 s
          - planner works, attempt 2
          + planner  1.5 s
          ? Go?
            - there
          + answered: no  by ann  via cli
        > plan  (visit 2)
          ? How?
            1. By train
            2. By\x07
          - timed out without an answer: By train is taken
        > book
          - skipped
        > end
        + completed  16 s
    """)


def test_what_agents_say_is_kept_apart_and_made_visible():
    story = Story().enter().start()
    story.then(0, names.THINKING_DELTA, **SPEECH, delta="hm")
    story.then(0, names.TEXT_DELTA, **SPEECH, delta="Day 1\n")
    story.then(0, names.TEXT_DELTA, **SPEECH, delta="\x1b[2JDay 2")
    story.then(0, names.TEXT_DELTA, **{**SPEECH, "run": "other#1"}, delta="me too\n")
    story.then(0, names.TOOL_CALLED, **SPEECH, toolId="t", toolName="search", input={"q": "x"})
    story.then(0, names.TOOL_RESULT, **SPEECH, toolId="t", output="no net", isError=True)
    story.then(0, names.EMITTED, **SPEECH, name="progress", data=0.5)
    assert told(story) == golden(r"""
        trip  session s1
        > plan
          - planner works
            | hm
            | Day 1
            | \x1b[2JDay 2
            | me too
            -> search {"q":"x"}
            x no net
            - progress: 0.5
    """)


def test_the_ends_and_the_pauses():
    story = Story().enter().start().then(0, names.PAUSING, reason="lunch")
    story.then(0, names.AGENT_INTERRUPTED, **RUN, reason="paused").then(0, names.PAUSED)
    story.then(0, names.RESUMED).start(attempt=2)
    story.then(0, names.AGENT_INTERRUPTED, **RUN, reason="crashed")
    story.ask().then(0, names.INPUT_CANCELLED, id="q1", reason="over")
    story.then(0, names.TASK_STARTED, taskId="t", title="Look", kind="x")
    assert told(story.then(0, names.CANCELLED, reason="enough")).split("\n", 3)[3] == golden("""
        = pausing: lunch
          - planner was interrupted
        = paused
        > resumed
          - planner works, attempt 2
          - planner was lost when its process ended
          ? Go?
          - the question was withdrawn: over
          - task started: Look
        - cancelled: enough
    """)
    assert told(Story().then(0, names.FAILED, error=BOOM)).endswith("x failed\n")
    forked = Story().then(0, names.FORKED, workflow="trip", parentSessionId="s0", forkPosition=4)
    assert "forked from s0 at position 4\n" in told(forked)


def test_an_interactive_session_is_held_elsewhere_and_told_here():
    story = Story().enter().ask(type="interactive_session", prompt="Look at it")
    story.then(0, names.TASK_STARTED, taskId="q1", title="…", kind="human_interactive")
    story.then(0, names.INPUT_FAILED, id="q1", error="no \x1bagent", outcome="failed")
    for here in (False, True):
        assert told(story, asks_here=here).split("\n")[2:] == [
            "  ? Look at it",
            "  x the session failed: no \\x1bagent",
            "",
        ]


def test_a_prompt_on_the_screen_shows_its_question_itself():
    story = Story().enter().ask().then(0, names.RECEIVED, id="q1", value="yes", via="handler")
    assert "Go?" not in told(story, asks_here=True)
    assert "answered" not in told(story, asks_here=True)


async def test_a_question_waits_until_all_before_it_is_told_and_the_rest_waits_for_it():
    live, out = watching(asks_here=True)
    start, *rest = Story().enter().ask().enter("book").events
    asking = asyncio.create_task(live.reached("q1"))
    await asyncio.sleep(0)
    assert not asking.done()
    live.tell(start)
    for event in rest[:2]:
        live.tell(event)
    await asking
    live.hold()
    live.tell(rest[2])
    assert "book" not in out.getvalue()
    live.release()
    assert out.getvalue().endswith("> book\n")


def test_signs_are_drawn_where_the_terminal_can():
    out = Terminalless()
    live = Live(Screen(out))
    for event in Story().enter().start().complete().events:
        live.tell(event)
    assert out.getvalue().endswith("▸ plan\n  · planner works\n  ✓ planner  2.0 s\n")
