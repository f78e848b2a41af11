"""Decisions that are read from a conversation: never an approval by a guess."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.harness.extraction.decision import extracted
from callboard.vendors.claude.extraction import Spoken

CORPUS: dict[str, list[dict[str, Any]]] = json.loads(
    Path(__file__).with_name("decisions.json").read_text(encoding="utf-8")
)
SCHEMAS: dict[str, dict[str, Any]] = {
    "approval": {"type": "approval"},
    "selection": {"type": "selection", "options": ["staging", "production", "staging eu"]},
    "freeform": {"type": "freeform"},
    "structured": {
        "type": "structured",
        "jsonSchema": {
            "type": "object",
            "properties": {"approved": {"type": "boolean"}, "notes": {"type": "string"}},
            "required": ["approved", "notes"],
            "additionalProperties": False,
        },
    },
}
PROMPT = "Review the change.\n\nWhen you are done, state it:\nAPPROVED\nor\nREJECTED"
CASES = [(form, one) for form, cases in CORPUS.items() for one in cases]
APPROVALS = [one["says"] for one in CORPUS["approval"] if one["is"] == "approved"]
NEGATIONS = [
    "not",
    "never",
    "don't",
    "doesn’t",
    "cannot",
    "no",
    "nobody",
    "isn't",
    "won't",
    "nicht",
]


def read(says: list[str], form: str = "approval", prompt: str = "") -> Any:
    said = [Spoken("agent", text) for text in says]
    return extracted(said, prompt, {"outcomeSchema": SCHEMAS[form]})


@pytest.mark.parametrize(("form", "case"), CASES, ids=[f"{f}-{c['why']}" for f, c in CASES])
def test_hard_cases(form: str, case: dict[str, Any]):
    assert read(case["says"], form) == case["is"]


@pytest.mark.parametrize("says", ["APPROVED", "I approve", "Proceeding", "yes, let's proceed",
                                  "Yes proceed"])  # fmt: skip
def test_the_words_of_an_approval_that_were_specified(says: str):
    assert read([says]) == "approved"


@pytest.mark.parametrize("says", ["REJECTED", "I reject", "do not proceed", "No, do not proceed",
                                  "no don't proceed", "No, dont proceed"])  # fmt: skip
def test_the_words_of_a_refusal_that_were_specified(says: str):
    assert read([says]) == "rejected"


def test_only_the_last_three_messages_are_read():
    assert read(["APPROVED", "Fine.", "Good."]) == "approved"
    assert read(["APPROVED", "Fine.", "Good.", "Bye."]) is None


# ---------------------------------------------------------------------- properties


@given(st.sampled_from(APPROVALS), st.sampled_from(NEGATIONS), st.data())
def test_a_negation_anywhere_in_the_line_is_never_an_approval(says, negation, data):
    *before, message = says[: 1 + max(i for i, text in enumerate(says) if read([text]))]
    lines = message.split("\n")
    decisive = [i for i, line in enumerate(lines) if "pprove" in line.lower() or "proceed" in line]
    chosen = data.draw(st.sampled_from(decisive))
    words = lines[chosen].split(" ")
    place = data.draw(st.integers(0, len(words)))
    lines[chosen] = " ".join([*words[:place], negation, *words[place:]])
    assert read([*before, "\n".join(lines)]) != "approved"


@given(st.sampled_from(APPROVALS), st.sampled_from([*NEGATIONS, "wait", "if", "unless", "only"]))
def test_a_doubt_after_it_takes_an_approval_back(says, doubt):
    assert read([*says, f"Hm, {doubt}."]) is None


@given(
    st.sampled_from(APPROVALS), st.sampled_from(["```\n{}\n```", "> {}", "`{}`", '"{}"', "“{}”"])
)
def test_what_is_quoted_decides_nothing(says, quotation):
    quoted = ["\n".join(quotation.format(line) for line in text.split("\n")) for text in says]
    assert read(quoted) is None


@given(
    st.lists(st.sampled_from(PROMPT.splitlines()), max_size=8),
    st.sampled_from(["", "> ", "- ", "  ", "**"]),
)
def test_what_only_repeats_our_prompt_decides_nothing(lines, mark):
    text = "\n".join(f"{mark}{line}{'**' if mark == '**' else ''}" for line in lines)
    assert read([text], prompt=PROMPT) is None


@given(st.text())
def test_any_text_is_read_without_an_error_and_is_no_approval_without_the_word(text):
    words = ("approve", "proceed")
    found = read([text])
    assert found in (None, "approved", "rejected")
    if not any(word in text.casefold() for word in words):
        assert found != "approved"


@given(st.text(), st.sampled_from(["selection", "structured"]))
def test_any_text_is_read_without_an_error(text, form):
    read([text], form)


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=30))
def test_a_word_beside_an_approval_that_is_not_understood_is_no_approval(word):
    spoken = word.split()
    if len(spoken) == 1 and spoken[0].isalpha() and spoken[0].casefold() not in ("hereby", "fully"):
        assert read([f"I {spoken[0]} approve"]) != "approved"


# ---------------------------------------------------------------------- who says it


def test_after_a_refusal_the_agents_words_are_no_evidence():
    said = [Spoken("agent", "APPROVED"), Spoken("refused", ""), Spoken("agent", "APPROVED")]
    assert extracted(said, "", {"outcomeSchema": SCHEMAS["approval"]}) is None


def test_after_a_refusal_the_persons_own_words_count():
    said = [Spoken("agent", "APPROVED"), Spoken("refused", ""), Spoken("person", "I reject this.")]
    assert extracted(said, "", {"outcomeSchema": SCHEMAS["approval"]}) == "rejected"


def test_the_person_decides_in_their_own_words():
    said = [
        Spoken("person", PROMPT),
        Spoken("agent", "What do you think?"),
        Spoken("person", "I approve."),
    ]
    assert extracted(said, PROMPT, {"outcomeSchema": SCHEMAS["approval"]}) == "approved"


def test_a_json_block_of_the_person_is_not_the_agents_answer():
    block = '```json\n{"approved": true, "notes": ""}\n```'
    said = [Spoken("person", block)]
    assert extracted(said, "", {"outcomeSchema": SCHEMAS["structured"]}) is None
