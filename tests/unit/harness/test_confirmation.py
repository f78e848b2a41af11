"""Whether what was observed shows that the person confirmed a decision."""

import json
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.harness.confirmations import run_hook
from tests.unit.harness.test_launching import question

from callboard.harness.confirmation import (
    DecisionCall,
    HookObservation,
    answered_by,
    approved_on_board,
    is_used,
    was_asked,
)
from callboard.harness.confirmation_hook import FILE, fingerprint
from callboard.harness.folders import Attempt
from callboard.interactions.records import Interaction
from callboard.vendors.claude.extraction import Spoken
from callboard.vendors.claude.launching import TOOL

YES, NO = {"decision": "approved"}, {"decision": "rejected"}


def call(id: str = "t1", arguments: Any = YES, session: str = "s") -> DecisionCall:
    return DecisionCall(session, id, fingerprint(arguments))


def proposed(id: str = "t1", arguments: Any = YES, **told: Any) -> HookObservation:
    return HookObservation("proposed", fingerprint(arguments), told.get("session", "s"), "p", id)


def asked(arguments: Any = YES, session: str = "s", prompt: str = "p") -> HookObservation:
    return HookObservation("asked", fingerprint(arguments), session, prompt)


def submitted(id: str = "t1", arguments: Any = YES) -> HookObservation:
    return HookObservation("submitted", fingerprint(arguments), "s", None, id)


# ---------------------------------------------------------------------- was the person asked?


def test_a_dialog_for_this_very_call_was_seen():
    assert was_asked([proposed(), asked()], call())


@pytest.mark.parametrize(
    "seen",
    [
        [],
        [proposed()],
        [asked()],
        [asked(), proposed()],
        [proposed(), asked(NO)],
        [proposed(arguments=NO), asked(NO)],
        [proposed("t2"), asked()],
        [proposed(), asked(session="another")],
        [proposed(), asked(prompt="another")],
        [proposed(session="another"), asked(session="another")],
        [proposed(arguments=NO), asked(NO), proposed(), asked()],
        [proposed("t1"), proposed("t2"), asked()],
    ],
    ids=[
        "nothing", "no dialog", "a dialog for nothing", "an earlier dialog", "other arguments",
        "the call was another one", "another call", "another session", "an earlier prompt",
        "this call in another session", "the id of another decision", "the dialog of a later call",
    ],
)  # fmt: skip
def test_any_other_sequence_is_no_confirmation(seen: list[HookObservation]):
    assert not was_asked(seen, call())


def test_a_confirmation_is_used_once():
    seen = [proposed(), asked(), submitted()]
    assert is_used(seen, call())
    assert not is_used(seen, call("t2"))
    assert not was_asked([*seen, proposed("t2")], call("t2")), "the same decision is asked anew"
    assert was_asked([*seen, proposed("t2"), asked()], call("t2"))


def test_two_calls_at_once_need_a_dialog_each():
    seen = [proposed("t1"), proposed("t2", NO), asked(NO)]
    assert not was_asked(seen, call("t1"))
    assert was_asked(seen, call("t2", NO))
    assert not was_asked(seen, call("t2", YES))


CALLS = st.lists(
    st.tuples(st.sampled_from([YES, NO]), st.booleans(), st.sampled_from(["s", "another"])),
    max_size=8,
)


@given(CALLS)
def test_of_a_client_that_makes_one_call_after_the_other_exactly_those_asked_about_count(made):
    seen: list[HookObservation] = []
    for number, (arguments, was_shown, session) in enumerate(made):
        seen.append(proposed(f"t{number}", arguments, session=session))
        seen += [asked(arguments, session)] if was_shown else []
    for number, (arguments, was_shown, session) in enumerate(made):
        one = call(f"t{number}", arguments, session)
        assert was_asked(seen, one) == was_shown
        other = NO if arguments == YES else YES
        assert not was_asked(seen, call(f"t{number}", other, session))
        assert not was_asked(seen, replace(one, session="a third"))


OBSERVATIONS = st.lists(
    st.one_of(
        st.builds(proposed, st.sampled_from(["t1", "t2", "t3"]), st.sampled_from([YES, NO])),
        st.builds(asked, st.sampled_from([YES, NO])),
        st.builds(submitted, st.sampled_from(["t1", "t2", "t3"])),
    ),
    max_size=12,
)


@given(OBSERVATIONS)
def test_no_order_of_events_confirms_more_calls_than_there_were_dialogs(seen):
    for arguments in (YES, NO):
        shown = sum(one == asked(arguments) for one in seen)
        counted = [id for id in ("t1", "t2", "t3") if was_asked(seen, call(id, arguments))]
        assert len(counted) <= shown
    for id in ("t1", "t2", "t3"):
        assert not (was_asked(seen, call(id, YES)) and was_asked(seen, call(id, NO)))


# ---------------------------------------------------------------------- who answered?


def accepted(via: str | None = "terminal", id: str = "t1", arguments: Any = YES) -> Spoken:
    return Spoken("accepted", json.dumps(arguments), TOOL, id, via)


def who(*said: Spoken, seen: tuple[HookObservation, ...] = (proposed(), asked())) -> str | None:
    return answered_by(call(), seen, said)


def test_the_transcript_says_who_answered():
    assert who(accepted()) == "person"
    assert who(accepted("hook")) == "hook"
    for other in ("config", "classifier", None):
        assert who(accepted(other)) is None


def test_a_call_that_was_refused_or_never_came_back_is_not_answered():
    assert who() is None
    assert who(Spoken("call", json.dumps(YES), TOOL, "t1"), Spoken("refused", "", TOOL)) is None
    assert who(accepted(id="t2")) is None


def test_without_a_dialog_the_transcript_proves_nothing():
    assert who(accepted(), seen=(proposed(),)) is None


def test_what_was_edited_after_the_confirmation_does_not_count():
    assert who(accepted(arguments=NO)) is None
    assert answered_by(call(arguments=NO), [proposed(), asked()], [accepted()]) is None


def test_a_later_decision_replaces_the_one_before():
    assert who(accepted(), accepted(id="t2", arguments=NO)) is None


def on_board(answer: Any, **config: Any) -> Interaction:
    config = {"toolName": TOOL, "toolInput": YES, **config}
    return replace(question(**config), type="permission", accepted=answer, receipt="delivered")


def test_an_answer_of_a_person_on_the_board_counts():
    said = [accepted("hook")]
    assert approved_on_board(YES, [on_board({"approved": True})], said)
    assert not approved_on_board(YES, [], said)
    assert not approved_on_board(YES, [on_board({"approved": False})], said)
    assert not approved_on_board(NO, [on_board({"approved": True})], [accepted("hook", "t1", NO)])
    assert not approved_on_board(YES, [on_board({"approved": True}, truncated=True)], said)
    assert not approved_on_board(YES, [on_board({"approved": True}, toolName="Bash")], said)
    lost = replace(on_board({"approved": True}), receipt="lost")
    assert not approved_on_board(YES, [lost], said)
    by_others = replace(on_board(None), status="completed", response={"approved": True}, via="hook")
    assert not approved_on_board(YES, [by_others], said)


def test_one_answer_on_the_board_counts_for_one_call():
    said = [accepted("hook"), accepted("hook", "t2")]
    yes = on_board({"approved": True})
    assert not approved_on_board(YES, [yes], said)
    assert approved_on_board(YES, [yes, yes], said)


# ---------------------------------------------------------------------- the hook


def test_the_hook_asks_and_notes_what_it_saw(tmp_path: Path):
    told = json.loads(run_hook(tmp_path, "PreToolUse", YES, tool_use_id="t1"))
    assert told["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert run_hook(tmp_path, "PermissionRequest", YES) == ""
    assert run_hook(tmp_path, "PostToolUse", YES) == ""
    assert Attempt(tmp_path).seen == [proposed(), asked()]
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert "approved" not in (tmp_path / FILE).read_text(encoding="utf-8")


def test_the_hook_asks_though_it_cannot_note_anything(tmp_path: Path):
    assert "ask" in run_hook(tmp_path / "gone", "PreToolUse", YES, tool_use_id="t1")


def test_the_hook_follows_no_link(tmp_path: Path):
    (tmp_path / FILE).symlink_to(tmp_path / "elsewhere")
    assert "ask" in run_hook(tmp_path, "PreToolUse", YES, tool_use_id="t1")
    assert not (tmp_path / "elsewhere").exists()


def test_lines_that_cannot_be_read_are_left_out(tmp_path: Path):
    run_hook(tmp_path, "PermissionRequest", YES)
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'[]\n{"event": "answered"}\n{"event": "asked"}\n{"half')
    assert Attempt(tmp_path).seen == [asked()]


def test_a_fingerprint_is_of_the_exact_arguments():
    assert fingerprint({"a": 1, "b": "é"}) == fingerprint({"b": "é", "a": 1})
    different = [{"a": 1}, {"a": "1"}, {"a": [1]}, {"a": True}, {"a": None}, {}, {"a": 1, "b": 1}]
    assert len({fingerprint(one) for one in different}) == len(different)
