"""Find words that we avoid in everything people read, and say what to write instead.

`python tools/avoided_words.py` checks every file git tracks; with paths, only those.
docs/glossary.md has the words that we use for things; this is the list of the others.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent

# What to look for -> what to write instead. Case counts only at the first letter, so that
# `BEGIN` in SQL and `is None` in examples are left alone.
AVOIDED = {
    r"[Ww]h(?:o|om)ever": "anyone who, the person who, the process that",
    r"[Ss]omebody": "someone; better, name the person or program",
    r"[Nn]obody": "no one; better, say what is missing",
    r"(?<![Tt]here )(?:is|are|was|were) none": "say what is missing: there is no …",
    r"(?<!there )(?<!There )(?:is|was) no (?!one|longer|more|better|worse|different|less|fewer)": (
        "is not a …, isn't …"
    ),
    r"by way of": "as, through, with",
    r"for good(?! (?:reason|measure))": "permanently",
    r"(?:see|sees|saw|seeing) to(?! it)": "is assigned, handles",
    r"wants? a yes": "needs approval",
    r"(?<!benchmarks:)[Bb]eg(?:in|ins|an|un|inning|innings)": "start",
    r"[Aa]new": "again, over",
    r"(?:go|goes|went|gone|going) on(?! to)": "continue, resume",
    r"(?:tells?|told) (?:of|what|how|when|where|which|who|whose|why)": "report, say, show",
    r"(?:all|All) is well": "no problems found",
    r"[Ww]herein|[Tt]herein|[Tt]hereof|[Tt]hereby|[Ww]hence|[Tt]hence": "in which, so",
}
PATTERNS = {re.compile(rf"\b(?:{word})\b(?!-)"): better for word, better in AVOIDED.items()}

READ = {".py", ".md", ".ts", ".tsx", ".css", ".html", ".mjs", ".toml", ".yml", ".sh", ""}
# Not ours to word, or not for people: generated files, released migrations, recorded payloads.
SKIPPED = (
    "LICENSE",
    "docs/reference/specification/",
    "src/callboard/harness/extraction/approval.py",  # words that people use
    "src/callboard/log/sqlite/migrations/",
    "tests/",
    "tools/avoided_words.py",
)


class Finding(NamedTuple):
    """A place where an avoided word is read."""

    where: str
    line: int
    found: str
    better: str
    text: str

    def __str__(self) -> str:
        return f'{self.where}:{self.line}: "{self.found}" → {self.better}\n    {self.text}'


def prose(name: str, text: str) -> Iterator[tuple[int, str]]:
    """What people read in a file, with its lines. Of Python: comments and strings."""
    if not name.endswith(".py"):
        yield from enumerate(text.splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for offset, line in enumerate(node.value.splitlines()):
                yield node.lineno + offset, line


def findings(name: str, text: str) -> list[Finding]:
    """Every avoided word in a file, in the order of its lines."""
    found = {
        Finding(name, number, match[0], better, line.strip())
        for number, line in prose(name, text)
        for pattern, better in PATTERNS.items()
        for match in pattern.finditer(line)
    }
    return sorted(found)


def checked() -> list[Path]:
    """Every file git tracks that people read."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = [name for name in listing.split("\0") if name]
    return [
        ROOT / name
        for name in names
        if Path(name).suffix in READ
        and not name.startswith(SKIPPED)
        and "/tests/" not in name
        and (ROOT / name).is_file()
    ]


def main() -> int:
    """Print what was found; 1 if there is anything."""
    parser = argparse.ArgumentParser(description="Find words that we avoid.")
    parser.add_argument("paths", nargs="*", type=Path, help="only these files")
    options = parser.parse_args()
    count = 0
    for path in [one.resolve() for one in options.paths] or checked():
        name = path.relative_to(ROOT).as_posix()
        for finding in findings(name, path.read_text(encoding="utf-8")):
            print(finding)
            count += 1
    if count:
        print(f"\nFound {count} words that we avoid.", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
