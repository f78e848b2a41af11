"""The plan: the seed's XML, well-formed whatever the questions contain."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.interactions import interaction

from callboard.cli.commands.plan import outcome_of, plan_xml, shown
from callboard.engine.sessions import SessionInfo

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)

QUESTION = interaction(
    id="c4n0v8e2r6y1",
    session_id="7k3m9q2x4t8w",
    type="interactive_session",
    prompt="Review the proposed database schema changes and approve or reject them.",
    config={"model": "sonnet", "timeout": 1800000, "outcomeSchema": {"type": "approval"}},
    created_at=NOW,
)

SESSION = SessionInfo(
    session_id="7k3m9q2x4t8w",
    workflow="migrate",
    version=None,
    source=None,
    status="waiting",
    running=False,
    phase="review",
    position=7,
    created_at=NOW,
    updated_at=NOW,
    parent=None,
    fork_position=None,
    pending=[],
    error=None,
    held=None,
)

PENDING = """\
<plan session="7k3m9q2x4t8w" workflow="migrate" status="waiting">
  <human-interaction type="interactive_session" status="pending">
    <prompt>Review the proposed database schema changes and approve or reject them.</prompt>
    <config>
      <model>sonnet</model>
      <timeout>1800000</timeout>
      <outcome-type>approval</outcome-type>
    </config>
    <message>Waiting for interactive session to complete...</message>
  </human-interaction>
</plan>"""

RESOLVED = """\
<plan session="7k3m9q2x4t8w" workflow="migrate" status="waiting">
  <human-interaction type="interactive_session" status="completed">
    <prompt>Review the proposed database schema changes and approve or reject them.</prompt>
    <outcome>approved</outcome>
    <duration>342000</duration>
    <response>{"approved": true, "notes": "Schema looks good after reviewing indexes"}</response>
  </human-interaction>
</plan>"""


def test_a_pending_session_is_written_as_the_seed_has_it():
    assert plan_xml(SESSION, [QUESTION]) == PENDING


def test_a_resolved_session_is_written_as_the_seed_has_it():
    notes = {"approved": True, "notes": "Schema looks good after reviewing indexes"}
    resolved = replace(QUESTION, status="completed", response=notes, duration_ms=342000)
    assert plan_xml(SESSION, [resolved]) == RESOLVED


def test_a_session_that_asks_nothing_has_an_empty_plan():
    assert list(Xml.fromstring(plan_xml(SESSION, []))) == []


@pytest.mark.parametrize(
    ("question", "outcome"),
    [
        ({"response": "approved"}, "approved"),
        ({"response": "rejected"}, "rejected"),
        ({"response": "approved", "config": {"outcomeSchema": {"type": "freeform"}}}, "completed"),
        ({"response": {"approved": False}, "config": None}, "rejected"),
        ({"response": {"approved": "yes"}, "config": None}, "completed"),
        ({"response": ["approved"], "config": None}, "completed"),
        ({"response": {"approved": True}, "status": "cancelled"}, "cancelled"),
        ({"status": "timeout"}, "timeout"),
        ({"status": "failed", "error": "no agent"}, "failed"),
        ({"type": "approval", "response": {"value": "no", "approved": False}}, "rejected"),
        ({"type": "confirmation", "status": "approved"}, "approved"),
        ({"type": "choice", "response": {"value": "x"}}, "completed"),
    ],
)
def test_what_came_of_it_is_one_word(question: dict[str, Any], outcome: str):
    closed = replace(QUESTION, **{"status": "completed", **question})
    assert outcome_of(closed) == outcome
    plan = Xml.fromstring(plan_xml(SESSION, [closed]))
    assert plan.findtext("./human-interaction/outcome") == outcome
    assert plan.findtext("./human-interaction/error") == question.get("error")


def test_other_questions_are_in_the_plan_too():
    choice = replace(QUESTION, type="choice", options=["a & b", "<c>"], config=None)
    plan = Xml.fromstring(plan_xml(SESSION, [QUESTION, choice]))
    first, second = plan
    assert [one.get("type") for one in plan] == ["interactive_session", "choice"]
    assert [one.text for one in second.findall("option")] == ["a & b", "<c>"]
    assert second.findtext("message") == "Waiting for an answer..."
    assert first.find("option") is None


def test_a_model_is_named_and_a_schema_of_one_s_own_is_structured():
    asked = replace(QUESTION, config={"outcomeSchema": {"type": "object"}})
    plan = Xml.fromstring(plan_xml(SESSION, [asked]))
    assert plan.findtext(".//model") == "sonnet"
    assert plan.findtext(".//outcome-type") == "structured"
    assert plan.find(".//timeout") is None


def test_who_has_decided_so_far_is_shown():
    asked = replace(QUESTION, response={"alice": "approved"})
    plan = Xml.fromstring(plan_xml(SESSION, [asked]))
    assert plan.findtext(".//response") == '{"alice": "approved"}'


# All that SQLite can hold and JSON can carry; the worst of it more often.
nasty = st.sampled_from(["]]>", "<!--", "-->", "<![CDATA[", "&#0;", "&amp;", '"', "'", "\r\n"])
hidden = st.sampled_from("\x00\x07\x1b\x7f\x85\ufeff\u2028\u202e\u2066\ufffe\uffff\U000e0041\r\t\n")
texts = st.lists(nasty | hidden | st.text(max_size=5), max_size=8).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(prompt=texts, workflow=texts, response=values, error=texts, status=st.booleans())
def test_it_is_well_formed_whatever_is_in_it(
    prompt: str, workflow: str, response: Any, error: str, status: bool
):
    asked = replace(
        QUESTION,
        prompt=prompt,
        options=[prompt, error],
        status="failed" if status else "pending",
        response=response,
        error=error,
        config={"model": prompt or "m", "outcomeSchema": {"type": "freeform"}},
    )
    text = plan_xml(replace(SESSION, workflow=workflow), [asked, asked])
    plan = Xml.fromstring(text)
    assert (plan.tag, plan.get("workflow")) == ("plan", shown(workflow))
    assert [one.tag for one in plan] == ["human-interaction"] * 2
    for one in plan:
        assert one.findtext("prompt") == shown(prompt)
        assert [option.text or "" for option in one.findall("option")] == [
            shown(prompt),
            shown(error),
        ]
        told = one.findtext("response")
        assert (None if told is None else json.loads(told)) == response
    assert not set(text) & set("\x00\x1b\x7f\x85\u202e\u2066\ufeff\ufffe\uffff\r")
