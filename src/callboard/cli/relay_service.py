"""The relay of this machine as a user service."""

import sys

from callboard.cli.exit import DONE, FAILED
from callboard.cli.invocation import program
from callboard.cli.printing import print_json
from callboard.cli.relay_place import relay_folder
from callboard.cli.relay_state import RelayState, describe, is_running, relay_state
from callboard.cli.screen import Screen
from callboard.cli.service_files import install, tell_removed, uninstall
from callboard.cli.service_units import RELAY, ServiceCommand
from callboard.cli.supervisors import Launchd, Systemd, supervisor
from callboard.relay.settings import read_settings


def do(action: str, as_json: bool) -> int:
    """Do what `callboard service ACTION --relay` asks for; returns the exit code."""
    keeper = supervisor(RELAY)
    if action == "status":
        return _status(keeper, as_json)
    if action == "install":
        _install(keeper, as_json)
    else:
        tell_removed(as_json, uninstall(keeper))
    return DONE


def _install(keeper: Systemd | Launchd, as_json: bool) -> None:
    folder = relay_folder()
    server = read_settings(folder).server
    keeper.check()
    # `-P`, so that files in the working folder aren't imported.
    words = (sys.executable, "-P", "-m", "callboard", "relay")
    changed = install(keeper, ServiceCommand(RELAY, words, folder / "relay.log"))
    if not changed and not is_running(folder):
        keeper.start()  # It was refused, and the machine has been paired again since.
    told = {
        "installed": True,
        "changed": changed,
        "server": server,
        "supervisor": keeper.title,
        "files": [str(path) for path in keeper.paths()],
    }
    if as_json:
        return print_json([told])
    screen = Screen()
    begun = f"{keeper.title} keeps it running." if changed else "It was already installed."
    screen.line(("The relay", "name"), " reports to ", (server, "command"), f". {begun}")
    screen.line("Remove it: ", (f"{program()} service uninstall --relay", "command"))
    return None


def _status(keeper: Systemd | Launchd, as_json: bool) -> int:
    state = keeper.state() if keeper.is_installed else "absent"
    relay = relay_state(relay_folder())
    if as_json:
        told = {"installed": keeper.is_installed, "supervisor": keeper.title, "state": state}
        print_json([{**told, "relay": None if relay is None else relay.to_wire()}])
    elif not keeper.is_installed:
        install = f"{program()} service install --relay"
        Screen().line("No service is installed. Install one: ", (install, "command"))
    else:
        _show(keeper, state, relay)
    is_well = state == "active" and relay is not None and relay.running and relay.connected
    return DONE if is_well or not keeper.is_installed else FAILED


def _show(keeper: Systemd | Launchd, state: str, relay: RelayState | None) -> None:
    screen = Screen()
    style = "done" if state == "active" else "failed"
    screen.line(f"{keeper.title}: ", (state, style))
    if relay is not None:
        screen.line(describe(relay))
    if relay is None or not relay.running:
        screen.line("See why: ", (keeper.log, "command"))
