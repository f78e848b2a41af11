"""How a session of Claude Code is opened, and what is read of it afterwards."""

import json
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from callboard.errors import ValidationError
from callboard.harness.folders import Folders, beside
from callboard.harness.prompts import first_prompt, system_prompt, title
from callboard.harness.request import Wanted, wanted
from callboard.interactions.records import Interaction
from callboard.vendors.claude import launching
from callboard.vendors.claude.extraction import Spoken, spoken, working_directory
from callboard.vendors.claude.launching import MARK, Launch, clean
from callboard.vendors.claude.settings import ClaudeSettings
from callboard.vendors.settings.installing import InstallPlan

NAMES = ("id", "sessionId", "type", "prompt", "options", "other", "status", "response", "phase",
         "deadline", "claimedBy", "claimedUntil", "answeredBy", "via", "error", "config",
         "transcript", "durationMs", "createdAt", "resolvedAt")  # fmt: skip


def question(prompt: str = "Well?", **config: Any) -> Interaction:
    wire: dict[str, Any] = dict.fromkeys(NAMES)
    wire |= {"id": "q", "prompt": prompt, "config": config, "createdAt": "2026-01-01T00:00:00Z"}
    return Interaction.from_wire(wire)


def asks(prompt: str = "Well?", **config: Any) -> Wanted:
    return wanted(question(prompt, **config))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    return tmp_path / "claude"


# ---------------------------------------------------------------------- what was asked for


def test_what_is_usual():
    usual = asks()
    assert (usual.model, usual.cwd, usual.timeout, usual.captures) == ("sonnet", None, None, False)


@pytest.mark.parametrize(
    "config", [{"timeout": "soon"}, {"timeout": 0}, {"timeout": True}, {"cwd": 5}, {"model": ["a"]},
               {"mcpConfig": {}}, {"systemPrompt": "a\0b"}],
)  # fmt: skip
def test_what_cannot_be_meant_is_named(config: dict[str, Any]):
    with pytest.raises(ValidationError, match=next(iter(config))):
        asks(**config)


# ---------------------------------------------------------------------- what the agent is told


def test_a_small_context_is_in_the_prompt(tmp_path: Path):
    attempt = Folders(tmp_path).begin("q", {})
    prompt = first_prompt(asks("/exit", context={"code": "```x```"}), attempt)
    assert not prompt.startswith("/")
    assert "## The question\n\n/exit" in prompt
    assert '````json\n{\n  "code": "```x```"\n}\n````' in prompt


def test_a_large_context_and_a_large_question_are_in_files(tmp_path: Path):
    attempt = Folders(tmp_path).begin("q", {})
    context = {"lines": ["x" * 100] * 100_000}
    prompt = first_prompt(asks("y" * 1_000_000, context=context), attempt)
    assert len(prompt) < 10_000
    assert str(attempt.folder / "context.json") in prompt
    assert json.loads((attempt.folder / "context.json").read_bytes()) == context
    assert (attempt.folder / "question.md").read_text(encoding="utf-8") == "y" * 1_000_000


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "approval"}, "APPROVED or REJECTED"),
        ({"type": "selection", "options": ["a", "b"]}, "one of `a`, `b`"),
        ({"type": "structured", "jsonSchema": {"type": "object"}}, "fits the tool's schema"),
        (None, "text that says what the person means"),
    ],
)
def test_the_system_prompt_says_how_it_ends(schema: Any, words: str):
    text = system_prompt(asks(systemPrompt="Be brief.", outcomeSchema=schema))
    assert text.startswith("Be brief.\n\n")
    assert words in text
    assert "submit_decision" in text


def test_a_title_is_short_and_on_one_line():
    assert title("Review\n\x1b[31mthe " + "x" * 100).startswith("decision: Review \\x1b[31mthe x")
    assert len(title("x" * 1000)) == 70


# ---------------------------------------------------------------------- settings and environment


def test_a_session_has_our_hooks_and_is_always_asked_about_the_decision(tmp_path: Path):
    plan = InstallPlan(tmp_path / "hooks", tmp_path / "t.db")
    told: Any = launching.session_settings(
        Path("/kept/1"), [Path("/kept/1/context.json")], plan, "ask!"
    )
    assert {"SessionStart", "PermissionRequest", "Stop"} <= set(told["hooks"])
    assert told["permissions"]["ask"] == ["mcp__callboard-decision__submit_decision"]
    assert told["permissions"]["allow"] == ["Read(//kept/1/context.json)"]
    assert "Edit(//kept/1/**)" in told["permissions"]["deny"]


@pytest.mark.parametrize("on_board", [True, False])
def test_a_session_has_the_hook_that_asks_whether_or_not_it_is_on_the_board(
    tmp_path: Path, on_board: bool
):
    plan = InstallPlan(tmp_path / "hooks", tmp_path / "t.db") if on_board else None
    told: Any = launching.session_settings(Path("/kept/1"), [], plan, "ask!")
    for event in ("PreToolUse", "PermissionRequest"):
        ours = told["hooks"][event][-1]
        assert ours["matcher"] == launching.TOOL
        assert [one["command"] for one in ours["hooks"]] == ["ask!"]


@pytest.mark.parametrize("resumes", [True, False])
def test_the_client_is_started_in_the_mode_that_asks(resumes: bool):
    file = Path("/kept/1/x")
    launch = Launch("s", "n", "m", "--permission-mode=auto", file, file, [file], resumes=resumes)
    words = launching.command("claude", launch)
    options = words[: words.index("--")]
    assert [one for one in options if "permission" in one] == ["--permission-mode=default"]


def test_no_rule_keeps_the_agent_from_what_it_is_given(tmp_path: Path):
    database = tmp_path / "t.db"
    attempt = beside(database).begin("q", {})
    context = attempt.write("context.json", b"{}")
    told: Any = launching.session_settings(
        attempt.folder, [context], InstallPlan(tmp_path / "t.db.hooks", database), "ask!"
    )
    read = [one for one in told["permissions"]["deny"] if one.startswith("Read(/")]
    assert f"Read(/{database}*)" in read
    assert [one for one in read if fnmatch(str(context), one[len("Read(/") : -1])] == []


def test_hooks_that_are_installed_already_are_not_doubled(tmp_path: Path, home: Path):
    plan = InstallPlan(tmp_path / "hooks", tmp_path / "t.db")
    assert not launching.has_our_hooks(plan.folder, tmp_path)
    home.mkdir()
    (home / "settings.json").write_text(ClaudeSettings().installed(None, plan), encoding="utf-8")
    assert launching.has_our_hooks(plan.folder, tmp_path)
    assert not launching.has_our_hooks(tmp_path / "of another database", tmp_path)


def test_an_agents_session_leaves_nothing_in_the_environment():
    ours = {"PATH": "/bin", "CLAUDE_CONFIG_DIR": "/c", "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1"}
    theirs = {"CLAUDECODE": "1", "CLAUDE_PID": "5", "CLAUDE_CODE_SESSION_ID": "x",
              "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_SESSION_ATTENDED": "0",
              "CALLBOARD_TOKEN": "secret"}  # fmt: skip
    assert clean({**ours, **theirs}) == ours


def test_an_attended_agent_is_marked():
    """So that an answer from it, or from what it starts, is refused."""
    assert MARK in launching.environment()


# ---------------------------------------------------------------------- transcripts of the client


def written(home: Path, session: str, *records: Any) -> Path:
    path = home / "projects" / "-here" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [one if isinstance(one, str) else json.dumps(one) for one in records]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_a_session_is_found_by_its_id(home: Path):
    session = launching.session_id("q", 1)
    assert launching.is_session(session)
    assert launching.session_id("q", 1) == session != launching.session_id("q", 2)
    assert launching.transcript_of(session) is None
    path = written(home, session, {"cwd": "/p"})
    assert launching.transcript_of(session) == path
    assert launching.transcript_of("../../etc/passwd") is None
    assert working_directory(path) == Path("/p")


def test_what_was_said_is_read_and_the_rest_is_not(home: Path):
    use = {"type": "tool_use", "id": "t1", "name": "decide", "input": {"decision": "approved"}}
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [{"type": "text", "text": "no"}],
    }
    path = written(
        home,
        launching.session_id("q", 1),
        {"type": "user", "message": {"content": "Look."}},
        {"type": "user", "isMeta": True, "message": {"content": "for the client"}},
        {"type": "assistant", "isSidechain": True, "message": {"content": []}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Well."}, use]}},
        {"type": "user", "message": {"content": [result]}, "toolDenialKind": "user-rejected"},
        {"type": "assistant", "isApiErrorMessage": True,
         "message": {"content": [{"type": "text", "text": "API Error"}]}},
        {"type": "attachment"}, [], "{half a li",
    )  # fmt: skip
    assert spoken(path, "decide") == [
        Spoken("person", "Look."),
        Spoken("agent", "Well."),
        Spoken("call", '{"decision":"approved"}', "decide", "t1"),
        Spoken("refused", "", "decide"),
        Spoken("result", "no", "decide"),
        Spoken("error", "API Error"),
    ]


@pytest.mark.parametrize(
    ("decided", "via"),
    [
        ({"decision": "accept", "source": "user_temporary"}, "terminal"),
        ({"decision": "accept", "source": "user_permanent"}, "terminal"),
        ({"decision": "accept", "source": "hook"}, "hook"),
        ({"decision": "accept", "source": "config"}, "config"),
        ({"decision": "reject", "source": "user_reject"}, None),
        ({"source": "user_temporary"}, None),
        ("odd", None),
        (None, None),
    ],
)
def test_a_decision_is_accepted_when_the_call_came_back_without_an_error(
    home: Path, decided: Any, via: str | None
):
    def called(id: str, decision: str, **result: Any) -> list[Any]:
        use = {"type": "tool_use", "id": id, "name": "decide", "input": {"decision": decision}}
        back = {"type": "tool_result", "tool_use_id": id, "content": "", **result}
        return [
            {"type": "assistant", "message": {"content": [use]}},
            {"type": "user", "message": {"content": [back]}, "permissionDecision": decided},
        ]

    records = [*called("t1", "approved"), *called("t2", "rejected", is_error=True)]
    said = spoken(written(home, launching.session_id("q", 1), *records), "decide")
    assert [one for one in said if one.kind == "accepted"] == [
        Spoken("accepted", '{"decision":"approved"}', "decide", "t1", via)
    ]


def test_a_transcript_that_is_gone_says_nothing(tmp_path: Path):
    assert spoken(tmp_path / "none.jsonl", "decide") == []
