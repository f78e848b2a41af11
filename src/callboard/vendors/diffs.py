"""Unified diffs as clients write them, without the names of the files."""

from typing import Final

from callboard.vendors.conversation import FileEdit

_ACTIONS: Final = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")


def created(content: str) -> str:
    """The diff of a new file."""
    lines = content.splitlines()
    return f"@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)


def replaced(old: str, new: str) -> str:
    """The diff of a text that is replaced, wherever it is."""
    removed = "".join(f"-{line}\n" for line in old.splitlines())
    return "@@ @@\n" + removed + "".join(f"+{line}\n" for line in new.splitlines())


def without_header(diff: str) -> str:
    """A diff from its first hunk on; empty if it has none."""
    if diff.startswith("@@"):
        return diff
    start = diff.find("\n@@")
    return diff[start + 1 :] if start >= 0 else ""


def edits_in_patch(patch: str) -> list[FileEdit]:
    """What a patch is about to change, in the format of `apply_patch`."""
    path, lines, found = "", list[str](), list[FileEdit]()
    for line in [*patch.splitlines(), "*** End Patch"]:
        if not line.startswith("*** "):
            lines.append(line + "\n")
            continue
        if path and not line.startswith("*** Move to: "):
            found.append(FileEdit(path, "".join(lines)))
            path = ""
        for action in _ACTIONS:
            if line.startswith(action):
                path, lines = line.removeprefix(action).strip(), []
    return found
