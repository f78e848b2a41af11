"""Find calls that only Linux has, outside of the modules that are for Linux.

`python tools/linux_only.py` checks all of src; with paths, only those. macOS has to work as well as
Linux, and there is often no Mac to try it on.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "callboard"

# Names of attributes, functions and constants -> where else to find the same.
ONLY_THERE = {
    r"pidfd_\w+|P_PIDFD": "systems: `kill`, and a process's start",
    r"epoll|EPOLL\w+": "asyncio, or `selectors`",
    r"inotify_\w+": "systems/folder_watch.py",
    r"eventfd\w*|timerfd\w*|signalfd\w*|memfd_create": "a pipe, or asyncio",
    r"SO_PEERCRED|SO_BINDTODEVICE|SO_PASSCRED|SCM_CREDENTIALS": "systems: `find_socket`",
    r"AF_NETLINK|NETLINK_\w+|AF_PACKET|AF_ALG|AF_VSOCK": "systems/linux.py",
    r"SOCK_CLOEXEC|SOCK_NONBLOCK|accept4|pipe2|dup3": "`setblocking`; Python closes files itself",
    r"TCP_KEEPIDLE|TCP_USER_TIMEOUT|TCP_QUICKACK|TCP_DEFER_ACCEPT": "`getattr` with a default",
    r"prctl|unshare|setns|sched_\w+|setresuid|setresgid|gettid": "nothing: do without it",
    r"O_TMPFILE|O_PATH|O_DIRECT|O_NOATIME": "disk/files.py",
    r"copy_file_range|posix_fadvise|posix_fallocate": "plain reads",
    r"getxattr|setxattr|listxattr|removexattr": "a file beside it",
    r"sigwaitinfo|sigtimedwait|waitid": "`getattr` with a default, and `sigwait`",
    r"fdatasync|fsync": "disk/files.py: `flush`, which reaches the disk on macOS, too",
    r"RLIMIT_(?:MSGQUEUE|NICE|RTPRIO|RTTIME|SIGPENDING)|F_SETPIPE_SZ": "nothing: do without it",
}
NAMES = re.compile(rf"(?:{'|'.join(ONLY_THERE)})")
PROC = re.compile(r"(?:^|[\s\"'(])/(?:proc|sys/(?:fs|class|kernel)|dev/shm)(?:/|$)")
TAKES_ADDRESS = {"bind", "connect", "connect_ex", "sendto"}

# Part of a path -> what it may use, and what happens on a system without it.
ALLOWED = {
    "systems/linux.py": ("", "it is for Linux"),
    "systems/folder_watch.py": ("inotify", "otherwise, the caller looks often"),
    "systems/open_files.py": ("/proc", "otherwise, a link stands for the open folder"),
    "courier/processes.py": ("/proc", "otherwise, the server looks up the start"),
    "vendors/opencode/plugin.js": ("/proc", "otherwise, the server looks up the start"),
    "disk/files.py": ("fsync", "it is what others call"),
    "harness/confirmation_hook.py": ("fsync", "it stands alone, and a power cut ends its session"),
}


class Found(NamedTuple):
    """A call that only Linux has."""

    where: str
    line: int
    name: str
    better: str

    def __str__(self) -> str:
        return f"{self.where}:{self.line}: {self.name} → {self.better}"


def findings(where: str, text: str) -> list[Found]:
    """All that a file uses and may not. where: its path below src/callboard."""
    used = _in_python(ast.parse(text)) if where.endswith(".py") else _in_text(text)
    mark, _ = ALLOWED.get(where, (None, ""))
    return sorted(
        Found(where, line, name, _better(name))
        for line, name in set(used)
        if mark is None or mark not in name
    )


def _in_python(tree: ast.Module) -> Iterator[tuple[int, str]]:
    prose = set(_docstrings(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and NAMES.fullmatch(node.attr):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name) and NAMES.fullmatch(node.id):
            yield node.lineno, node.id
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, one.name) for one in node.names if NAMES.fullmatch(one.name))
        elif isinstance(node, ast.Constant) and id(node) not in prose:
            yield from ((node.lineno, name) for name in _in_constant(node.value))
        elif isinstance(node, ast.Call) and _is_abstract(node):
            yield node.lineno, "an abstract socket"


def _docstrings(tree: ast.Module) -> Iterator[int]:
    """Strings that are statements: they say something, and do nothing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield id(node.value)


def _in_constant(value: object) -> Iterator[str]:
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if isinstance(text, str) and (found := PROC.search(text)):
        yield found[0].strip("\"'( ")


def _is_abstract(node: ast.Call) -> bool:
    """Whether a socket's address starts with a zero byte."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in TAKES_ADDRESS:
        return False
    for given in node.args:
        first = given.values[0] if isinstance(given, ast.JoinedStr) and given.values else given
        value = first.value if isinstance(first, ast.Constant) else None
        if isinstance(value, str | bytes) and value[:1] in ("\0", b"\0"):
            return True
    return False


def _in_text(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := PROC.search(line):
            yield number, found[0].strip("\"'( ")


def _better(name: str) -> str:
    for pattern, better in ONLY_THERE.items():
        if re.fullmatch(pattern, name):
            return better
    return "systems: processes, sockets and open files"


def checked() -> list[Path]:
    """Every source file that we ship."""
    files = (one for one in SOURCE.rglob("*") if one.suffix in (".py", ".js"))
    return sorted(one for one in files if "ui" not in one.relative_to(SOURCE).parts)


def main() -> int:
    """Print what was found; 1 if there is anything."""
    parser = argparse.ArgumentParser(description="Find calls that only Linux has.")
    parser.add_argument("paths", nargs="*", type=Path, help="only these files")
    options = parser.parse_args()
    count = 0
    for path in [one.resolve() for one in options.paths] or checked():
        where = path.relative_to(SOURCE).as_posix()
        for found in findings(where, path.read_text(encoding="utf-8")):
            print(found)
            count += 1
    if count:
        print(f"\nFound {count} calls that only Linux has.", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
