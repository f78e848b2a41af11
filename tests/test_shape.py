"""Small files and small functions, names that mean one thing, and no module without a reason."""

import ast
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "callboard"

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
SMALL_MODULE_LINES = 60
MAX_MODULES_PER_1000_LINES = 8.3
# The word `Any` in code, imports included, for each 1,000 lines of a package; "" is everything.
# Lower them whenever that can be done, to 8 for everything and 2 for the others.
MAX_ANY_PER_1000_LINES = {"": 8.0, "log": 2.0, "engine": 2.0, "drivers": 2.0, "server": 2.0}

# "engine/runner.py" or "engine/runner.py:Runner.drive" -> why it is better long.
EXCEPTIONS: dict[str, str] = {}
# A small module with one importer -> why it is a module of its own.
ALONE: dict[str, str] = {
    "board.coding_agents": "app chooses the log, and each part of a board is put together here",
    "testing.log_suite_tokens": "each part of the log's contract is a module",
    "client.statistics": "a client has one module for each part of a board",
    "server.routes.statistics": "routes have one module for each resource",
    "cli.console": "it imports rich, which most output does not need",
    "vendors.claude.sidechains": "subagents of older versions, apart from what all versions write",
    "vendors.codex.subagents": "which transcripts are of subagents, apart from what is in them",
    "vendors.steering_table": "a client's ways are imported when it is first steered",
    "client.coding_agents": "what a client has is in one place, as in `board.coding_agents`",
    "client.changes": "each part of the board has its client",
    "client.usage": "each part of the board has its client",
    "server.routes.usage": "routes have one module for each resource",
    "client.limits": "each part of the board has its client",
    "client.tokens": "each part of the board has its client",
    "server.routes.limits": "routes have one module for each resource",
    "server.routes.hosts": "routes have one module for each resource",
    "server.routes.status": "routes have one module for each resource",
    "log.postgres.owners": "each part of a log's contract has its module",
    "events.standard_json": "a relay runs without installed packages",
    "client.starting": "each part of the board has its client",
    "server.routes.starting": "routes have one module for each resource",
    "terminals.host_process": "it is run as a program",
    "vendors.gemini.transcript": "what a client writes is read in its own package",
    "vendors.claude.prompt_box": "each client draws its box in its own way",
    "vendors.codex.prompt_box": "each client draws its box in its own way",
    "vendors.gemini.prompt_box": "each client draws its box in its own way",
    "vendors.conversations": "relays import the readers only when one is needed",
}


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


def public_classes() -> dict[str, list[str]]:
    """The name of every public class, and the modules that have one."""
    found: dict[str, list[str]] = {}
    for path in source_files():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append(path.relative_to(SOURCE).as_posix())
    return found


def test_a_public_class_has_a_name_of_its_own():
    assert {name: at for name, at in public_classes().items() if len(at) > 1} == {}


def modules() -> dict[str, Path]:
    """Every module but packages, by its dotted name."""
    root = SOURCE.parent
    return {
        ".".join(path.relative_to(root).with_suffix("").parts): path
        for path in source_files()
        if path.name not in ("__init__.py", "__main__.py")
    }


def importers() -> dict[str, set[Path]]:
    """Who imports each module, at the top or inside of a function."""
    known = modules()
    found: dict[str, set[Path]] = {name: set() for name in known}
    for path in source_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [f"{node.module}.{one.name}" for one in node.names]
                for name in {one if one in known else node.module for one in names} & set(known):
                    found[name].add(path)
    return found


def small_and_alone() -> set[str]:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules().items()}
    return {
        name.removeprefix("callboard.")
        for name, who in importers().items()
        if len(who) == 1 and lengths[name] <= SMALL_MODULE_LINES
    }


def test_a_small_module_has_several_users_or_a_reason():
    assert small_and_alone() == set(ALONE)
    assert all(len(reason.split()) >= 3 for reason in ALONE.values())


def test_there_are_not_too_many_modules():
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in source_files())
    assert len(source_files()) * 1000 < MAX_MODULES_PER_1000_LINES * lines


def test_only_systems_and_the_hook_client_read_proc():
    allowed = (SOURCE / "systems", SOURCE / "courier")
    others = [one for one in source_files() if not any(map(one.is_relative_to, allowed))]
    assert [str(one) for one in others if "/proc/" in one.read_text(encoding="utf-8")] == []


def words(path: Path) -> Iterator[str]:
    """The names in a file's code, not those in its texts and comments."""
    with tokenize.open(path) as file:
        for token in tokenize.generate_tokens(file.readline):
            if token.type == tokenize.NAME:
                yield token.string


def any_per_1000_lines(package: str) -> float:
    files = sorted((SOURCE / package).rglob("*.py"))
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files)
    return sum(word == "Any" for path in files for word in words(path)) * 1000 / lines


def test_types_say_what_is_meant():
    found = {package: any_per_1000_lines(package) for package in MAX_ANY_PER_1000_LINES}
    assert {
        package or "all": round(rate, 2)
        for package, rate in found.items()
        if rate >= MAX_ANY_PER_1000_LINES[package]
    } == {}


def test_any_has_no_other_name():
    aliases = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in source_files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and isinstance(node.value, ast.Name)
        and node.value.id == "Any"
    ]
    assert aliases == []
