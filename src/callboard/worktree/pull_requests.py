"""The pull request of a branch with its checks, as the person's own `gh` knows it.

It is read in the background and remembered, because it comes over the network.
"""

import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, Literal

from callboard.display.lines import one_line
from callboard.events.json_values import Object, as_list, as_object, as_text, as_whole, objects
from callboard.worktree.changes import CheckRun, CheckState, PullRequest
from callboard.worktree.limited_process import limited

FRESH_MS: Final = 60_000
"""For how long it is not read again."""
_TIME_LIMIT: Final = 20.0
_LARGEST: Final = 1_048_576
_MOST_KNOWN: Final = 100
_MOST_CHECKS: Final = 100
_LONGEST: Final = 200
_LONGEST_URL: Final = 2000
_FIELDS: Final = "number,title,url,state,isDraft,statusCheckRollup"
_SETTINGS: Final = (("core.fsmonitor", "false"), ("core.hooksPath", os.devnull))
_NUMBER: Final = re.compile(r"#?[0-9]+")
"""A branch of which `gh` would show the pull request with this number instead."""
_PASSED: Final = frozenset({"SUCCESS", "NEUTRAL", "SKIPPED"})
_ORDER: Final[Mapping[CheckState, int]] = {"failed": 0, "pending": 1, "passed": 2}

_State = Literal["open", "draft", "merged", "closed"]


class PullRequests:
    """Remembers them by working tree and branch. now_ms: the wall clock."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._known: dict[tuple[str, str], tuple[int, PullRequest | None]] = {}
        self._reading: dict[tuple[str, str], threading.Thread] = {}
        self._lock = threading.Lock()

    def of(self, root: str, branch: str) -> PullRequest | None:
        """What is known now. If that is old, or nothing, it is read in the background."""
        if _NUMBER.fullmatch(branch):
            return None
        key = (root, branch)
        with self._lock:
            at_ms, found = self._known.get(key, (None, None))
            is_fresh = at_ms is not None and 0 <= self._now_ms() - at_ms < FRESH_MS
            if not is_fresh and not self._reading and shutil.which("gh") is not None:
                thread = threading.Thread(target=self._read, args=key, daemon=True)
                self._reading[key] = thread
                thread.start()
        return found

    def wait(self) -> None:
        """Wait until nothing is being read."""
        for thread in list(self._reading.values()):
            thread.join()

    def _read(self, root: str, branch: str) -> None:
        found: PullRequest | None = None
        try:
            with suppress(OSError, ValueError, RecursionError):
                printed = _asked(root, branch)
                found = read_pull_request(as_object(json.loads(printed)), self._now_ms())
        finally:
            with self._lock:
                self._known.pop((root, branch), None)
                self._known[(root, branch)] = (self._now_ms(), found)
                if len(self._known) > _MOST_KNOWN:
                    del self._known[next(iter(self._known))]
                del self._reading[(root, branch)]


def read_pull_request(told: Object, at_ms: int) -> PullRequest | None:
    """What `gh pr view --json` prints; None if it is about nothing."""
    number, url = as_whole(told.get("number")), _web_address(told.get("url"))
    if number <= 0 or url is None:
        return None
    title = _words(told.get("title"))
    rollup = objects(as_list(told.get("statusCheckRollup")))
    checks = [_check(one, f"#{number} ({title})") for one in rollup]
    checks.sort(key=lambda one: (_ORDER[one.state], one.name))
    return PullRequest(number, title, url, _state(told), checks[:_MOST_CHECKS], at_ms)


def check_message(name: str, url: str | None, pull_request: str) -> str:
    """What can be sent to the agent about a check that failed."""
    place = f"\n{url}" if url else ""
    return f"The check {name!r} failed on pull request {pull_request}. Fix its cause.{place}"


def _check(told: Object, pull_request: str) -> CheckRun:
    """A check run, or a status that another service has set."""
    name = _words(told.get("name")) or _words(told.get("context")) or "check"
    group = _words(told.get("workflowName"))
    name = f"{group} / {name}" if group else name
    url = _web_address(told.get("detailsUrl")) or _web_address(told.get("targetUrl"))
    state = _check_state(told)
    message = check_message(name, url, pull_request) if state == "failed" else None
    return CheckRun(name, state, url, message)


def _check_state(told: Object) -> CheckState:
    result = as_text(told.get("conclusion")) or as_text(told.get("state"))
    if as_text(told.get("status")) not in ("", "COMPLETED") or result in ("PENDING", "EXPECTED"):
        return "pending"
    return "passed" if result in _PASSED else "failed" if result else "pending"


def _state(told: Object) -> _State:
    states: Mapping[str, _State] = {"MERGED": "merged", "CLOSED": "closed"}
    open_state: _State = "draft" if told.get("isDraft") is True else "open"
    return states.get(as_text(told.get("state")), open_state)


def _words(value: object) -> str:
    return one_line(as_text(value), _LONGEST)


def _web_address(value: object) -> str | None:
    text = as_text(value)
    is_one = text.startswith(("https://", "http://")) and text.isprintable()
    return text if is_one and len(text) <= _LONGEST_URL and " " not in text else None


def _asked(root: str, branch: str) -> bytes:
    """What `gh` prints; it runs git, which must not run what the repository names."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    settings = {"GIT_CONFIG_COUNT": str(len(_SETTINGS)), "GIT_TERMINAL_PROMPT": "0"}
    for number, (name, value) in enumerate(_SETTINGS):
        settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    quiet = {"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1"}
    command = ["gh", "pr", "view", "--json", _FIELDS, "--", branch]
    with limited(command, root, {**kept, **settings, **quiet}, _TIME_LIMIT) as process:
        assert process.stdout is not None
        printed = process.stdout.read(_LARGEST + 1)
        if len(printed) > _LARGEST:
            raise ValueError("gh printed too much")
        if process.wait():
            raise ValueError("gh failed")
    return printed
