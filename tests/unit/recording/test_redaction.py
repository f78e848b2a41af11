"""Which secrets are replaced, and what stays as it was."""

import json
from itertools import pairwise
from time import perf_counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callboard.recording.redaction import REDACTED, Redaction

LETTERS = "a1B2c3D4" * 4
BODY = "MIIEow" * 40
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "pem": PEM,
    "half a pem": f"-----BEGIN PRIVATE KEY-----\n{BODY}",
    "aws": "ASIAIOSFODNN7EXAMPLE",
    "gitlab": f"glpat-{LETTERS}",
    "npm": f"npm_{LETTERS}",
    "stripe": f"sk_live_{LETTERS}",
    "slack": f"xoxe-1-{LETTERS}",
}


@pytest.mark.parametrize("name", SECRETS)
def test_keys_are_replaced_in_texts_and_responses(name: str):
    text = f"It is {SECRETS[name]}"
    assert Redaction().text(text) == f"It is {REDACTED}"
    (said,) = Redaction().pieces([json.dumps({"text": text}).encode()])
    assert json.loads(said) == {"text": f"It is {REDACTED}"}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"Bearer {LETTERS}", f"Bearer {REDACTED}"),
        (f"token: Bearer {LETTERS}", f"token: {REDACTED} {REDACTED}"),
        ("Authorization: Basic abcdefghij", f"Authorization: Basic {REDACTED}"),
        (f"private_key = '{BODY * 40}'", f"private_key = '{REDACTED}'"),
        ("password=hunter22 it is", f"password={REDACTED} it is"),
        ('{"password":"hunter22","n":1}', f'{{"password":"{REDACTED}","n":1}}'),
        (
            r'{"a":"{\"password\": \"h\\\"unter 22\"}"}',
            rf'{{"a":"{{\"password\": \"{REDACTED}\"}}"}}',
        ),
        ('{"text":"password=hunter22\\nNext"}', f'{{"text":"password={REDACTED}\\nNext"}}'),
    ],
)
def test_what_a_name_gives_away_is_replaced(text: str, left: str):
    assert Redaction().text(text) == left
    assert Redaction().pieces([text.encode()]) == [left.encode()]


@pytest.mark.parametrize(
    "text",
    [
        '{"token":12345,"next":"abcd"}',
        '{"a":"Enter the token:"}, {"b":"c"}',
        '{"token":"Hello","logprob":-0.1,"bytes":[72]}',
        '{"url":"http://localhost:8080","to":"ann@example.org"}',
        '{"pwd": "/home/ann"}',
        "Basic understanding",
        'if "-----BEGIN PRIVATE KEY-----" in text: print("found", 1)',
    ],
)
def test_what_is_no_secret_stays(text: str):
    expected = text.replace("-----BEGIN PRIVATE KEY-----", REDACTED)
    assert Redaction().text(text) == expected
    assert Redaction().pieces([text.encode()]) == [expected.encode()]


def test_members_are_replaced_by_their_names():
    schema = {"password": {"type": "string"}}
    given: Any = {"password": "x y", "api_key": "abcd", "properties": schema, "token": 5}
    redacted = {"password": REDACTED, "api_key": REDACTED, "properties": schema, "token": 5}
    assert Redaction().value(given) == redacted


def test_ones_own_patterns_may_have_groups():
    redaction = Redaction([r"(\d)\1-x", r"(a)(b)\2"])
    assert redaction.text("11-x 12-x abb") == f"{REDACTED} 12-x {REDACTED}"
    assert redaction.pieces([b"1", b"1-", b"x ab", b"b"]) == [
        b"[redacted]",
        b"",
        b" [redacted]",
        b"",
    ]


PARTS = st.sampled_from(
    [
        *("password=", "token: ", '"token":', "secret", "pwd", "bearer ", "a://b:", "@", "=", ":"),
        *('"', "'", "\\", "\n", " ", ",", "}", "]", "{", "-----BEGIN PRIVATE KEY-----", LETTERS),
        *("sk-", "é", "abcd", "12345", "eyJ", "."),
    ]
)
TEXTS = st.lists(PARTS, max_size=12).map("".join)


@given(st.recursive(TEXTS | st.integers(), lambda one: st.dictionaries(TEXTS, one) | st.lists(one)))
def test_a_response_stays_json(value: Any):
    for written in (json.dumps(value), json.dumps(json.dumps(value)), json.dumps(value, indent=1)):
        (said,) = Redaction().pieces([written.encode()])
        json.loads(said)


@given(TEXTS)
def test_nothing_is_replaced_twice(text: str):
    once = Redaction().text(text)
    assert Redaction().text(once) == once


@given(TEXTS, st.lists(st.integers(0, 100), max_size=4))
def test_it_does_not_matter_how_a_response_was_cut(text: str, places: list[int]):
    data = text.encode()
    at = sorted({0, len(data), *(one for one in places if one < len(data))})
    pieces = [data[start:end] for start, end in pairwise(at)]
    redaction = Redaction()
    assert b"".join(redaction.pieces(pieces)) == b"".join(redaction.pieces([data]))


@pytest.mark.parametrize(
    "part", ["-----BEGIN PRIVATE KEY-----", "eyJ-", 'token="', "a://x:", 'token=\\"\\\\', "basic "]
)
def test_no_text_takes_long(part: str):
    started = perf_counter()
    Redaction().text(part * (200_000 // len(part)))
    assert perf_counter() - started < 5
