"""Something in the place of Claude Code, which does what a test tells it through AGENT."""

import json
import os
import signal
import subprocess
import sys
import time
import tty
from functools import cache
from pathlib import Path
from typing import Any

TOOL = "mcp__callboard-decision__submit_decision"


def option(name: str) -> str:
    return next(word.partition("=")[2] for word in sys.argv if word.startswith(f"--{name}="))


def session() -> str:
    return option("resume" if any(w.startswith("--resume=") for w in sys.argv) else "session-id")


def attempt() -> Path:
    return Path(option("settings")).parent


def say(*messages: tuple[str, str]) -> None:
    for kind, text in messages:
        write(kind, {"type": "text", "text": text})


def write(kind: str, block: dict[str, Any], **more: Any) -> None:
    """Add to the transcript, as the real one does."""
    folder = Path.home() / ".claude" / "projects" / "here"
    folder.mkdir(parents=True, exist_ok=True)
    record = {"type": kind, "cwd": str(Path.cwd()), "message": {"content": [block]}, **more}
    with (folder / f"{session()}.jsonl").open("a", encoding="utf-8") as file:
        print(json.dumps(record), file=file)


def decide(decision: Any, *, confirmed: bool = True) -> None:
    """Keep a decision as the tool does. confirmed: with all that the client does before."""
    given = {"decision": decision}
    file = attempt() / "decision.json"
    if confirmed:
        hook("PreToolUse", given, tool_use_id="t1")
        hook("PermissionRequest", given)
        tell_of_call("t1", given, source="user_temporary")
    file.write_text(json.dumps({**given, "call": "t1"}), encoding="utf-8")


def submit(id: str, decision: Any, *, source: str) -> None:
    """Call the real tool, as a client does that runs hooks and asks only where `source` says so."""
    given = {"decision": decision}
    if source.startswith("user"):
        hook("PreToolUse", given, tool_use_id=id)
        hook("PermissionRequest", given)
    result = call_tool(id, given)
    tell(result["content"][0]["text"])
    tell_of_call(id, given, source=source, is_error=result["isError"])


def tell_of_call(id: str, given: Any, *, source: str, is_error: bool = False) -> None:
    write("assistant", {"type": "tool_use", "id": id, "name": TOOL, "input": given})
    back = {"type": "tool_result", "tool_use_id": id, "content": "", "is_error": is_error}
    write("user", back, permissionDecision={"decision": "accept", "source": source})


def hook(event: str, given: Any, **more: Any) -> None:
    """Run what the settings have for this tool, as the client does."""
    payload = {"hook_event_name": event, "session_id": session(), "prompt_id": "p"}
    payload |= {"tool_name": TOOL, "tool_input": given, **more}
    told = json.loads(Path(option("settings")).read_text("utf-8"))
    groups = [one for one in told["hooks"][event] if one.get("matcher") == TOOL]
    for command in [one["command"] for group in groups for one in group["hooks"]]:
        subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps(payload).encode(),
            stdout=subprocess.DEVNULL,
            check=True,
        )


def call_tool(id: str, given: Any) -> Any:
    """Call the tool of the MCP server that the config names."""
    called = {"name": "submit_decision", "arguments": given, "_meta": {"claudecode/toolUseId": id}}
    return asked_of(server(), "tools/call", called)


@cache
def server() -> subprocess.Popen[bytes]:
    """The server, started and greeted; it ends with us."""
    config = json.loads((attempt() / "mcp.json").read_text("utf-8"))
    started = config["mcpServers"]["callboard-decision"]
    words = [started["command"], *started["args"]]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    about = {"protocolVersion": "2025-06-18", "capabilities": {}}
    asked_of(process, "initialize", {**about, "clientInfo": {"name": "agent", "version": "1"}})
    send(process, {"method": "notifications/initialized"})
    return process


def asked_of(process: subprocess.Popen[bytes], method: str, given: Any) -> Any:
    send(process, {"id": method, "method": method, "params": given})
    assert process.stdout is not None
    for line in process.stdout:
        if (answer := json.loads(line)).get("id") == method:
            return answer["result"]
    raise AssertionError("the server has not answered")


def send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def tell(text: str) -> None:
    """Write a line, past Python's buffer: a signal handler that finds it in use would fail.

    A signal can come in the middle of a line, as a test acts on the part that it has read.
    """
    os.write(1, f"{text}\r\n".encode())


def line() -> str:
    """What is typed up to a dot, key by key."""
    typed = b""
    while not typed.endswith(b"."):
        typed += os.read(0, 1)
    return typed.decode()


def interrupted(*_: Any) -> None:
    tell("interrupted")
    sys.exit(0)


def prepare(scene: str) -> None:
    """Be as the scene wants it before anybody is told: what comes then must find it so."""
    if scene in ("echo", "mess", "wait"):
        tty.setraw(0)
    elif scene == "size":
        signal.signal(signal.SIGWINCH, lambda *_: tell(f"now {os.get_terminal_size(0).columns}"))
    elif scene == "interrupt":
        signal.signal(signal.SIGINT, interrupted)
    elif scene == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


def main() -> None:
    scene = os.environ["AGENT"]
    say(("user", sys.argv[-1]))
    prepare(scene)
    tell(f"\x1b[32mready\x1b[0m pid={os.getpid()}")
    if scene == "echo":
        tell(f"typed {line().encode()!r}")
        tell(f"size {os.get_terminal_size(0).columns}x{os.get_terminal_size(0).lines}")
    elif scene in ("size", "wait"):
        line()
    elif scene in ("interrupt", "stubborn"):
        time.sleep(60)
    elif scene == "rest":
        os.kill(os.getpid(), signal.SIGSTOP)
        tell("goes on")
    elif scene == "mess":
        tell("\x1b[?25l\x1b[?2004h\x1b[>1umess")
        os.kill(os.getpid(), signal.SIGKILL)
    elif scene == "arguments":
        tools = Path(sys.argv[3]).read_text("utf-8") if sys.argv[3].startswith("/") else None
        keys = sorted(key for key in os.environ if key.startswith(("CLAUDE", "CALLBOARD")))
        (attempt().parent.parent.parent / "arguments.json").write_text(
            json.dumps({"argv": sys.argv[1:], "env": keys, "cwd": str(Path.cwd()), "tools": tools}),
            encoding="utf-8",
        )
    elif scene.startswith("decide:"):
        decide(json.loads(scene.partition(":")[2]))
    elif scene.startswith("cheat:"):
        decide(json.loads(scene.partition(":")[2]), confirmed=False)
    elif scene.startswith("unasked:"):
        submit("t1", json.loads(scene.partition(":")[2]), source="config")
    elif scene.startswith("twice:"):
        first, second = json.loads(scene.partition(":")[2])
        submit("t1", first, source="user_temporary")
        submit("t2", second, source="config")
    elif scene.startswith("say:"):
        say(("assistant", scene.partition(":")[2]))
    elif scene.startswith("exit:"):
        tell("it went wrong")
        sys.exit(int(scene.partition(":")[2]))


if __name__ == "__main__":
    main()
