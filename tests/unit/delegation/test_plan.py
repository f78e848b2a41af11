"""Plans: which phases go together, what a planner gets wrong, and what a person may write."""

import json
from typing import Any

import pytest

from callboard.delegation.plan import Plan, PlannedPhase, edited, settled, turn, waves
from callboard.errors import ValidationError


def plan(*phases: dict[str, Any]) -> Plan:
    return Plan(phases=[PlannedPhase.model_validate({"title": "t", **one}) for one in phases])


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        ([{}, {}, {}], [["phase_0"], ["phase_1"], ["phase_2"]]),
        (
            [{}, {"depends_on": ["phase_0"]}, {"depends_on": ["phase_0"]}, {}],
            [["phase_0"], ["phase_1", "phase_2"], ["phase_3"]],
        ),
        ([{"depends_on": []}, {"depends_on": []}], [["phase_0", "phase_1"]]),
        ([{}, {"wave": 1}, {"wave": 1}], [["phase_0"], ["phase_1", "phase_2"]]),
    ],
)
def test_what_does_not_need_each_other_is_worked_on_together(
    phases: list[dict[str, Any]], expected: list[list[str]]
):
    assert waves(plan(*phases)) == expected


def test_whose_turn_it_is_follows_from_what_is_done():
    made = plan({}, {"depends_on": []}, {"depends_on": ["phase_1"]})
    assert turn(made, []) == ["phase_0", "phase_1"]
    assert turn(made, ["phase_1"]) == ["phase_0", "phase_2"]
    assert turn(made, ["phase_0", "phase_1", "phase_2"]) == []


def test_an_agent_that_there_is_not_is_replaced_and_said():
    mended = settled(plan({"agent": "maker"}, {"agent": "ghost"}), ["maker"])
    assert [phase.agent for phase in mended.phases] == ["maker", "general-purpose"]
    assert mended.notes == ["phase_1: there is no agent 'ghost', so general-purpose is used."]


@pytest.mark.parametrize("unmet", ["phase_1", "phase_7", "the first"])
def test_a_phase_waits_for_none_that_is_not_before_it(unmet: str):
    mended = settled(plan({}, {"depends_on": ["phase_0", unmet]}), [])
    assert mended.phases[1].depends_on == ["phase_0"]
    assert mended.notes == [
        f"phase_1: {unmet!r} is not an earlier phase, so the dependency is ignored."
    ]
    assert waves(mended) == [["phase_0"], ["phase_1"]]


def test_a_person_may_write_the_whole_plan_or_only_its_phases():
    phases = [{"title": "One", "agent": "maker"}, {"title": "Two"}]
    whole = edited(json.dumps({"phases": phases}), ["maker"])
    assert [(phase.title, phase.agent) for phase in whole.phases] == [
        ("One", "maker"),
        ("Two", "general-purpose"),
    ]
    assert edited(json.dumps(phases), ["maker"]) == whole


@pytest.mark.parametrize(
    ("text", "field", "what"),
    [
        ("{", "plan", "is not valid JSON"),
        ("{}", "phases", "Field required"),
        ('{"phases": []}', "phases", "at least 1 item"),
        ('{"phases": [{"agent": "maker"}]}', "phases[0].title", "Field required"),
        ('{"phases": [{"title": " "}]}', "phases[0].title", "at least 1 character"),
        ('[{"title": "t", "who": 1}]', "phases[0].who", "not permitted"),
        ('[{"title": "t", "agent": "ghost"}]', "phases[0].agent", "general-purpose, maker"),
        (
            '[{"title": "t"}, {"title": "t", "depends_on": ["phase_1"]}]',
            "phases[1].depends_on",
            "Earlier phases: phase_0.",
        ),
        ('[{"title": "t", "depends_on": ["phase_0"]}]', "phases[0].depends_on", "phases: none."),
    ],
)
def test_a_wrong_plan_is_refused_with_its_field(text: str, field: str, what: str):
    with pytest.raises(ValidationError) as refused:
        edited(text, ["maker"])
    assert refused.value.context["field"] == field
    assert what in refused.value.message
