"""An agent that speaks ACP, for tests: it plays what its prompts say. Run it as a program.

A prompt is lines of steps, such as `say Hello.`; see `_STEPS`. It is only as polite as it is told.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from queue import Queue
from typing import Any

SESSION = "scripted-session"
Message = dict[str, Any]


class Agent:
    """Reads from standard input in its own thread; each prompt is played in another one."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self.cancelled = threading.Event()
        self.answers: dict[int, Queue[Message]] = {}
        self.turns = 0
        self.lock = threading.Lock()

    def run(self) -> None:
        if "--deaf" in self.words:
            time.sleep(600)
        if "--garbage" in self.words:
            self.raw(b'Welcome to the agent!\n\xff\xfe{not json}\n[1,2]\n{"id":[1],"result":1}\n')
        for line in sys.stdin.buffer:
            self.hear(json.loads(line))

    def raw(self, data: bytes) -> None:
        with self.lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def send(self, message: Message) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def hear(self, message: Message) -> None:
        method, id = message.get("method"), message.get("id", 0)
        if method is None:
            self.answers[id].put(message)
        elif method == "session/prompt":
            threading.Thread(target=self.play, args=(id, message["params"]), daemon=True).start()
        elif method == "session/cancel":
            self.cancelled.set()
        elif method == "initialize":
            self.send({"id": id, "result": self.abilities()})
        elif method == "authenticate":
            self.words.remove("--signed-out")
            self.send({"id": id, "result": {}})
        elif method in ("session/new", "session/resume"):
            self.open(id, message["params"])

    def abilities(self) -> Message:
        name = "opencode" if "--absorbs" in self.words else "scripted"
        return {
            "protocolVersion": 99 if "--future" in self.words else 1,
            "agentCapabilities": {"sessionCapabilities": {"resume": {}}},
            "authMethods": [{"id": "gemini-api-key", "name": "API key"}],
            "agentInfo": {"name": name, "title": "Scripted", "version": "1.2"},
        }

    def open(self, id: int, params: Message) -> None:
        if "--signed-out" in self.words:
            error = {"code": -32000, "message": "Authentication required"}
            self.send({"id": id, "error": error})
            return
        models = {"currentModelId": "scripted-1", "availableModels": []}
        session = params.get("sessionId", SESSION)
        self.send({"id": id, "result": {"sessionId": session, "models": models}})

    def update(self, kind: str, /, **told: Any) -> None:
        update = {"sessionUpdate": kind, **told}
        params = {"sessionId": SESSION, "update": update}
        self.send({"method": "session/update", "params": params})

    def play(self, id: int, params: Message) -> None:
        self.turns += 1
        self.cancelled.clear()
        reason = "end_turn"
        for line in params["prompt"][0]["text"].splitlines():
            word, _, rest = line.partition(" ")
            step = _STEPS.get(word, _say)
            reason = step(self, rest if word in _STEPS else line) or reason
            if self.cancelled.is_set():
                reason = "cancelled"
                break
        usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120, "cachedReadTokens": 7}
        self.send({"id": id, "result": {"stopReason": reason, "usage": usage}})

    def ask(self, call: Message, options: list[Message]) -> str:
        number = 1000 + len(self.answers)
        self.answers[number] = Queue()
        params = {"sessionId": SESSION, "toolCall": call, "options": options}
        self.send({"id": number, "method": "session/request_permission", "params": params})
        outcome = self.answers[number].get()["result"]["outcome"]
        return outcome.get("optionId", outcome["outcome"])


def _say(agent: Agent, text: str) -> None:
    for word in text.split(" "):
        chunk = {"type": "text", "text": word + " "}
        agent.update("agent_message_chunk", content=chunk)


def _think(agent: Agent, text: str) -> None:
    agent.update("agent_thought_chunk", content={"type": "text", "text": text})


OPTIONS = [
    {"optionId": "yes-once", "name": "Allow", "kind": "allow_once"},
    {"optionId": "yes-always", "name": "Always allow", "kind": "allow_always"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def _run(agent: Agent, command: str) -> None:
    """Ask for a command, and say what the answer was."""
    call = {
        "toolCallId": f"call-{agent.turns}-{command}",
        "title": command,
        "kind": "execute",
        "rawInput": {"command": command},
    }
    agent.update("tool_call", status="pending", **call)
    chosen = agent.ask(call, OPTIONS)
    done = chosen.startswith("yes")
    shown = [{"type": "content", "content": {"type": "text", "text": f"ran: {command}\n"}}]
    told = {"status": "completed" if done else "failed", "content": shown if done else []}
    agent.update("tool_call_update", toolCallId=call["toolCallId"], **told)
    _say(agent, f"The answer was {chosen}.")


def _write(agent: Agent, megabytes: str) -> None:
    """Ask for a change of a file of this size."""
    text = ("x" * 63 + "\n") * (int(megabytes) * 16_384)
    diff = {"type": "diff", "path": "/p/large.txt", "oldText": "", "newText": text}
    call = {"content": [diff], "kind": "edit", "title": "Write", "toolCallId": "w" * 1_000_000}
    agent.update("tool_call", status="pending", **call)
    _say(agent, f"The answer was {agent.ask(call, OPTIONS)}.")


def _flock(agent: Agent, count: str) -> None:
    """Ask for many commands at once."""
    for number in range(5000, 5000 + int(count)):
        agent.answers[number] = Queue()
        call = {"toolCallId": f"c{number}", "title": f"run {number}", "kind": "execute"}
        params = {"sessionId": SESSION, "toolCall": call, "options": OPTIONS}
        agent.send({"id": number, "method": "session/request_permission", "params": params})
    for number in range(5000, 5000 + int(count)):
        agent.answers[number].get()


def _choose(agent: Agent, names: str) -> None:
    """Ask with options that are more than yes and no."""
    options = [
        {"optionId": f"o{number}", "name": name, "kind": "allow_once"}
        for number, name in enumerate(names.split(","))
    ]
    call = {"toolCallId": f"choice-{agent.turns}", "title": "Pick one", "kind": "other"}
    _say(agent, f"The answer was {agent.ask(call, options)}.")


def _stream(agent: Agent, count: str) -> None:
    """A command whose output is sent whole, again and again."""
    call = {"toolCallId": f"stream-{agent.turns}", "title": "make", "kind": "execute"}
    agent.update("tool_call", status="in_progress", **call)
    text = ""
    for number in range(int(count)):
        text += f"line {number}\n"
        shown = [{"type": "content", "content": {"type": "text", "text": text}}]
        agent.update("tool_call_update", toolCallId=call["toolCallId"], content=shown)
    agent.update("tool_call_update", toolCallId=call["toolCallId"], status="completed")


def _edit(agent: Agent, path: str) -> None:
    diff = {"type": "diff", "path": path, "oldText": "one\ntwo\n", "newText": "uno\ntwo\n"}
    call = {"toolCallId": f"edit-{agent.turns}", "title": f"Edit {path}", "kind": "edit"}
    agent.update("tool_call", status="completed", content=[diff], **call)


def _plan(agent: Agent, text: str) -> None:
    entries = [{"content": one, "status": "pending", "priority": "low"} for one in text.split(",")]
    agent.update("plan", entries=entries)


def _odd(agent: Agent, text: str) -> None:
    agent.update("weather_update", forecast=text)


def _cost(agent: Agent, dollars: str) -> None:
    cost = {"amount": float(dollars), "currency": "USD"}
    agent.update("usage_update", used=10, size=100, cost=cost)


def _spawn(agent: Agent, code: str) -> None:
    """Run Python code, and say what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    _say(agent, done.stdout.strip() or done.stderr)


def _wait(agent: Agent, path: str) -> None:
    """Until there is a file, or the turn is cancelled."""
    while not os.path.exists(path) and not agent.cancelled.wait(0.02):  # noqa: PTH110 - alone
        pass


def _huge(agent: Agent, megabytes: str) -> None:
    agent.raw(b'{"jsonrpc":"2.0","method":"session/update","params":"')
    for _ in range(int(megabytes)):
        agent.raw(b"x" * 1_048_576)
    agent.raw(b'"}\n')


def _exit(agent: Agent, code: str) -> None:
    sys.stderr.write("Out of coffee.\n")
    sys.stderr.flush()
    os._exit(int(code))


def _mute(agent: Agent, text: str) -> None:
    """Close the output, and stay."""
    os.close(1)
    time.sleep(600)


_STEPS: dict[str, Callable[[Agent, str], str | None]] = {
    "say": _say,
    "think": _think,
    "run": _run,
    "write": _write,
    "flock": _flock,
    "choose": _choose,
    "stream": _stream,
    "edit": _edit,
    "plan": _plan,
    "odd": _odd,
    "cost": _cost,
    "spawn": _spawn,
    "wait": _wait,
    "huge": _huge,
    "exit": _exit,
    "mute": _mute,
    "stop": lambda agent, reason: reason,
}


if __name__ == "__main__":
    Agent(sys.argv[1:]).run()
