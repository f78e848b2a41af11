"""The shell line that drops a hook into the spool, for an agent's settings.

It is as quick as a hook can be that needs no server: a shell, `cat` and `mv`.
"""

from pathlib import Path
from shlex import quote

from callboard.courier.delivery import is_agent
from callboard.errors import ValidationError

_LINE = (
    "exec >/dev/null 2>&1; umask 077; set -C; "
    "{pid}"
    # A name is ours once we could make its `.part`: with `set -C` nobody makes it twice. `true`,
    # because a shell would end with `:` if that failed.
    "cd {spool} && [ ! -e .full ] && n={agent}.$p.$$ && i=0 && "
    "until [ $i = 9 ] || {{ true >$n.$i.part && [ ! -e $n.$i.json ]; }}; do i=$((i+1)); done && "
    "[ $i != 9 ] && {{ cat >|$n.$i.part && mv -f $n.$i.part $n.$i.json || "
    # A full disk: what is left stands for a hook that was lost, and is counted.
    "{{ true >|$n.$i.part; mv -f $n.$i.part $n.$i.lost; false; }}; }} || "
    # Whoever writes to us must not notice that nobody wanted it, nor that there is no `cat`.
    "cat || while read -r p; do true; done; exit 0"
)
_ITS_OWN = 'p=${CLAUDE_PID-}; case $p in ""|*[!0-9]*) p=$PPID;; esac; '
_PARENT = "p=$PPID; "


def spool_command(folder: Path, agent: str) -> str:
    """A line for a POSIX shell that drops what it reads into the spool of the hooks' folder.

    It prints nothing, ends with 0 in every case, and overwrites nothing. A shell cannot edit JSON,
    so the agent's process is told by the name of the file: `<agent>.<pid>.<shell>.<n>.json`.
    """
    _check(agent)
    pid = _ITS_OWN if agent == "claude" else _PARENT
    return _LINE.format(pid=pid, spool=quote(str(folder.absolute() / "spool")), agent=agent)


def _check(agent: str) -> None:
    if not is_agent(agent):
        raise ValidationError(f"{agent!r} can be no agent's name.", field="agent")
