"""The command itself: which commands there are, and that asking for them costs little."""

import subprocess
import sys
from importlib import import_module

import pytest

from callboard.cli.main import ELSEWHERE, SECTIONS, run_command

COMMANDS = {name: said for section in SECTIONS.values() for name, said in section.items()}
USUAL = {"--db", "--json", "--debug"}
LACKING = {
    "attach": {"--json"},  # It shows a terminal.
    "board": {"--json"},  # For people; `plates` is for programs.
    "mcp": {"--json"},  # It speaks a protocol of its own.
    "notify": {"--db"},  # A message needs no database.
    "watch": {"--json", "--debug"},  # It gets out of the way of what it starts,
    "hook": {"--json", "--debug"},  # and a hook prints nothing, whatever happens.
    "copy": {"--db"},  # It has two databases.
    "completion": {"--db"},  # The shell's settings need no database either.
    "demo": USUAL,  # They only have commands of their own.
    "task": USUAL,
    "relay": USUAL,  # It becomes a process of its own, which has no database.
}
HEAVY = {"asyncio", "pydantic", "rich", "questionary", "platformdirs", "orjson", "sqlite3"}


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_says_of_itself_what_the_table_says_of_it(name: str):
    command = import_module(f"callboard.cli.commands.{name}").command
    assert command.name == name
    assert command.help.split("\n")[0] == COMMANDS[name]
    options = {o for p in command.params for o in p.opts}
    assert USUAL & options == USUAL - LACKING.get(name, set())


def test_help_lists_every_command_and_imports_none_of_what_they_need():
    script = (
        "import sys; from callboard.cli.main import run_command; code = run_command(['--help']);"
        "print(code, *sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env={}
    )
    *said, last = done.stdout.splitlines()
    code, *modules = last.split()
    assert code == "0"
    assert {line.split()[0] for line in said if line.startswith("  ")} >= set(COMMANDS)
    assert not HEAVY & set(modules)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["shwo"], "There is no command 'shwo'. Did you mean 'show'?"),
        (["sesions"], "Did you mean 'sessions'?"),
        (["frobnicate"], "There is no command 'frobnicate'.\n"),
        (["plans"], "Did you mean 'plan'?"),
        (["statesman"], "There is no command 'statesman'.\n"),
        (["delete"], "There is no command 'delete'. `callboard prune` deletes old sessions; "),
        (["rm"], "`callboard prune` deletes"),
        (["ls"], "`callboard sessions` lists"),
        (["logs"], "`callboard show ID`"),
        (["approve", "k7w"], "`callboard answer ID yes`"),
        (["--what"], "No such option"),
        (["show"], "Missing argument 'ID'"),
        (["state", "abcd", "--at", "-1"], "-1 is not in the range"),
        (["state", "abcd", "--at", "x"], "'x' is not a whole number."),
        (["token"], "Choose from: create, list, revoke"),
    ],
)
def test_wrong_use_is_told_and_leaves_with_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    assert run_command(arguments) == 2
    assert said in capsys.readouterr().err


def test_what_is_suggested_for_other_tools_words_are_our_commands():
    for word, (command, _) in ELSEWHERE.items():
        assert word not in COMMANDS
        assert command.split()[0] in COMMANDS


def test_without_a_command_it_says_what_there_is(capsys: pytest.CaptureFixture[str]):
    assert run_command([]) == 2
    shown = capsys.readouterr()
    assert shown.err.count("Usage: callboard") == 1
    assert "error:" not in shown.err


def test_its_version_is_the_packages(capsys: pytest.CaptureFixture[str]):
    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out.startswith("callboard 0.")
