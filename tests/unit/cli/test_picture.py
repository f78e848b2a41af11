"""The picture of a workflow, as it is drawn."""

from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.cli.canvas import Canvas, Segment, cells, fit
from callboard.cli.picture import Path, picture
from callboard.engine.offers import PhaseInfo

REVIEW = [
    PhaseInfo("plan", "planner", human=True, leads_to=("write", "plan")),
    PhaseInfo("write", "writer", leads_to=("review",)),
    PhaseInfo("review", "reviewer", human=True, leads_to=("plan", "write", "publish")),
    PhaseInfo("publish", "publish", terminal=True, leads_to=()),
]
WRITING = Path(
    visits={"plan": 2, "write": 2, "review": 1},
    edges={
        ("plan", "plan"): 1,
        ("plan", "write"): 1,
        ("write", "review"): 1,
        ("review", "write"): 1,
    },
    here="write",
)


def drawn(lines: list[list[Segment]]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def golden(text: str) -> str:
    return dedent(text).strip("\n")


def test_a_session_on_its_way():
    assert drawn(picture(REVIEW, WRITING, 80)) == golden("""
        ┌─────────────────────┐
        │ ✓ plan           2× │◄━━┓
        │   planner · ◆ asks  ┝━━━┩
        └─────────────────────┘   ┆
                   ▼              ┆
        ┏━━━━━━━━━━━━━━━━━━━━━┓   ┆
        ┃ ● write          2× ┃◄┓ ┆
        ┃   writer            ┃ ┃ ┆
        ┗━━━━━━━━━━━━━━━━━━━━━┛ ┃ ┆
                   ▼            ┃ ┆
        ┌─────────────────────┐ ┃ ┆
        │ ✓ review            │ ┃ ┆
        │   reviewer · ◆ asks ┝━┹┄┘
        └─────────────────────┘
                   ▽
        ┌┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┐
        ┆ ○ publish           ┆
        ┆   ■                 ┆
        └┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┘
        ━ path taken   ┄ not taken   ◆ asks a person   ■ ends the workflow
    """)


def test_a_terminal_that_knows_only_ascii():
    assert drawn(picture(REVIEW, WRITING, 80, unicode=False)) == golden("""
        +---------------------+
        | + plan           2x |<==#
        |   planner - ? asks  #===#
        +---------------------+   :
                   V              :
        #=====================#   :
        # * write          2x #<# :
        #   writer            # # :
        #=====================# # :
                   V            # :
        +---------------------+ # :
        | + review            | # :
        |   reviewer - ? asks #=#..
        +---------------------+
                   v
        .......................
        : o publish           :
        :   #                 :
        .......................
        = path taken   . not taken   ? asks a person   # ends the workflow
    """)


def test_a_lane_that_is_only_crossed_is_not_joined():
    fan = [
        PhaseInfo("a", leads_to=("b", "c", "d")),
        PhaseInfo("b", leads_to=("d",)),
        PhaseInfo("c", leads_to=("d", "a")),
        PhaseInfo("d", terminal=True, leads_to=()),
    ]
    path = Path({"a": 2, "c": 2, "d": 1}, {("a", "c"): 2, ("c", "a"): 1, ("c", "d"): 1})
    assert drawn(picture(fan, path, 80)) == golden("""
        ┌────────────┐
        │ ✓ a     2× │◄━━┓
        │            ┝━┱┄┃┄┐
        └────────────┘ ┃ ┃ ┆
               ▽       ┃ ┃ ┆
        ┌┄┄┄┄┄┄┄┄┄┄┄┄┐ ┃ ┃ ┆
        ┆ ○ b        ┆ ┃ ┃ ┆
        ┆            ├┄┃┄┃┄┤
        └┄┄┄┄┄┄┄┄┄┄┄┄┘ ┃ ┃ ┆
                       ┃ ┃ ┆
        ┌────────────┐ ┃ ┃ ┆
        │ ✓ c     2× │◄┛ ┃ ┆
        │            ┝━━━┛ ┆
        └────────────┘     ┆
               ▼           ┆
        ┌────────────┐     ┆
        │ ✓ d        │◁┄┄┄┄┘
        │   ■        │
        └────────────┘
        ━ path taken   ┄ not taken   ■ ends the workflow
    """)


def test_where_the_session_failed_and_a_phase_that_is_gone():
    path = Path({"old": 1, "work": 1}, {("old", "work"): 1}, failed="work")
    assert drawn(picture([PhaseInfo("work", "worker", leads_to=None)], path, 80)) == golden("""
        ┏━━━━━━━━━━━━━━━━┓
        ┃ ✗ work         ┃◄┓
        ┃   worker · → ? ┃ ┃
        ┗━━━━━━━━━━━━━━━━┛ ┃
                           ┃
        ┌────────────────┐ ┃
        │ ✓ old          │ ┃
        │   → ?          ┝━┛
        └────────────────┘
        ━ path taken   ┄ not taken   → ? decided as it runs
    """)


def test_a_phase_that_was_skipped_is_not_shown_as_done():
    path = Path(visits={"plan": 1, "write": 1}, edges={("plan", "write"): 1}, skipped={"plan"})
    lines = drawn(picture(REVIEW, path, 80)).splitlines()
    assert lines[1].startswith("┆ ⊘ plan")
    assert lines[6].startswith("│ ✓ write")
    assert "⊘ skipped" in lines[-1]


def test_a_narrow_terminal_gets_the_same_in_words():
    assert drawn(picture(REVIEW, WRITING, 16)) == golden("""
        ✓ plan  2×
          planner · ◆ a…
          → write
          → plan
        ● write  2×
          writer
          → review
        ✓ review
          reviewer · ◆ …
          → plan
          → write
          → publish
        ○ publish
          ■
        ━ path taken
        ┄ not taken
        ◆ asks a person
        ■ ends the work…
    """)


def test_what_was_taken_and_what_was_not_differ_in_style_too():
    styles = {style for line in picture(REVIEW, WRITING, 80) for _, style in line}
    assert {"done", "here", "faint"} <= styles


NAMES = st.text(st.characters(categories=["L", "M", "N", "So"]), min_size=1, max_size=12)


@st.composite
def workflows(draw: st.DrawFn) -> tuple[list[PhaseInfo], Path]:
    names = draw(st.lists(NAMES, min_size=1, max_size=7, unique=True))
    one = st.sampled_from(names)
    shapes = [
        PhaseInfo(name, draw(NAMES), draw(st.booleans()), False, tuple(draw(st.sets(one))))
        for name in names
    ]
    edges = draw(st.dictionaries(st.tuples(one, one), st.integers(1, 20)))
    visits = draw(st.dictionaries(one, st.integers(1, 2000)))
    return shapes, Path(visits, edges, draw(one))


@given(workflows(), st.integers(4, 100), st.booleans())
def test_it_is_never_wider_than_the_terminal(
    drawn_from: tuple[list[PhaseInfo], Path], width: int, unicode: bool
):
    lines = picture(*drawn_from, width, unicode=unicode)
    assert all(cells("".join(text for text, _ in line)) <= width for line in lines)


@pytest.mark.parametrize(("width", "shown"), [(5, "abcde"), (4, "abc…"), (1, "…")])
def test_what_is_too_long_is_cut_off(width: int, shown: str):
    assert fit("abcde", width) == shown


def test_wide_characters_and_accents_keep_their_columns():
    canvas = Canvas()
    canvas.text(0, 0, "次e\u0301.")
    canvas.text(1, 0, "1234")
    assert drawn(canvas.lines()) == "次e\u0301.\n1234"


def test_lines_join_where_they_meet():
    canvas = Canvas()
    canvas.vertical(2, 0, 2, "light")
    canvas.horizontal(1, 0, 4, "heavy")
    assert drawn(canvas.lines()) == "  ╷\n╺━┿━╸\n  ╵"
