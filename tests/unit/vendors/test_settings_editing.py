"""Any settings file, however it is written: what is not ours stays as it is, byte for byte."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.errors import SettingsUnusable
from callboard.vendors.claude.settings import ClaudeSettings
from callboard.vendors.settings import files
from callboard.vendors.settings.installing import InstallPlan, install, uninstall
from callboard.vendors.settings.jsonc import DEEPEST, parse
from callboard.vendors.settings.jsonc_editing import add, remove

HOOK = {"hooks": [{"type": "command", "command": "ours"}]}
WANTED: dict[str, Any] = {
    "hooks": {"Stop": [HOOK], "PreToolUse": [HOOK]},
    "permissions": {"deny": ["Ours(a)", "Ours(b)"]},
    "env": {"OURS": "x"},
}


def is_ours(steps: tuple[Any, ...], value: Any) -> bool:
    if steps[:1] == ("hooks",):
        return len(steps) == 3 and value == HOOK
    return steps == ("env", "OURS") or (steps[:2] == ("permissions", "deny") and "Ours" in value)


def nothing(steps: tuple[Any, ...]) -> bool:
    return False


# ---------------------------------------------------------------------- documents, at random

names = st.text(max_size=6)
leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=12)
)  # fmt: skip
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
handlers = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.text(max_size=8)},
    optional={"timeout": st.integers()},
)
groups = st.fixed_dictionaries(
    {"hooks": st.lists(handlers, max_size=2)}, optional={"matcher": st.sampled_from(["", "Bash"])}
)
events = st.dictionaries(
    st.sampled_from(["Stop", "PreToolUse", "Other"]), st.lists(groups, max_size=2), max_size=3
)
rules = st.fixed_dictionaries(
    {}, optional={"deny": st.lists(st.text(max_size=5), max_size=2), "allow": st.just([])}
)
documents = st.builds(
    lambda rest, ours: {
        **{key: one for key, one in rest.items() if key not in ("hooks", "permissions", "env")},
        **ours,
    },
    st.dictionaries(names, values, max_size=4),
    st.fixed_dictionaries(
        {},
        optional={
            "hooks": events,
            "permissions": rules,
            "env": st.dictionaries(names, st.text(max_size=4), max_size=2),
        },
    ),
)
spaces = st.sampled_from(
    ["", "", "", " ", "\n", "\r\n", "\n  ", "\t", ' // note, with "quotes" }\n', "/* ] */", "\n\n"]
)


@st.composite
def written(draw, given: Any | None = None) -> str:
    """A document as somebody might have written it."""
    value = draw(documents) if given is None else given
    style = draw(st.sampled_from(["free", "pretty", "tabs", "compact"]))
    if style == "pretty":
        text = json.dumps(value, indent=draw(st.sampled_from([1, 2, 4])), ensure_ascii=False)
        text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    elif style == "tabs":
        text = json.dumps(value, indent="\t")
    elif style == "compact":
        text = json.dumps(value, separators=(",", ":"))
    else:
        text = draw(spaces) + freely(draw, value) + draw(spaces)
    return text + draw(st.sampled_from(["", "\n"]))


def freely(draw, value: Any) -> str:
    if isinstance(value, dict):
        items = [
            json.dumps(key) + draw(spaces) + ":" + draw(spaces) + freely(draw, one)
            for key, one in value.items()
        ]
        return "{" + joined(draw, items) + "}"
    if isinstance(value, list):
        return "[" + joined(draw, [freely(draw, one) for one in value]) + "]"
    return json.dumps(value)


def joined(draw, items: list[str]) -> str:
    text = draw(spaces) + f"{draw(spaces)},".join(draw(spaces) + item for item in items)
    return text + draw(spaces) + ("," + draw(spaces) if items and draw(st.booleans()) else "")


def without_empty(value: dict[str, Any]) -> dict[str, Any]:
    """The document without what is empty where ours would be."""
    left = {**value, "hooks": {k: v for k, v in value.get("hooks", {}).items() if v}}
    left["permissions"] = {k: v for k, v in value.get("permissions", {}).items() if v}
    return {k: v for k, v in left.items() if v or k not in WANTED}


def touched(value: dict[str, Any]) -> list[Any]:
    """What is added to."""
    inside = [value.get("hooks"), value.get("permissions"), value.get("env")]
    deeper = [*(value.get("hooks") or {}).values(), (value.get("permissions") or {}).get("deny")]
    return [value, *(one for one in (*inside, *deeper) if one is not None)]


@given(written())
def test_what_is_added_can_be_removed_without_a_trace(text):
    value: Any = parse(text).value
    after = add(text, WANTED)
    left = remove(after, is_ours, nothing)
    if all(touched(value)):
        assert left == text
        assert add(left, WANTED) == after
    else:  # Of what was empty, nobody knows how much space was in it, or that it was there.
        rest: Any = parse(left).value
        assert without_empty(rest) == without_empty(value)


@given(written())
def test_what_is_added_is_all_that_changes(text):
    value: Any = parse(text).value
    after: Any = parse(add(text, WANTED)).value
    for event in WANTED["hooks"]:
        assert after["hooks"][event] == [*value.get("hooks", {}).get(event, []), HOOK]
    assert after["env"] == {**value.get("env", {}), "OURS": "x"}
    deny = value.get("permissions", {}).get("deny", [])
    assert after["permissions"]["deny"] == [*deny, "Ours(a)", "Ours(b)"]
    for key in value:
        if key not in WANTED:
            assert after[key] == value[key]
    assert [key for key in after if key in value] == list(value)
    assert (
        "Other" not in value.get("hooks", {}) or after["hooks"]["Other"] == value["hooks"]["Other"]
    )


@given(written())
def test_to_add_twice_is_to_add_once(text):
    once = add(text, WANTED)
    assert add(once, WANTED) == once


@given(written(), st.sampled_from(["", "\ufeff"]))
def test_install_and_uninstall_leave_every_byte(text, mark):
    data = (mark + text).encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "settings.json"
        path.write_bytes(data)
        plan = InstallPlan(folder / "x.db.hooks", folder / "x.db")
        assert install(ClaudeSettings(), path, plan).changed
        once, then = path.read_bytes(), path.stat().st_mtime_ns
        assert not install(ClaudeSettings(), path, plan).changed
        assert (path.read_bytes(), path.stat().st_mtime_ns) == (once, then)
        assert uninstall(ClaudeSettings(), path, plan.folder).changed
        assert path.read_bytes() == data
        assert files.backups(path) == []


@given(written(), st.text(max_size=5))
def test_what_somebody_adds_between_stays(text, added):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "settings.json"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        plan = InstallPlan(folder / "x.db.hooks", folder / "x.db")
        install(ClaudeSettings(), path, plan)
        theirs = {
            "added": added,
            "permissions": {"allow": ["Bash(ls:*)"]},
            "hooks": {"Stop": [HOOK]},
        }
        path.write_text(add(files.read(path).text or "", theirs), encoding="utf-8", newline="")
        uninstall(ClaudeSettings(), path, plan.folder)
        left = parse(files.read(path).text or "").value
        assert left == parse(add(text, theirs)).value


# ---------------------------------------------------------------------- documents, by hand

CASES = {
    '{\n  "a": 1 // one\n}\n': '{\n  "a": 1, // one\n  "b": 2\n}\n',
    '{\n\t"a": 1, /* one */\n}': '{\n\t"a": 1, /* one */\n\t"b": 2,\n}',
    '{"a": 1}': '{"a": 1, "b": 2}',
    '{"a": 1,}': '{"a": 1, "b": 2,}',
    "{}": '{\n  "b": 2\n}',
    "{\n    // nothing yet\n}": '{\n    // nothing yet\n  "b": 2\n}',
    '{\r\n    "a": [\r\n    ]\r\n}': '{\r\n    "a": [\r\n    ],\r\n    "b": 2\r\n}',
}


@pytest.mark.parametrize(("text", "after"), CASES.items())
def test_what_is_added_takes_the_style_of_the_rest(text, after):
    assert add(text, {"b": 2}) == after


def test_a_comment_that_ends_its_line_stays_on_a_line_of_its_own():
    text = '{"a": 1, // about a\n "ours": 2}'
    left = remove(text, lambda steps, value: steps == ("ours",), nothing)
    assert parse(left).value == {"a": 1}
    assert "// about a\n" in left


def test_of_two_members_with_one_name_the_last_is_meant():
    value: Any = parse(add('{"hooks": {"x": 1}, "hooks": {}}', WANTED)).value
    assert value["hooks"] == WANTED["hooks"]


BROKEN = {
    '{\n  "a": 1\n  "b": 2\n}': (3, 3, "a comma or }"),
    '{"a" 1}': (1, 6, "a colon"),
    "{a: 1}": (1, 2, "in \"quotes\""),
    '{"a": nope}': (1, 7, "a value"),
    '{"a": "x\n"}': (1, 9, "control character"),
    '{"a": "x': (1, 7, "unterminated string"),
    "{} {}": (1, 4, "nothing more"),
    "{ /* never closed ": (1, 3, "has no end"),
    "": (1, 1, "a value"),
    "[1, , 2]": (1, 5, "a value"),
    "{\"a\": 01}": (1, 8, "a comma or }"),
    "[" * (DEEPEST + 2): (1, DEEPEST + 2, "nested deeper"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "told"), BROKEN.items())
def test_an_error_names_the_line_and_the_column(text, told):
    line, column, said = told
    with pytest.raises(SettingsUnusable, match=f"line {line}, column {column}: ") as caught:
        parse(text)
    assert said in caught.value.message


@pytest.mark.parametrize("value", ["[]", '"hooks"', "1", "null"])
def test_only_objects_can_be_added_to(value):
    with pytest.raises(SettingsUnusable, match="hooks is not an object"):
        add(f'{{"hooks": {value}}}', WANTED)


def test_a_large_document_is_edited_like_a_small_one():
    text = json.dumps({f"key {number}": ["x" * 50] * 3 for number in range(5000)}, indent=2)
    assert remove(add(text, WANTED), is_ours, nothing) == text
