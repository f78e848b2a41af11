"""Something in the place of Claude Code, which does what a test tells it through AGENT."""

import json
import os
import signal
import sys
import time
import tty
from pathlib import Path
from typing import Any


def option(name: str) -> str:
    return next(word.partition("=")[2] for word in sys.argv if word.startswith(f"--{name}="))


def session() -> str:
    return option("resume" if any(w.startswith("--resume=") for w in sys.argv) else "session-id")


def attempt() -> Path:
    return Path(option("settings")).parent


def say(*messages: tuple[str, str]) -> None:
    for kind, text in messages:
        write(kind, {"type": "text", "text": text})


def write(kind: str, block: dict[str, Any]) -> None:
    """Add to the transcript, as the real one does."""
    folder = Path.home() / ".claude" / "projects" / "here"
    folder.mkdir(parents=True, exist_ok=True)
    record = {"type": kind, "cwd": str(Path.cwd()), "message": {"content": [block]}}
    with (folder / f"{session()}.jsonl").open("a", encoding="utf-8") as file:
        print(json.dumps(record), file=file)


def decide(decision: Any, *, confirmed: bool = True) -> None:
    """Keep a decision as the tool does, and tell of the call that the person let through."""
    file = attempt() / "decision.json"
    given = {"decision": decision}
    file.write_text(json.dumps(given), encoding="utf-8")
    if confirmed:
        tool = "mcp__callboard-decision__submit_decision"
        write("assistant", {"type": "tool_use", "id": "t1", "name": tool, "input": given})
        write("user", {"type": "tool_result", "tool_use_id": "t1", "content": "kept"})


def tell(text: str) -> None:
    print(text, end="\r\n", flush=True)


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
    elif scene.startswith("say:"):
        say(("assistant", scene.partition(":")[2]))
    elif scene.startswith("exit:"):
        tell("it went wrong")
        sys.exit(int(scene.partition(":")[2]))


if __name__ == "__main__":
    main()
