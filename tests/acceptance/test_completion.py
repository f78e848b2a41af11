"""Completion in bash, zsh and fish: what is installed, and what the shells are told."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest
from tests.acceptance.cli_process import SCRIPT, CallboardCommand

RC = {"bash": ".bashrc", "zsh": ".zshrc"}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_it_is_installed_once_shown_and_removed(callboard: CallboardCommand, shell: str):
    home = callboard.folder
    settings = home / RC.get(shell, ".none")
    if shell in RC:
        settings.write_text("alias ll='ls -l'")
    told = callboard.here("completion", "install", shell).out
    script = _script(home, shell)
    assert f"Wrote {script}\n" in told
    assert script.read_text() == callboard.here("completion", "show", shell).out
    if shell in RC:
        (before, line) = settings.read_text().splitlines()
        assert before == "alias ll='ls -l'"
        assert f"Added to {settings}:\n  {line}\n" in told
    again = callboard.here("completion", "install", shell).out
    assert again == f"Completion for {shell} is installed. Nothing to change.\n"

    removed = callboard.here("completion", "uninstall", shell).out
    assert f"Removed {script}\n" in removed
    assert not script.exists()
    assert shell not in RC or settings.read_text() == "alias ll='ls -l'\n"
    gone = callboard.here("completion", "uninstall", shell).out
    assert gone == f"Completion for {shell} was not installed.\n"


def _script(home: Path, shell: str) -> Path:
    if shell == "fish":
        return home / ".config" / "fish" / "completions" / "callboard.fish"
    return home / "share" / "callboard" / f"completion.{shell}"


def test_the_shell_is_the_one_people_log_in_with(callboard: CallboardCommand):
    callboard.here("completion", "install", SHELL="/usr/bin/zsh")
    assert (callboard.folder / ".zshrc").exists()
    refused = callboard.here("completion", "install", SHELL="/bin/tcsh", code=2).err
    assert "Name your shell: callboard completion" in refused


def test_settings_behind_a_link_stay_there(callboard: CallboardCommand):
    kept = callboard.folder / "dotfiles"
    kept.write_text("# mine\n")
    kept.chmod(0o640)
    (callboard.folder / ".bashrc").symlink_to(kept)
    callboard.here("completion", "install", "bash")
    assert (callboard.folder / ".bashrc").is_symlink()
    assert kept.read_text().startswith("# mine\n[ -r ")
    assert kept.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("callboard ses", ["sessions"]),
        ("callboard inbox --ful", ["--full"]),
        ("callboard completion un", ["uninstall"]),
        ("callboard completion install z", ["zsh"]),
        ("callboard run fl", ["flows.py"]),
        ("callboard sessions --db x", []),
    ],
)
def test_bash_completes(callboard: CallboardCommand, typed: str, offered: list[str]):
    callboard.here("completion", "install", "bash")
    words = typed.split()
    probe = f"""
        . ~/.bashrc
        COMP_WORDS=({shlex.join(words)}); COMP_CWORD={len(words) - 1}
        _callboard_completion callboard
        compgen -o default -W "${{COMPREPLY[*]}}" -- {shlex.quote(words[-1])}
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "--norc", "-c", probe],
        cwd=callboard.folder,
        env={**callboard.env, "PATH": f"{Path(SCRIPT).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "rror" not in done.stderr
    assert set(offered) <= set(done.stdout.split())


def test_completing_a_command_says_nothing_else(callboard: CallboardCommand):
    """Neither which server is found, nor what is wrong with what was typed so far."""
    env = {"_CALLBOARD_COMPLETE": "bash_complete", "COMP_WORDS": "callboard show --db x --f"}
    done = callboard.start(**env, COMP_CWORD="4")
    out, err = done.communicate(timeout=120)
    assert (out.strip(), err) == ("plain,--file", "")
