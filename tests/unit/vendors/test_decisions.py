"""Answers as each agent wants to hear them."""

from dataclasses import replace
from typing import Any

import pytest
from tests.interactions import NOON, interaction
from tests.unit.vendors.recordings import recorded

from callboard.events.json_values import objects
from callboard.interactions.records import Interaction
from callboard.interactions.rulings import answers
from callboard.vendors.agents import VENDORS
from callboard.vendors.requests import request

QUESTIONS = [{"question": "Which?", "options": []}, {"question": "With?", "multiSelect": True}]
RULES = [{"type": "addRules", "rules": [], "behavior": "allow", "destination": "session"}]


def resolved(type: str, response: Any, **config: Any) -> Interaction:
    return interaction(
        type=type, status="completed", response=response, config=config, resolved_at=NOON
    )


def decided(agent: str, asked: Interaction) -> Any:
    said: Any = VENDORS[agent].decision(asked)
    if "hookSpecificOutput" not in said:
        return said
    assert set(said) == {"hookSpecificOutput"}
    output = said["hookSpecificOutput"]
    assert output["hookEventName"] == "PermissionRequest"
    return output["decision"]


def claude(type: str, response: Any, **config: Any) -> Any:
    return decided("claude", resolved(type, response, **config))


def test_yes_is_allow_and_nothing_more():
    assert claude("permission", {"approved": True}, suggestions=RULES) == {"behavior": "allow"}


def test_no_is_deny_with_a_word_to_the_agent():
    said = claude("permission", {"approved": False, "message": "Use trash"})
    assert said == {"behavior": "deny", "message": "Use trash", "interrupt": False}


def test_no_without_a_word_still_says_who_said_it():
    assert "person" in claude("permission", {"approved": False})["message"]
    assert "person" in claude("plan", {"approved": False})["message"]


def test_always_makes_the_rules_that_the_client_proposed():
    said = claude("permission", {"approved": True, "always": True}, suggestions=RULES)
    assert said == {"behavior": "allow", "updatedPermissions": RULES}


def test_a_yes_with_an_edited_input_has_it():
    edited = {"command": "ls"}
    said = claude("permission", {"approved": True, "updatedInput": edited}, suggestions=RULES)
    assert said == {"behavior": "allow", "updatedInput": edited}


@pytest.mark.parametrize("suggestions", [None, [], "odd", [5]])
def test_always_without_a_proposal_is_a_yes_for_once(suggestions: Any):
    said = claude("permission", {"approved": True, "always": True}, suggestions=suggestions)
    assert said == {"behavior": "allow"}


@pytest.mark.parametrize("always", [1, "yes", None, False])
def test_only_a_clear_always_makes_a_rule(always: Any):
    said = claude("permission", {"approved": True, "always": always}, suggestions=RULES)
    assert said == {"behavior": "allow"}


def test_a_no_makes_no_rule():
    said = claude("permission", {"approved": False, "always": True}, suggestions=RULES)
    assert "updatedPermissions" not in said


def test_a_plan_is_approved_or_sent_back():
    assert claude("plan", {"approved": True}) == {"behavior": "allow", "updatedInput": {}}
    assert claude("plan", {"approved": False, "feedback": "Smaller"})["message"] == "Smaller"


def test_answers_go_back_with_the_questions():
    given = {"questions": QUESTIONS, "metadata": {"source": "x"}}
    said = claude("question", {"answers": {"Which?": "A", "With?": ["B", "C"]}}, toolInput=given)
    assert said == {
        "behavior": "allow",
        "updatedInput": {**given, "answers": {"Which?": "A", "With?": "B, C"}},
    }


def test_questions_in_the_same_words_are_numbered_and_each_has_its_answer():
    same = [{"question": "Which?", "header": header, "options": []} for header in ("DB", "OS")]
    given = {"questions": [*same, {"question": "Which? (2)"}], "metadata": {"source": "x"}}
    config = request("AskUserQuestion", given, "/p").config
    asked = [one["question"] for one in objects(config["questions"])]
    assert asked == ["Which?", "Which? (2)", "Which? (2) (2)"]
    response = answers(config, {"answers": dict(zip(asked, "ABC", strict=True))})
    said = decided("claude", resolved("question", response, **config))["updatedInput"]
    # The client knows an answer by the words of its question, so it gets these words too.
    assert [one["question"] for one in said["questions"]] == list(said["answers"]) == asked
    assert [one.get("header") for one in said["questions"]] == ["DB", "OS", None]
    assert (list(said["answers"].values()), said["metadata"]) == (["A", "B", "C"], {"source": "x"})


def test_opencode_gets_both_answers_to_questions_in_the_same_words():
    payload = {
        "type": "question.asked",
        "properties": {"sessionID": "s", "id": "que_1", "questions": [{"question": "Which?"}] * 2},
    }
    report = VENDORS["opencode"].translate(payload)
    assert report is not None
    assert report.request is not None
    response = {"answers": {"Which?": "A", "Which? (2)": "B"}}
    said = decided("opencode", resolved("question", response, **report.request.config))
    assert said == {"requestID": "que_1", "answers": [["A"], ["B"]]}


@pytest.mark.parametrize("odd", ["", None, "x" * 30_000, "no object"])
def test_opencode_gets_each_answer_in_the_place_of_its_question(odd: str | None):
    left_out = odd if odd == "no object" else {"question": odd}
    questions = [left_out, {"question": "Which?"}, left_out, {"question": "When?"}]
    properties = {"sessionID": "s", "id": "que_1", "questions": questions}
    report = VENDORS["opencode"].translate({"type": "question.asked", "properties": properties})
    assert report is not None
    assert report.request is not None
    config = report.request.config
    told: Any = config["questions"]
    assert [one["question"] for one in told] == ["Which?", "When?"]
    said = decided(
        "opencode", resolved("question", {"answers": {"Which?": "A", "When?": "Now"}}, **config)
    )
    assert said == {"requestID": "que_1", "answers": [[], ["A"], [], ["Now"]]}
    declined = {"approved": False, "message": "Ask Ann"}
    said = decided("opencode", resolved("question", declined, **config))
    assert said["answers"] == [["Declined: Ask Ann"]] * 4


def test_a_question_is_declined_with_a_message():
    given = {"questions": QUESTIONS}
    said = claude("question", {"approved": False, "message": "Ask Ann"}, toolInput=given)
    assert said == {"behavior": "deny", "message": "Ask Ann", "interrupt": False}
    assert "declined" in claude("question", {"approved": False}, toolInput=given)["message"]


def test_opencode_gets_the_message_of_a_declined_question_as_its_answer():
    def sent(**response: Any) -> Any:
        asked = resolved("question", {"approved": False, **response})
        config = {"requestId": "que_1", "questions": QUESTIONS}
        return decided("opencode", replace(asked, config=config))

    assert sent() == {"requestID": "que_1", "reject": True}
    said = ["Declined: Ask Ann"]
    assert sent(message="Ask Ann") == {"requestID": "que_1", "answers": [said, said]}


def test_what_was_asked_by_a_real_client_can_be_answered():
    report = VENDORS["claude"].translate(recorded("claude", "i_ask")[3])
    assert report is not None
    assert report.request is not None
    asked = resolved("question", {"answers": {"Which database?": "Postgres"}})
    said = decided("claude", replace(asked, config=dict(report.request.config)))
    assert said["updatedInput"]["answers"] == {"Which database?": "Postgres"}
    assert said["updatedInput"]["questions"][0]["header"] == "DB"


@pytest.mark.parametrize("agent", sorted(VENDORS))
@pytest.mark.parametrize("type", ["permission", "plan", "question", "approval", "of tomorrow"])
@pytest.mark.parametrize("status", ["pending", "cancelled", "timeout", "failed"])
def test_no_answer_is_no_decision(agent: str, type: str, status: str):
    asked = resolved(type, {"approved": True, "answers": {"Which?": "A"}}, toolInput={"a": 1})
    assert VENDORS[agent].decision(replace(asked, status=status)) == {}


@pytest.mark.parametrize("agent", sorted(VENDORS))
@pytest.mark.parametrize("type", ["permission", "plan", "question"])
def test_an_answer_in_the_terminal_is_not_said_again(agent: str, type: str):
    asked = resolved(type, {"approved": True, "answers": {"Which?": "A"}}, toolInput={"a": 1})
    assert VENDORS[agent].decision(replace(asked, via="terminal")) == {}


ODD = [None, 5, "yes", [], {}, {"approved": 1}, {"approved": "yes"}, {"answers": []}]


@pytest.mark.parametrize("agent", sorted(VENDORS))
@pytest.mark.parametrize("type", ["permission", "plan", "question"])
@pytest.mark.parametrize("response", ODD, ids=repr)
def test_an_odd_answer_decides_nothing(agent: str, type: str, response: Any):
    for config in ODD:
        asked = replace(resolved(type, response), config=config)
        assert VENDORS[agent].decision(asked) == {}, config


def test_codex_hears_nothing_that_it_does_not_know():
    yes = resolved("permission", {"approved": True, "always": True}, suggestions=RULES)
    no = resolved("permission", {"approved": False, "message": "Use trash"})
    assert decided("codex", yes) == {"behavior": "allow"}
    assert decided("codex", no) == {"behavior": "deny", "message": "Use trash"}


def test_gemini_cannot_be_answered():
    assert VENDORS["gemini"].decision(resolved("permission", {"approved": True})) == {}


@pytest.mark.parametrize(
    ("response", "said"),
    [
        ({"approved": True}, {"reply": "once"}),
        ({"approved": True, "always": True}, {"reply": "always"}),
        ({"approved": False}, {"reply": "reject"}),
        ({"approved": False, "message": "No"}, {"reply": "reject", "message": "No"}),
    ],
)
def test_opencode_gets_a_reply_to_its_request(response: Any, said: dict[str, str]):
    asked = resolved("permission", response, requestId="per_1")
    assert VENDORS["opencode"].decision(asked) == {"requestID": "per_1", **said}


def test_opencode_gets_answers_in_the_order_of_its_questions():
    response = {"answers": {"With?": ["B", "C"], "Which?": "A"}}
    asked = resolved("question", response, requestId="que_1", questions=QUESTIONS)
    said: Any = VENDORS["opencode"].decision(asked)
    assert said == {"requestID": "que_1", "answers": [["A"], ["B", "C"]]}
