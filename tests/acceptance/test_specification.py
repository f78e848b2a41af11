"""The tables of what was specified are complete, and every module and test in them exists."""

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "callboard"
FOLDER = ROOT / "docs" / "reference" / "specification"
PAGES = sorted(page for page in FOLDER.glob("*.md") if page.stem != "index")

DOCUMENTS = ["coding-agents", "interactive", "phases", "react", "status-files"]
REQUIREMENTS = ["Requirement", "Where", "Shown by"]
DIFFERENCES = ["Specified", "Callboard", "Why", "Shown by"]

COUNTS = {"Hook API": 10, "Database": 9, "Human module": 6, "Configuration": 9, "Integration": 8}
"""How many acceptance criteria the document on interactive sessions has under each heading."""


@dataclass(frozen=True)
class Row:
    """One row of a page, with what it names."""

    page: str
    section: str
    cells: tuple[str, ...]

    @property
    def is_requirement(self) -> bool:
        return len(self.cells) == len(REQUIREMENTS)

    @property
    def modules(self) -> list[str]:
        return re.findall(r"`([^`]+)`", self.cells[1]) if self.is_requirement else []

    @property
    def tests(self) -> list[str]:
        return re.findall(r"`([^`]+)`", self.cells[-1])


def rows_of(page: Path) -> list[Row]:
    found: list[Row] = []
    for section in page.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, *lines = section.splitlines()
        table = [_cells(line) for line in lines if line.startswith("| ")]
        assert table[0] in (tuple(REQUIREMENTS), tuple(DIFFERENCES)), f"{page.stem}: {title}"
        assert {len(cells) for cells in table} == {len(table[0])}, f"{page.stem}: {title}"
        found += [Row(page.stem, title, cells) for cells in table[1:]]
    return found


def _cells(line: str) -> tuple[str, ...]:
    return tuple(cell.strip() for cell in line.strip("|").split(" | "))


ROWS = [row for page in PAGES for row in rows_of(page)]
NAMED = sorted({test for row in ROWS for test in row.tests})
MODULES = sorted({module for row in ROWS for module in row.modules})


@functools.cache
def names_in(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inside = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
            names |= {f"{node.name}::{one.name}" for one in inside}
    return names


def test_every_document_has_a_page_with_its_differences():
    assert [page.stem for page in PAGES] == DOCUMENTS
    for page in PAGES:
        rows = [row for row in ROWS if row.page == page.stem]
        assert any(row.is_requirement for row in rows), page.stem
        assert any(row.section == "Deliberate differences" for row in rows), page.stem


def test_every_requirement_names_a_module_and_a_test():
    assert [row.cells[0] for row in ROWS if row.is_requirement and not row.modules] == []
    assert [row.cells[0] for row in ROWS if not row.tests] == []


def test_every_acceptance_criterion_is_there():
    rows = [row for row in ROWS if row.page == "interactive"]
    assert {title: sum(row.section == title for row in rows) for title in COUNTS} == COUNTS


def test_every_module_that_is_named_exists():
    assert [
        one for one in MODULES if not ((SOURCE / one).is_file() or (ROOT / one).is_file())
    ] == []


def test_every_test_that_is_named_exists():
    assert [test for test in NAMED if not _exists(test)] == []


def _exists(test: str) -> bool:
    """pytest's `file::name`, or vitest's `file: title`."""
    file, mark, name = test.partition("::")
    if mark:
        return (ROOT / file).is_file() and name in names_in(ROOT / file)
    file, _, title = test.partition(": ")
    path = ROOT / file
    return path.is_file() and f"('{title}'" in path.read_text(encoding="utf-8")
