"""The table of acceptance criteria is complete, and every test that it names exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "interactive-acceptance.md"

COUNTS = {"Hook API": 10, "Database": 9, "Human module": 6, "Configuration": 9, "Integration": 8}
"""How many criteria the design has under each heading."""


def criteria() -> dict[str, dict[str, list[str]]]:
    """Heading → criterion → what shows it."""
    found: dict[str, dict[str, list[str]]] = {}
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, *lines = section.splitlines()
        rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
        found[title] = {row[0]: re.findall(r"`([^`]+)`", row[1]) for row in rows[1:]}
    return found


NAMED = sorted({test for rows in criteria().values() for tests in rows.values() for test in tests})


def names_in(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            inside = [n for n in node.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
            names |= {f"{node.name}::{one.name}" for one in inside}
    return names


def test_every_criterion_is_there_and_has_a_test():
    found = criteria()
    assert {title: len(found[title]) for title in COUNTS} == COUNTS
    assert all(tests for rows in found.values() for tests in rows.values())


@pytest.mark.parametrize("named", NAMED)
def test_a_test_that_is_named_exists(named: str):
    if "::" in named:
        file, _, name = named.partition("::")
        assert name in names_in(ROOT / file)
    else:
        file, _, title = named.partition(": ")
        assert f"it('{title}'" in (ROOT / file).read_text(encoding="utf-8")
