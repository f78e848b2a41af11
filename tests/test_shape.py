"""Small files and small functions, or a written reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "callboard"

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50

# "engine/runner.py" or "engine/runner.py:Runner.drive" -> why it is better long.
EXCEPTIONS: dict[str, str] = {}


def source_files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Every function with its qualified name and its length, decorators and docstring included."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            if not isinstance(child, ast.ClassDef):
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)])
                yield name, (child.end_lineno or child.lineno) - first + 1
            yield from functions(child, f"{name}.")
        else:
            yield from functions(child, prefix)


def too_long() -> dict[str, int]:
    found: dict[str, int] = {}
    for path in source_files():
        where = path.relative_to(SOURCE).as_posix()
        text = path.read_text(encoding="utf-8")
        lines = len(text.splitlines())
        if lines > MAX_FILE_LINES:
            found[where] = lines
        for name, length in functions(ast.parse(text)):
            if length > MAX_FUNCTION_LINES:
                found[f"{where}:{name}"] = length
    return found


def test_there_is_something_to_measure():
    assert source_files()


def test_files_and_functions_are_small():
    unexcused = {where: lines for where, lines in too_long().items() if where not in EXCEPTIONS}
    assert unexcused == {}


def test_every_exception_is_needed_and_has_a_reason():
    assert set(EXCEPTIONS) <= set(too_long()), "no longer too long: strike it from the table"
    assert all(len(reason.split()) >= 3 for reason in EXCEPTIONS.values())
