"""What is installed into the settings of each agent, and taken out again."""

import json
import os
import plistlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import SettingsUnusable
from callboard.events.json_values import is_object
from callboard.vendors.claude.settings import EVENTS, MANAGED, http_obstacles, obstacles
from callboard.vendors.codex import payloads as codex_payloads
from callboard.vendors.codex.settings import obstacles as codex_obstacles
from callboard.vendors.codex.settings import trusted
from callboard.vendors.gemini.settings import obstacles as gemini_obstacles
from callboard.vendors.hook_targets import INSTALLABLE
from callboard.vendors.settings import files
from callboard.vendors.settings.commands import TOKEN_VARIABLE
from callboard.vendors.settings.installing import InstallPlan, install, uninstall
from callboard.vendors.settings.jsonc import parse

CLAUDE, CODEX, GEMINI, OPENCODE = (
    INSTALLABLE[name].settings for name in ("claude", "codex", "gemini", "opencode")
)
THEIRS = {"type": "command", "command": "/usr/bin/other-tool --hook"}


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "OPENCODE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def plan(home) -> InstallPlan:
    return InstallPlan(home / "share" / "x.db.hooks", home / "share" / "x.db")


def document(path: Path) -> dict[str, Any]:
    value = parse(path.read_text(encoding="utf-8")).value
    assert is_object(value)
    return value


def handler(path: Path, event: str) -> dict[str, Any]:
    (group,) = document(path)["hooks"][event]
    (one,) = group["hooks"]
    return one


def listed(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*"))


# ---------------------------------------------------------------------- where


def test_each_agent_has_its_place(home, monkeypatch):
    project = home / "project"
    user = {one.name: one.settings.place("user", project) for one in INSTALLABLE.values()}
    assert user == {
        "claude": home / ".claude/settings.json",
        "codex": home / ".codex/hooks.json",
        "gemini": home / ".gemini/settings.json",
        "opencode": home / ".config/opencode/plugin/callboard.js",
    }
    assert CLAUDE.place("project", project) == project / ".claude/settings.local.json"
    assert CODEX.place("project", project) == project / ".codex/hooks.json"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home / "c"))
    monkeypatch.setenv("CODEX_HOME", str(home / "x"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "conf"))
    assert CLAUDE.place("user", project) == home / "c/settings.json"
    assert CODEX.place("user", project) == home / "x/hooks.json"
    assert OPENCODE.place("user", project) == home / "conf/opencode/plugin/callboard.js"


@pytest.mark.parametrize("name", INSTALLABLE)
def test_nothing_is_left_where_nothing_was(name, home, plan):
    before = listed(home)
    one = INSTALLABLE[name].settings
    path = one.place("user", home)
    assert install(one, path, plan).changed
    assert path.stat().st_mode & 0o777 == 0o600
    assert one.standing(path.read_text(encoding="utf-8")) is not None
    assert uninstall(one, path, plan.folder).changed
    shutil.rmtree(home / "share")
    assert listed(home) == before


@pytest.mark.parametrize("name", INSTALLABLE)
def test_nothing_is_left_when_the_record_is_lost(name, home, plan):
    one = INSTALLABLE[name].settings
    path = one.place("user", home)
    install(one, path, plan)
    shutil.rmtree(plan.folder)
    assert uninstall(one, path, plan.folder).changed
    assert not path.exists() or path.read_text(encoding="utf-8") == "{}\n"


# ---------------------------------------------------------------------- what


def test_claude_by_the_spool(home, plan):
    path = CLAUDE.place("user", home)
    install(CLAUDE, path, plan)
    told = document(path)["hooks"]
    assert set(told) == {*EVENTS, "SessionStart", "PermissionRequest"}
    for event in EVENTS:
        assert "/spool " in handler(path, event)["command"]
        assert handler(path, event)["timeout"] == 10
    assert "hookclient.py" in handler(path, "SessionStart")["command"]
    assert " --hold " in handler(path, "PermissionRequest")["command"]
    assert handler(path, "PermissionRequest")["timeout"] == 86_400


def test_claude_without_answers_holds_nothing(home, plan):
    path = CLAUDE.place("user", home)
    install(CLAUDE, path, InstallPlan(plan.folder, plan.database, answers=False))
    assert "--hold" not in path.read_text(encoding="utf-8")
    assert "/spool " in handler(path, "PermissionRequest")["command"]


def test_claude_by_command(home, plan):
    path = CLAUDE.place("user", home)
    install(CLAUDE, path, InstallPlan(plan.folder, plan.database, transport="command"))
    assert "/spool " not in path.read_text(encoding="utf-8")
    standing = CLAUDE.standing(path.read_text(encoding="utf-8"))
    assert standing is not None
    assert (standing.transport, standing.answers, standing.folder) == ("command", True, plan.folder)


def test_claude_by_http(home, plan):
    path = CLAUDE.place("user", home)
    path.parent.mkdir()
    path.write_text('{"env": {"A": "b"}}', encoding="utf-8")
    path.chmod(0o644)
    install(
        CLAUDE, path, InstallPlan(plan.folder, plan.database, "http", port=4711, token="cb_secret")
    )
    assert handler(path, "Stop") == {
        "type": "http",
        "url": "http://127.0.0.1:4711/hooks/claude",
        "headers": {"Authorization": f"Bearer ${TOKEN_VARIABLE}"},
        "allowedEnvVars": [TOKEN_VARIABLE],
        "timeout": 10,
    }
    # Both are command hooks: the client runs no others at its start, and a hold outlives a server.
    assert handler(path, "SessionStart")["type"] == "command"
    assert handler(path, "PermissionRequest")["type"] == "command"
    assert document(path)["env"] == {"A": "b", TOKEN_VARIABLE: "cb_secret"}
    assert path.stat().st_mode & 0o777 == 0o600
    standing = CLAUDE.standing(path.read_text(encoding="utf-8"))
    assert standing is not None
    assert (standing.transport, standing.port, standing.token) == ("http", 4711, "cb_secret")
    uninstall(CLAUDE, path, plan.folder)
    assert path.read_text(encoding="utf-8") == '{"env": {"A": "b"}}'
    assert path.stat().st_mode & 0o777 == 0o644


def test_claude_is_kept_away_from_our_files_and_commands(home, plan):
    path = CLAUDE.place("user", home)
    path.parent.mkdir()
    mine = {"permissions": {"deny": ["Read(./.env)", "Bash(callboard token:*)"]}}
    path.write_text(json.dumps(mine, indent=4), encoding="utf-8")
    install(CLAUDE, path, plan)
    deny = document(path)["permissions"]["deny"]
    assert deny[:2] == mine["permissions"]["deny"]
    assert deny.count("Bash(callboard token:*)") == 1
    assert "Bash(callboard answer:*)" in deny
    assert {"Bash(callboard decision:*)", "Bash(callboard attend:*)"} <= set(deny)
    assert "Bash(python3 -m callboard:*)" in deny
    assert f"Read(/{plan.database}*)" in deny
    assert f"Edit(/{plan.folder}/**)" in deny
    assert f"Edit(/{plan.database.with_name('attend-x.db')}/**)" in deny
    # What was there before us is not ours, though we would have put it there too.
    path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    uninstall(CLAUDE, path, plan.folder)
    assert document(path) == mine


def test_codex(home, plan):
    path = CODEX.place("user", home)
    install(CODEX, path, plan)
    assert set(document(path)) == {"hooks"}
    assert handler(path, "SessionEnd")["timeout"] == 3
    assert handler(path, "Interrupt")["timeout"] == 3
    for event in document(path)["hooks"]:
        assert handler(path, event)["command"].startswith("exec /bin/sh -c ")
    # Its dialog comes only after the hook: nothing is held, unless that was asked for.
    assert "--hold" not in path.read_text(encoding="utf-8")
    install(CODEX, path, InstallPlan(plan.folder, plan.database, answers=True))
    assert "--hold" in handler(path, "PermissionRequest")["command"]
    standing = CODEX.standing(path.read_text(encoding="utf-8"))
    assert standing is not None
    assert standing.folder == plan.folder


def test_codex_tells_of_esc(home):
    """As Codex 0.166 sent it when somebody pressed Esc."""
    report = codex_payloads.translate(
        {
            "session_id": "01a1e276-6611-71e1-b74f-8d0e46517d74",
            "turn_id": "01a1e276-6706-7481-a1d9-8273a68afa8e",
            "cwd": "/home/u/proj",
            "hook_event_name": "Interrupt",
            "model": "gpt-5-codex",
            "permission_mode": "default",
        }
    )
    assert report is not None
    assert [(one.name, one.payload) for one in report.signals] == [
        ("turn_idle", {"interrupted": True})
    ]


def test_to_uninstall_what_was_never_installed_makes_nothing(home, plan):
    for one in INSTALLABLE.values():
        assert not uninstall(one.settings, one.settings.place("user", home), plan.folder).changed
    assert listed(home) == []


def test_gemini_counts_in_milliseconds(home, plan):
    path = GEMINI.place("user", home)
    install(GEMINI, path, plan)
    assert "PermissionRequest" not in document(path)["hooks"]
    for event in document(path)["hooks"]:
        assert handler(path, event)["timeout"] == 10_000


def test_a_plugin_of_somebody_else_is_left_alone(home, plan):
    path = OPENCODE.place("user", home)
    path.parent.mkdir(parents=True)
    path.write_text("export const Mine = 1\n", encoding="utf-8")
    with pytest.raises(SettingsUnusable, match="not Callboard's"):
        install(OPENCODE, path, plan)
    assert not uninstall(OPENCODE, path, plan.folder).changed
    assert path.read_text(encoding="utf-8") == "export const Mine = 1\n"


# ---------------------------------------------------------------------- again, and after others


def test_hooks_of_others_stay_in_their_order(home, plan):
    path = CLAUDE.place("user", home)
    path.parent.mkdir()
    mine = {
        "hooks": {
            "Stop": [{"matcher": "", "hooks": [THEIRS]}, {"hooks": [{**THEIRS, "timeout": 3}]}],
            "Elicitation": [{"hooks": [THEIRS]}],
        }
    }
    path.write_text(json.dumps(mine), encoding="utf-8")
    install(CLAUDE, path, plan)
    told = document(path)["hooks"]
    assert told["Stop"][:2] == mine["hooks"]["Stop"]
    assert told["Elicitation"] == mine["hooks"]["Elicitation"]
    assert list(told)[:2] == ["Stop", "Elicitation"]
    uninstall(CLAUDE, path, plan.folder)
    assert path.read_text(encoding="utf-8") == json.dumps(mine)


def test_a_hook_of_others_in_our_group_stays(home, plan):
    path = CLAUDE.place("user", home)
    install(CLAUDE, path, plan)
    told = document(path)
    told["hooks"]["Stop"][0]["hooks"].append(THEIRS)
    path.write_text(json.dumps(told), encoding="utf-8")
    uninstall(CLAUDE, path, plan.folder)
    assert document(path) == {"hooks": {"Stop": [{"hooks": [THEIRS]}]}}


def test_another_choice_takes_the_place_of_the_old(home, plan):
    path = CLAUDE.place("user", home)
    path.parent.mkdir()
    path.write_text('{"a": 1}\n', encoding="utf-8")
    once = []
    for _ in range(2):
        install(CLAUDE, path, plan)
        once.append(path.read_bytes())
        install(CLAUDE, path, InstallPlan(plan.folder, plan.database, "http", token="cb_x"))
        assert "/spool " not in path.read_text(encoding="utf-8")
    assert once[0] == once[1]
    assert len(files.backups(path)) <= files.BACKUPS
    uninstall(CLAUDE, path, plan.folder)
    assert path.read_text(encoding="utf-8") == '{"a": 1}\n'


def test_hooks_of_an_older_version_and_another_database_are_found(home, plan):
    path = CLAUDE.place("user", home)
    install(CLAUDE, path, InstallPlan(home / "old" / "y.db.hooks", home / "old" / "y.db"))
    told = document(path)
    told["hooks"]["Gone"] = [{"hooks": [{"type": "command", "command": "sh old # callboard"}]}]
    path.write_text(json.dumps(told, indent=2), encoding="utf-8")
    install(CLAUDE, path, plan)
    text = path.read_text(encoding="utf-8")
    assert "Gone" not in text
    assert "y.db" not in text
    uninstall(CLAUDE, path, plan.folder)
    assert document(path) == {}


def test_a_file_that_was_empty_is_empty_again(home, plan):
    path = CLAUDE.place("user", home)
    path.parent.mkdir()
    for empty in ("", "\n", "{}", "{\n}\n", "\ufeff{ }"):
        path.write_text(empty, encoding="utf-8")
        install(CLAUDE, path, plan)
        assert document_of(path)["hooks"]
        uninstall(CLAUDE, path, plan.folder)
        assert path.read_text(encoding="utf-8") == empty


def document_of(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8-sig"))


def test_empty_objects_of_others_stay_when_more_was_changed(home, plan):
    path = CLAUDE.place("user", home)
    path.parent.mkdir()
    path.write_text('{"hooks": {}, "permissions": {"deny": []}, "a": 1}', encoding="utf-8")
    install(CLAUDE, path, plan)
    path.write_text(path.read_text(encoding="utf-8").replace('"a": 1', '"a": 2'), encoding="utf-8")
    uninstall(CLAUDE, path, plan.folder)
    assert document(path) == {"hooks": {}, "permissions": {"deny": []}, "a": 2}


# ---------------------------------------------------------------------- what cannot be used

UNUSABLE = {
    '{"hooks": [}': "line 1, column 12: a value was expected",
    '{\n  "a": 1\n  "b": 2\n}': "line 3, column 3: a comma or } was expected",
    "[]": "the document is not an object",
    '"settings"': "the document is not an object",
    '{"hooks": []}': "hooks is not an object",
    '{"hooks": {"Stop": {}}}': "hooks.Stop is not an array",
    '{"permissions": {"deny": "all"}}': "permissions.deny is not an array",
}


@pytest.mark.parametrize(("text", "said"), UNUSABLE.items())
def test_what_cannot_be_edited_is_left_alone(text, said, home, plan):
    path = CLAUDE.place("user", home)
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    then = path.stat().st_mtime_ns
    with pytest.raises(SettingsUnusable) as caught:
        install(CLAUDE, path, plan)
    assert said in caught.value.message
    assert str(path) in caught.value.message
    assert "nothing was changed" in caught.value.message
    assert (path.read_text(encoding="utf-8"), path.stat().st_mtime_ns) == (text, then)
    assert files.backups(path) == []


def test_what_keeps_hooks_from_running_is_told(home, tmp_path):
    assert list(obstacles("{}", ())) == []
    assert "disableAllHooks" in next(obstacles('{"disableAllHooks": true}', ()))
    managed = tmp_path / "managed-settings.json"
    managed.write_text('{"allowManagedHooksOnly": true}', encoding="utf-8")
    assert "administrator" in next(obstacles("{}", [managed]))
    managed.write_text("{", encoding="utf-8")
    assert list(obstacles("{}", [managed, tmp_path / "absent"])) == []


def test_the_preferences_of_a_managed_mac_are_known(tmp_path):
    managed = tmp_path / "com.anthropic.claudecode.plist"
    for format in (plistlib.FMT_XML, plistlib.FMT_BINARY):
        managed.write_bytes(plistlib.dumps({"allowManagedHooksOnly": True}, fmt=format))
        (said,) = obstacles("{}", [managed])
        assert "administrator" in said
    managed.write_bytes(b"<plist>")
    assert list(obstacles("{}", [managed])) == []
    assert {one.name for one in MANAGED} == {"managed-settings.json", managed.name}
    url = "http://127.0.0.1:2255/hooks/claude"
    assert list(http_obstacles("{}", url)) == []
    assert list(http_obstacles('{"allowedHttpHookUrls": ["http://127.0.0.1:*"]}', url)) == []
    assert len(list(http_obstacles('{"allowedHttpHookUrls": ["https://x/*"]}', url))) == 1
    assert len(list(http_obstacles('{"httpHookAllowedEnvVars": []}', url))) == 1
    assert len(list(gemini_obstacles('{"hooksConfig": {"enabled": false}}'))) == 1
    assert len(list(gemini_obstacles('{"hooksConfig": {"disabled": ["callboard"]}}'))) == 1
    assert list(gemini_obstacles('{"hooks": {"BeforeTool": []}}')) == []


def test_codex_tells_what_it_trusts(home):
    path = home / ".codex" / "hooks.json"
    path.parent.mkdir()
    assert trusted(path) == 0
    (home / ".codex" / "config.toml").write_text(
        "[features]\nhooks = false\n"
        f'[hooks.state."{path}:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
        f'[hooks.state."{path}:session_start:0:0"]\nenabled = true\n'
        '[hooks.state."/elsewhere/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:2"\n',
        encoding="utf-8",
    )
    assert trusted(path) == 1
    assert "features.hooks" in next(codex_obstacles("{}"))
    (home / ".codex" / "config.toml").write_text("[", encoding="utf-8")
    assert trusted(path) == 0
    assert list(codex_obstacles("{}")) == []


def test_who_installs_at_once_takes_turns(home, plan):
    path = CLAUDE.place("user", home)
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            try:
                install(CLAUDE, path, plan)
            except BaseException:
                os._exit(1)
            os._exit(0)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert len(document(path)["hooks"]["Stop"]) == 1
