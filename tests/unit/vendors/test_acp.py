"""What is reported of agents that speak ACP, and what they are answered."""

from typing import Any

import pytest
from tests.interactions import interaction
from tests.unit.board.boards import Board

from callboard.events import plates
from callboard.events.json_values import objects
from callboard.vendors.acp.payloads import OPTIONS, decision, translate
from callboard.vendors.acp.turn_usage import TurnUsage
from callboard.vendors.prompt_box import as_words

ONCE = {"optionId": "o1", "name": "Allow", "kind": "allow_once"}
ALWAYS = {"optionId": "o2", "name": "Allow for this session", "kind": "allow_always"}
NO = {"optionId": "o3", "name": "Reject", "kind": "reject_once"}
EDIT = {
    "toolCallId": "c1",
    "title": "Writing to a.txt",
    "kind": "edit",
    "content": [{"type": "diff", "path": "/p/a.txt", "oldText": "one", "newText": "two"}],
}


def permission(call: dict[str, Any], *options: dict[str, str]) -> dict[str, Any]:
    return {"type": "permission", "sessionId": "s", "toolCall": call, "options": [*options]}


@pytest.mark.parametrize(
    ("call", "prompt", "tool"),
    [
        ({"kind": "execute", "title": "ls -l"}, "Run: ls -l", "Bash"),
        ({"kind": "execute", "rawInput": {"command": ["ls", "a b"]}}, "Run: ls 'a b'", "Bash"),
        (EDIT, "Edit /p/a.txt", "Edit"),
        ({"kind": "read", "locations": [{"path": "/p/b"}]}, "Read /p/b", "Read"),
        ({"kind": "fetch", "title": "https://x.org"}, "Fetch https://x.org", "WebFetch"),
        ({"kind": "other", "title": "Deploy"}, 'Use Deploy: {"title":"Deploy"}', "Deploy"),
    ],
)
def test_a_permission_says_what_it_is_about(call: dict[str, Any], prompt: str, tool: str):
    report = translate(permission({"toolCallId": "c1", **call}, ONCE, ALWAYS, NO))
    assert report is not None
    assert report.request is not None
    assert (report.request.type, report.request.prompt) == ("permission", prompt)
    assert report.request.config["toolName"] == tool
    (signal,) = report.signals
    assert (signal.name, signal.payload["toolUseId"]) == (plates.PERMISSION_REQUEST, "c1")


@pytest.mark.parametrize(
    ("response", "told"),
    [
        ({"approved": True}, {"outcome": "allowed", "optionId": "o1"}),
        ({"approved": True, "always": True}, {"outcome": "allowed", "optionId": "o2"}),
        ({"approved": False}, {"outcome": "denied", "optionId": "o3"}),
        (
            {"approved": False, "message": "No."},
            {"outcome": "denied", "optionId": "o3", "message": "No."},
        ),
    ],
)
def test_an_answer_chooses_one_of_the_options(response: dict[str, Any], told: dict[str, Any]):
    config = {OPTIONS: [ONCE, ALWAYS, NO]}
    asked = interaction(type="permission", accepted=response, receipt="pending", config=config)
    assert decision(asked) == told


@pytest.mark.parametrize("options", [[ALWAYS, NO], [], [NO]])
def test_what_the_agent_does_not_offer_is_never_chosen(options: list[dict[str, str]]):
    """Above all, a yes to one call is no yes to all of them."""
    asked = interaction(
        type="permission", accepted={"approved": True}, receipt="pending", config={OPTIONS: options}
    )
    assert decision(asked) == {"outcome": "closed"}


def test_options_beyond_yes_and_no_are_a_question():
    other = {**ALWAYS, "optionId": "o4", "name": "Allow everything"}
    report = translate(permission(EDIT, ONCE, ALWAYS, other, NO))
    assert report is not None
    assert report.request is not None
    assert report.request.type == "question"
    labels = [one["name"] for one in (ONCE, ALWAYS, other, NO)]
    assert list(report.request.options) == labels
    answers = {"Allow everything": "o4", "Reject": "o3"}
    for label, option in answers.items():
        accepted = {"answers": {report.request.prompt: label}}
        given = {"accepted": accepted, "receipt": "pending", "config": report.request.config}
        asked = interaction(type="question", **given)
        assert decision(asked) == {"outcome": "allowed", "optionId": option}
    accepted = {"answers": {report.request.prompt: "Ask me later"}}
    given = {"accepted": accepted, "receipt": "pending", "config": report.request.config}
    asked = interaction(type="question", **given)
    assert decision(asked) == {"outcome": "denied", "optionId": "o3", "message": "Ask me later"}


async def test_a_question_that_the_agent_gave_up_is_closed_and_its_answer_lost():
    board = Board()
    await board.payload("acp", {"type": "session", "sessionId": "s"})
    await board.payload("acp", permission(EDIT, ONCE, NO), hold="h1")
    await board.payload(
        "acp", {"type": "answered", "sessionId": "s", "request": "h1", "outcome": "lost"}
    )
    asked = await board.interaction("h1")
    assert (asked.status, asked.accepted) == ("cancelled", None)


def test_costs_are_counted_from_one_turn_to_the_next():
    usage = TurnUsage()
    for amount in (0.1, 0.3):
        usage.add_update({"cost": {"amount": amount, "currency": "USD"}})
    usage.add_update({"cost": {"amount": 9, "currency": "EUR"}})
    usage.add_result({"usage": {"inputTokens": 3, "outputTokens": 1, "thoughtTokens": 2}})
    (first,) = usage.taken()
    assert first == {
        "inputTokens": 3,
        "outputTokens": 3,
        "cachedReadTokens": 0,
        "cachedWriteTokens": 0,
        "cost": 0.3,
    }
    usage.add_update({"cost": {"amount": 0.5, "currency": "USD"}})
    tokens = {"input_tokens": 1, "output_tokens": 2}
    usage.add_result({"_meta": {"quota": {"model_usage": [{"model": "m", "token_count": tokens}]}}})
    (second,) = usage.taken()
    assert isinstance(second, dict)
    assert (second["model"], second["inputTokens"], second["cost"]) == ("m", 1, 0.2)
    assert usage.taken() == []


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("/compact", "Message: /compact"),
        ("  /compact", "Message:   /compact"),
        ("\u200b/compact", "Message: \u200b/compact"),
        ("!ls", "Message: !ls"),
        ("Run /compact.", "Run /compact."),
        ("“Quoted”", "Message: “Quoted”"),
        ("(See above.)", "(See above.)"),
        ("Übrigens", "Übrigens"),
    ],
)
def test_a_message_is_never_a_command(text: str, sent: str):
    """Agents run what starts with a slash, wherever it comes from."""
    assert as_words(text) == sent


@pytest.mark.parametrize(
    "amount",
    [10**400, float("inf"), float("nan"), -1, 2_000_000],
    ids=["huge", "inf", "nan", "-1", "many"],
)
def test_a_cost_that_cannot_be_right_changes_nothing(amount: float):
    usage = TurnUsage()
    for told in (0.25, amount, 0.5):
        usage.add_update({"cost": {"amount": told, "currency": "USD"}})
    (taken,) = objects(usage.taken())
    assert taken["cost"] == 0.5
