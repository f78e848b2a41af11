"""What is sent: a hook's payload, with facts about its sender spliced in.

This works on bytes: parsing the payload would take longer than everything else, and could change
it.
"""

import time

from callboard.courier.processes import Process, agent_process, read_small
from callboard.disk.files import posix

LARGEST = 8 * 1024 * 1024
"""How much of a payload is sent. The rest is read and dropped, so that its writer isn't blocked."""

_BRANCH = b"ref: refs/heads/"
_LINK = b"gitdir:"


class Letter:
    """One hook's payload, and who sent it."""

    __slots__ = ("agent", "delivery", "folder", "payload", "sender", "told")

    def __init__(
        self, folder: str, agent: str, payload: bytes, sender: Process | None = None
    ) -> None:
        self.folder = folder
        self.agent = agent
        self.payload = payload.strip()
        self.sender = sender or agent_process(agent)
        self.told = _facts(self.sender)
        self.delivery = posix.urandom(12).hex()

    @property
    def is_object(self) -> bool:
        """Whether the payload looks like a JSON object; nothing can be added to anything else."""
        text = self.payload
        return len(text) > 1 and text[:1] == b"{" and text[-1:] == b"}"

    @property
    def is_subagents(self) -> bool:
        """Whether a subagent of Claude Code sends this, as far as its bytes show."""
        return self.agent == "claude" and b'"agent_id":"' in self.payload

    def body(self, hold: str | None = None, gone: bool = False) -> bytes:
        """The request body. `hold`, `gone`: as the board knows them.

        A held hook keeps coming back with the same hold id. Everything else is recorded once, even
        if it is delivered twice: to a server that was slow to confirm it, and to the spool.
        """
        if not self.is_object:
            return self.payload
        known = f'"hold":"{hold}"' if hold else f'"delivery":"{self.delivery}"'
        more = f"{self.told},{known}" + (',"gone":true' if gone else "")
        return with_member(self.payload, f'"callboard":{{{more}}}'.encode())


def with_member(text: bytes, member: bytes) -> bytes:
    """A JSON object with one more member at the end, where it overrides one of the same name."""
    inside = text.strip()[:-1].rstrip()
    return inside + (b"" if inside == b"{" else b",") + member + b"}"


def read_payload(file: int = 0) -> bytes:
    """Read all of standard input, and return as much as is sent."""
    parts: list[bytes] = []
    size = 0
    while part := posix.read(file, 262_144):
        if size < LARGEST:
            parts.append(part)
            size += len(part)
    return b"".join(parts)[:LARGEST]


def quoted(text: bytes) -> str:
    """Text as JSON."""
    said = text.decode("utf-8", "replace")
    safe = [one if one >= " " and one not in '"\\' else f"\\u{ord(one):04x}" for one in said]
    return '"' + "".join(safe) + '"'


def git_branch() -> bytes | None:
    """The branch of the current folder; on a detached head, the start of the commit id."""
    try:
        found = git_head(posix.getcwdb())
    except OSError:
        return None
    return None if found is None else branch_in(found[1])


def git_head(folder: bytes) -> tuple[bytes, bytes] | None:
    """The file that says what is checked out in a folder or its nearest parent, and its content."""
    for _ in range(64):
        file = _head_file(folder)
        content = read_small(file)
        if content is not None:
            return file, content
        if folder in (b"", b"/"):
            return None
        folder = folder.rpartition(b"/")[0]
    return None


def branch_in(head: bytes) -> bytes:
    """The branch that such a file names, or the start of a commit id."""
    name = head.strip()
    return name[len(_BRANCH) :] if name.startswith(_BRANCH) else name[:12]


def _head_file(folder: bytes) -> bytes:
    git = folder + b"/.git"
    link = read_small(git) or b""
    if not link.startswith(_LINK):
        return git + b"/HEAD"
    # A worktree or a submodule.
    there = link[len(_LINK) :].strip()
    return (there if there[:1] == b"/" else folder + b"/" + there) + b"/HEAD"


def _facts(sender: Process) -> str:
    told = f'"pid":{sender.pid}'
    if sender.start:
        told += f',"proc_start":"{sender.start}"'
    if pane := posix.environ.get(b"TMUX_PANE"):
        told += f',"tmux_pane":{quoted(pane)}'
    if branch := git_branch():
        told += f',"git_branch":{quoted(branch)}'
    return f'{told},"sent_at":{time.time_ns() // 1_000_000}'
