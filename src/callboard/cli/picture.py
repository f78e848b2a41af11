"""A picture of a workflow with the path that a session took through it.

Phases are below each other, in order. An arrow to the next one goes straight down; the others run
next to the boxes, in one lane for each target phase. Heavy lines were taken, dashed ones not. Pure:
what it draws is in its arguments.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from callboard.cli.canvas import Canvas, Segment, Stroke, cells, fit
from callboard.cli.format import ASCII, Signs
from callboard.engine.offers import PhaseInfo

Edge = tuple[str, str]

_ROWS = 5
"""A box has four rows, with one below it for the arrow."""
_LANE = 2
_NARROWEST = 14


@dataclass(frozen=True, slots=True)
class Path:
    """A session's path: visits by phase, edges with their counts, and the current phase.

    skipped: the phases that did nothing in any of their visits.
    """

    visits: Mapping[str, int]
    edges: Mapping[Edge, int]
    here: str | None = None
    failed: str | None = None
    skipped: Collection[str] = ()


def picture(
    phases: Sequence[PhaseInfo], path: Path, width: int, *, unicode: bool = True
) -> list[list[Segment]]:
    """Draw the workflow in at most `width` columns, as lines of styled segments."""
    marks = Signs() if unicode else ASCII
    shown = _with_strangers(phases, path)
    drawing = _Drawing(shown, path, marks, Canvas(unicode=unicode))
    lines = drawing.draw(width) if drawing.fits(width) else _listing(shown, path, marks, width)
    return [*lines, *_legend(shown, path, marks, width)]


def _with_strangers(phases: Sequence[PhaseInfo], path: Path) -> list[PhaseInfo]:
    """The phases, followed by those that the session saw and the workflow no longer has."""
    known = {phase.name for phase in phases}
    return [*phases, *(PhaseInfo(name) for name in path.visits if name not in known)]


def _edges(phases: Sequence[PhaseInfo], path: Path) -> list[Edge]:
    """Where each phase can lead, and where it did, in the order of the phases."""
    names = {phase.name for phase in phases}
    possible = [(phase.name, to) for phase in phases for to in phase.leads_to or ()]
    both = dict.fromkeys([*possible, *path.edges])
    return [edge for edge in both if edge[0] in names and edge[1] in names]


def _look(phase: PhaseInfo, path: Path, marks: Signs) -> tuple[str, str]:
    """A phase's sign, and the style of its box."""
    if phase.name == path.failed:
        return marks.failed, "failed"
    if phase.name == path.here:
        return marks.here, "here"
    if phase.name in path.skipped:
        return marks.off, "faint"
    return (marks.done, "done") if path.visits.get(phase.name) else (marks.ahead, "faint")


def _title(phase: PhaseInfo, path: Path, marks: Signs) -> tuple[str, str]:
    """The first line of a phase: its left and right parts."""
    count = path.visits.get(phase.name, 0)
    name = f"{_look(phase, path, marks)[0]} {phase.name}"
    return name, f"{count}{marks.times}" if count > 1 else ""


def _details(phase: PhaseInfo, marks: Signs) -> str:
    """The second line of a phase."""
    known = [phase.agent] if phase.agent and phase.agent != phase.name else []
    if phase.human:
        known.append(f"{marks.human} asks")
    if phase.terminal:
        known.append(marks.end)
    elif phase.leads_to is None:
        known.append(f"{marks.arrow} ?")
    return f" {marks.dot} ".join(known)


@dataclass(frozen=True, slots=True)
class _Net:
    """All edges into one phase that run next to the boxes. They share a lane."""

    target: int
    sources: tuple[int, ...]

    @property
    def span(self) -> tuple[int, int]:
        rows = [_in_row(self.target), *(_out_row(source) for source in self.sources)]
        return min(rows), max(rows)


def _in_row(index: int) -> int:
    return index * _ROWS + 1


def _out_row(index: int) -> int:
    return index * _ROWS + 2


def _lanes(nets: Sequence[_Net]) -> dict[int, int]:
    """Target → lane, counted from the boxes: short ones inside, without overlaps."""
    taken: list[list[tuple[int, int]]] = []
    lanes: dict[int, int] = {}
    for net in sorted(nets, key=lambda net: net.span[1] - net.span[0]):
        top, bottom = net.span
        free = (i for i, spans in enumerate(taken) if all(b < top or bottom < a for a, b in spans))
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append(net.span)
        lanes[net.target] = lane
    return lanes


class _Drawing:
    def __init__(
        self, phases: Sequence[PhaseInfo], path: Path, marks: Signs, canvas: Canvas
    ) -> None:
        self._phases = phases
        self._path = path
        self._marks = marks
        self._canvas = canvas
        self._place = {phase.name: index for index, phase in enumerate(phases)}
        self._edges = _edges(phases, path)
        self._nets = self._find_nets()
        self._lane_of = _lanes(self._nets)
        self._beside = _LANE * (max(self._lane_of.values(), default=-1) + 1) + bool(self._nets)
        self._width = 0

    def _find_nets(self) -> list[_Net]:
        sources: dict[int, list[int]] = {}
        for source, target in self._edges:
            if self._place[target] != self._place[source] + 1:
                sources.setdefault(self._place[target], []).append(self._place[source])
        return [_Net(target, tuple(given)) for target, given in sources.items()]

    def fits(self, width: int) -> bool:
        return width - self._beside >= _NARROWEST

    def draw(self, width: int) -> list[list[Segment]]:
        self._width = min(max(map(self._wanted, self._phases)) + 4, width - self._beside)
        for index, phase in enumerate(self._phases):
            self._box(index, phase)
        for index in range(len(self._phases) - 1):
            self._straight(index)
        for net in self._nets:
            self._arrive(net)
        for index in range(len(self._phases)):
            self._leave(index)
        return self._canvas.lines()

    def _wanted(self, phase: PhaseInfo) -> int:
        name, count = _title(phase, self._path, self._marks)
        return max(
            cells(name) + (cells(count) + 2 if count else 0),
            cells(_details(phase, self._marks)) + 2,
            _NARROWEST - 4,
        )

    def _box(self, index: int, phase: PhaseInfo) -> None:
        row, inside, more = index * _ROWS, self._width - 4, self._marks.more
        _, style = _look(phase, self._path, self._marks)
        strokes: dict[str, Stroke] = {"faint": "dashed", "done": "light"}
        self._canvas.box(row, 0, self._width, strokes.get(style, "heavy"), style)
        name, count = _title(phase, self._path, self._marks)
        room = inside - (cells(count) + 1 if count else 0)
        self._canvas.text(row + 1, 2, fit(name, room, more), style)
        self._canvas.text(row + 1, 2 + inside - cells(count), count, style)
        details = fit(_details(phase, self._marks), inside - 2, more)
        self._canvas.text(row + 2, 4, details, "faint")

    def _stroke(self, source: int, target: int) -> tuple[Stroke, str]:
        edge = (self._phases[source].name, self._phases[target].name)
        return ("heavy", "done") if self._path.edges.get(edge) else ("dashed", "faint")

    def _straight(self, index: int) -> None:
        if (self._phases[index].name, self._phases[index + 1].name) in self._edges:
            stroke, style = self._stroke(index, index + 1)
            head = self._marks.down if stroke == "heavy" else self._marks.down_not_taken
            self._canvas.text(index * _ROWS + _ROWS - 1, self._width // 2, head, style)

    def _column(self, target: int) -> int:
        return self._width + 1 + _LANE * self._lane_of[target]

    def _crossed(self, row: int, own: set[int]) -> set[int]:
        """The columns of lanes that a row only crosses."""
        return {
            self._column(net.target)
            for net in self._nets
            if net.target not in own and net.span[0] <= row <= net.span[1]
        }

    def _arrive(self, net: _Net) -> None:
        row, column = _in_row(net.target), self._column(net.target)
        strokes = [self._stroke(source, net.target) for source in net.sources]
        stroke, style = max(strokes)  # "heavy" comes after "dashed".
        under = self._crossed(row, {net.target})
        self._canvas.horizontal(row, self._width, column, stroke, style, under)
        head = self._marks.back if stroke == "heavy" else self._marks.back_not_taken
        self._canvas.text(row, self._width, head, style)
        for source, (stroke, style) in zip(net.sources, strokes, strict=True):
            top, bottom = sorted((row, _out_row(source)))
            self._canvas.vertical(column, top, bottom, stroke, style)

    def _leave(self, index: int) -> None:
        own = {net.target for net in self._nets if index in net.sources}
        row = _out_row(index)
        under = self._crossed(row, own)
        for target in own:
            stroke, style = self._stroke(index, target)
            column = self._column(target)
            self._canvas.horizontal(row, self._width - 1, column, stroke, style, under)


def _listing(
    phases: Sequence[PhaseInfo], path: Path, marks: Signs, width: int
) -> list[list[Segment]]:
    """The same as text, if there is no room for lanes."""
    edges = _edges(phases, path)
    lines: list[list[Segment]] = []
    for phase in phases:
        _, style = _look(phase, path, marks)
        title = "  ".join(part for part in _title(phase, path, marks) if part)
        lines.append([(fit(title, width, marks.more), style)])
        details = _details(phase, marks)
        if details:
            lines.append([(fit(f"  {details}", width, marks.more), "faint")])
        for source, target in edges:
            if source == phase.name:
                style = "done" if path.edges.get((source, target)) else "faint"
                lines.append([(fit(f"  {marks.arrow} {target}", width, marks.more), style)])
    return lines


def _legend(
    phases: Sequence[PhaseInfo], path: Path, marks: Signs, width: int
) -> list[list[Segment]]:
    words = [f"{marks.taken} path taken", f"{marks.not_taken} not taken"]
    if path.skipped:
        words.append(f"{marks.off} skipped")
    if any(phase.human for phase in phases):
        words.append(f"{marks.human} asks a person")
    if any(phase.terminal for phase in phases):
        words.append(f"{marks.end} ends the workflow")
    if any(phase.leads_to is None and not phase.terminal for phase in phases):
        words.append(f"{marks.arrow} ? decided as it runs")
    line = "   ".join(words)
    lines = [line] if cells(line) <= width else words
    return [[(fit(one, width, marks.more), "faint")] for one in lines]
