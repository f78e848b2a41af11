"""Words that we avoid are found wherever people read them, and only there.

That our own texts have none of them is what `make check` shows.
"""

import pytest
from tools import avoided_words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Whoever answers first wins.", "Whoever"),
        ("Nobody has answered yet.", "Nobody"),
        ("attend needs a terminal, and this is none.", "is none"),
        ("Porto is no city.", "is no "),
        ("Remove it for good.", "for good"),
        ("dana sees to this", "sees to"),
        ("Let a session go on, here.", "go on"),
        ("The session begins.", "begins"),
        ("What a plate tells of its agent", "tells of"),
    ],
)
def test_an_avoided_word_is_found_in_every_kind_of_text(text: str, found: str):
    for name, content in {
        "help.py": f'"""Say.\n\n{text}\n"""\n',
        "errors.py": f'name = "x"\nraise ValueError(f"{{name}}: {text}")\n',
        "comments.py": f"x = 1  # {text}\n",
        "page.md": f"# Page\n\n{text}\n",
        "text.ts": f"export const text = {{ note: '{text}' }} as const\n",
    }.items():
        assert [one.found for one in avoided_words.findings(name, content)] == [found], name


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("code.py", "if begin is None or nobody(whoever):\n    tells = 1\n"),
        ("table.sql.md", "`BEGIN IMMEDIATE` and `is None`"),
        ("page.md", "There is no server. It is no longer open, for good reason. See also."),
    ],
)
def test_code_and_ordinary_sentences_are_left_alone(name: str, content: str):
    assert avoided_words.findings(name, content) == []
