"""Pictures of results, all with the same look."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import progress

OURS, THEIRS, OTHERS, QUIETER = "#1d4ed8", "#c2410c", "#15803d", "#a3a3a3"
"""The colours of sides; Callboard's is always the first."""


def draw(
    file: Path,
    paint: Callable[..., None],
    columns: int = 1,
    size: tuple[float, float] = (8, 4.2),
) -> None:
    """Write a picture; `paint` gets its axes, from left to right."""
    try:
        import matplotlib
    except ImportError:
        progress(f"  matplotlib is not installed: {file.name} is not drawn")
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (row,) = pyplot.subplots(1, columns, figsize=size, dpi=150, squeeze=False)
    paint(*row)
    for axes in row:
        axes.grid(visible=True, which="both", alpha=0.2)
        axes.set_axisbelow(True)
    figure.tight_layout()
    figure.savefig(file)
    pyplot.close(figure)


def curve(axes: Any, points: dict[int, float], label: str, colour: str) -> None:
    """A line through points, each of which was measured; a single one is a point."""
    across = sorted(points)
    values = [points[one] for one in across]
    axes.plot(across, values, label=label, color=colour, linewidth=1.4, marker="o", markersize=4)


def logarithmic(axes: Any, across: list[int] | None = None) -> None:
    """Logarithmic scales with plain numbers; across, only these."""
    from matplotlib import ticker

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    if across is not None:
        axes.set_xscale("log", base=2)
        axes.set_xticks(across, [str(one) for one in across])
        axes.xaxis.set_minor_locator(ticker.NullLocator())
