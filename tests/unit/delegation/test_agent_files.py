"""Agents' files as people write them: with colons, lists, long texts, and mistakes."""

import os
from pathlib import Path

import pytest

from callboard.delegation.agent_files import find_agents, read_agent

HEADS = {
    "plain": "name: maker\ndescription: Makes things",
    "colons": "name: maker\ndescription: Use this agent when: something is to be made: quickly",
    "examples": (
        "name: maker\n"
        'description: Makes things. Examples: <example>user: "Go" assistant: "I go"</example>\n'
        "color: blue"
    ),
    "quoted": 'name: "maker"\ndescription: "Makes: things"',
    "folded": "name: maker\ndescription: >\n  Makes things,\n  many of them\n",
    "broken_and_indented": "name: maker\ndescription: a: b\n  and: more\ntools: Read",
    "no_such_day": "name: maker\ndescription: Makes things\nupdated: 2024-02-30",
    "brackets": f"name: maker\ndescription: Makes things\nmore: {'[' * 3000}",
    "alias": "name: maker\ndescription: Makes things\nbase: &a [1]\nmore: *a",
    "comment": "# mine\nname: maker\ndescription: Makes things",
}


def write(folder: Path, text: str, name: str = "maker.md") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("head", HEADS.values(), ids=HEADS.keys())
def test_heads_are_read_with_forgiveness(tmp_path: Path, head: str):
    agent = read_agent(write(tmp_path, f"---\n{head}\n---\n\nYou make things.\n"))
    assert agent.name == "maker"
    assert agent.description
    assert agent.prompt == "You make things."


def test_a_description_with_colons_is_kept_word_for_word(tmp_path: Path):
    agent = read_agent(write(tmp_path, f"---\n{HEADS['colons']}\n---\n"))
    assert agent.description == "Use this agent when: something is to be made: quickly"


@pytest.mark.parametrize(
    ("line", "tools"),
    [
        ("tools: Read, Grep", ["Read", "Grep"]),
        ("tools: [Read, Grep]", ["Read", "Grep"]),
        ("tools:\n  - Read\n  - Grep", ["Read", "Grep"]),
        ("use: a: b\ntools:\n  - Read\n  - 'Grep'\n", ["Read", "Grep"]),
        ("use: a: b\ntools:\n- Read\n- Grep", ["Read", "Grep"]),
        ("tools: Read, Bash(git diff:*)", ["Read", "Bash(git diff:*)"]),
        ("tools: '*'", None),
        ("tools: *", None),
        ("tools:", None),
        ("color: red", None),
    ],
)
def test_tools(tmp_path: Path, line: str, tools: list[str] | None):
    head = f"name: maker\ndescription: Makes things\n{line}"
    assert read_agent(write(tmp_path, f"---\n{head}\n---\n")).tools == tools


def test_what_it_may_not_use(tmp_path: Path):
    head = "name: maker\ndescription: Makes things\ndisallowedTools: Bash(rm:*), WebFetch"
    agent = read_agent(write(tmp_path, f"---\n{head}\n---\n"))
    assert agent.disallowed_tools == ["Bash(rm:*)", "WebFetch"]
    assert agent.tools is None


def test_a_mode_that_only_a_person_may_give_is_said(tmp_path: Path):
    head = "description: Makes things\npermissionMode: "
    for name in ("plan", "default"):
        write(tmp_path, f"---\nname: {name}\n{head}{name}\n---\n", f"{name}.md")

    found = find_agents([tmp_path])

    assert [agent.name for agent in found.agents] == ["default", "plan"]
    [warning] = found.warnings
    assert warning.startswith(f"{tmp_path}/plan.md: its permissionMode 'plan' is ignored. Use --")


@pytest.mark.parametrize(
    ("line", "model"), [("model: haiku", "haiku"), ("model: inherit", None), ("x: 1", None)]
)
def test_model(tmp_path: Path, line: str, model: str | None):
    head = f"name: maker\ndescription: Makes things\n{line}"
    assert read_agent(write(tmp_path, f"---\n{head}\n---\n")).model == model


def test_a_mark_of_byte_order_and_carriage_returns_do_no_harm(tmp_path: Path):
    file = tmp_path / "maker.md"
    file.write_bytes(b"\xef\xbb\xbf---\r\nname: maker\r\ndescription: d\r\n---\r\nYou make.\r\n")
    assert read_agent(file).prompt == "You make."


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("You make things.\n", 1, "does not start with ---"),
        ("", 1, "does not start with ---"),
        ("---\nname: maker\n", 1, "add a line with ---"),
        ("---\ndescription: d\n---\n", 1, "has no name"),
        ("---\nname: maker\n---\n", 1, "has no description"),
        ("---\ndescription: d\nname: two words\n---\n", 3, "letters, digits and dashes"),
        ("---\nname: maker\ndescription: d\ntools: 3\n---\n", 4, "write tools: Read, Grep"),
        ("---\nname: m\ndescription: d\ndisallowedTools: '*'\n---\n", 4, "denies every tool"),
        ("---\nname: m\ndescription: d\ndisallowedTools: 3\n---\n", 4, "disallowedTools: Read"),
        ("---\nname: maker\ndescription: d\nmodel: [a]\n---\n", 4, "such as sonnet"),
        ("---\nname: maker\ndescription: 42\n---\n", 3, "quote it"),
        ("---\nname: maker\ndescription: [a]\n---\n", 3, "description is not text"),
        ("---\nname: [a]\ndescription: d\n---\n", 2, "letters, digits and dashes"),
        ("---\nname: &a maker\n)(: *a\n---\n", 3, "write out the value"),
        ("---\nname: maker\n)(: {\n---\n", 3, "is not valid YAML"),
        ("---\n- a\n---\n", 2, "is empty"),
    ],
)
def test_a_broken_one_is_left_out_and_said_with_file_and_line(
    tmp_path: Path, text: str, line: int, what: str
):
    broken = write(tmp_path, text, "broken.md")
    write(tmp_path, "---\nname: good\ndescription: d\n---\n", "good.md")

    found = find_agents([tmp_path])

    assert [agent.name for agent in found.agents] == ["good"]
    [warning] = found.warnings
    assert warning.startswith(f"{broken}:{line}: ")
    assert what in warning
    assert warning.endswith("This agent is skipped.")


def test_what_is_no_text_or_cannot_be_read_is_left_out(tmp_path: Path):
    (tmp_path / "binary.md").write_bytes(b"---\nname: \xff\n")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "lost.md").symlink_to(tmp_path / "nowhere")

    found = find_agents([tmp_path])

    assert found.agents == []
    assert [warning.split(": ")[0] for warning in found.warnings] == [
        f"{tmp_path}/binary.md:2",
        f"{tmp_path}/folder.md:1",
        f"{tmp_path}/lost.md:1",
    ]


def test_what_never_ends_or_never_begins_is_left_out(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "zero.md").symlink_to("/dev/zero")
    write(tmp_path, f"---\nname: large\ndescription: d\n---\n{'x' * 1_000_000}", "large.md")
    write(tmp_path, "---\nname: good\ndescription: d\n---\n", "good.md")

    found = find_agents([tmp_path])

    assert [agent.name for agent in found.agents] == ["good"]
    assert [warning.split(": ")[1] for warning in found.warnings] == [
        "it is larger than 1 MB; make it shorter. This agent is skipped.",
        "it is not a regular file; put the agent's text there. This agent is skipped.",
        "it is not a regular file; put the agent's text there. This agent is skipped.",
    ]


@pytest.mark.parametrize(
    ("first", "each"), [("&a0 [x, x]", "[{0}, {0}]"), ("&a0 {x: x}", "{{<<: [{0}, {0}]}}")]
)
def test_aliases_that_would_fill_all_memory_do_no_harm(tmp_path: Path, first: str, each: str):
    grown = (f"b{n}: &a{n} {each.format(f'*a{n - 1}')}" for n in range(1, 60))
    head = "\n".join(["name: maker", f"b0: {first}", *grown, "description: *a59"])
    found = find_agents([write(tmp_path, f"---\n{head}\n---\n").parent])
    assert [len(agent.description) for agent in found.agents] == [len("*a59")]


def test_the_first_of_a_name_counts_and_a_folder_that_is_not_there_has_none(tmp_path: Path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder, f"---\nname: maker\ndescription: of {folder}\n---\n")

    found = find_agents([tmp_path / "none", tmp_path / "b", tmp_path / "a", tmp_path / "b"])

    assert [agent.description for agent in found.agents] == ["of b"]
    assert found.warnings == []
