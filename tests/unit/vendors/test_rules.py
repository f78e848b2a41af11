"""The rules that agents propose, in words; the dashboard says the same."""

from typing import Any

import pytest

from callboard.vendors.rules import Rule, rules_of

BASH = {"toolName": "Bash", "ruleContent": "npm test:*"}


@pytest.mark.parametrize(
    ("suggestion", "told"),
    [
        (
            {"type": "addRules", "rules": [BASH], "behavior": "allow", "destination": "session"},
            Rule("Allow without asking", ("Bash(npm test:*)",), "for this session"),
        ),
        (
            {"type": "addRules", "rules": [{"toolName": "Read"}, 5], "behavior": "deny"},
            Rule("Deny without asking", ("Read", "5"), ""),
        ),
        (
            {"type": "replaceRules", "rules": [], "behavior": "odd", "destination": "elsewhere"},
            Rule("Instead of all rules: odd", (), "elsewhere"),
        ),
        (
            {"type": "addDirectories", "directories": ["/"], "destination": "userSettings"},
            Rule("Let it work in", ("/",), "for all your projects (~/.claude/settings.json)"),
        ),
        ({"type": "setMode", "mode": "x"}, Rule("Switch the permission mode to", ("x",), "")),
        ({"pattern": "git *"}, Rule("Change its settings", ('{"pattern":"git *"}',), "")),
        ("of tomorrow", Rule("Change its settings", ("of tomorrow",), "")),
    ],
)
def test_each_is_told_to_the_letter(suggestion: Any, told: Rule):
    assert rules_of({"suggestions": [suggestion]}) == [told]


@pytest.mark.parametrize("config", [None, {}, {"suggestions": None}, {"suggestions": "odd"}])
def test_without_a_proposal_there_is_no_rule(config: Any):
    assert rules_of(config) == []
