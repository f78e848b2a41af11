"""The team follows from tokens, sign-ins and plates."""

from typing import Any

from callboard.board.hosts import Host
from callboard.board.plate import Plate
from callboard.board.relay_hosts import RelayHost
from callboard.events.access import Token
from callboard.server.access.sign_ins import PersonSeen
from callboard.server.team import team_hosts, team_members

HERE = Host("here0000", "desk")


def token(person: str, **more: Any) -> Token:
    made: dict[str, Any] = {
        "id": person,
        "name": f"{person}'s laptop",
        "person": person,
        "scope": "answer",
        "groups": (),
        "host": None,
        "created_at": 1,
        "expires_at": None,
    }
    return Token(**made | more)


def plate(host: str, **more: Any) -> Plate:
    made: dict[str, Any] = {
        "plate_id": "p",
        "agent": "claude",
        "session_id": "s",
        "created_at": 1,
        "updated_at": 1,
        "last_event": "session_start",
        "host": host,
    }
    return Plate(**made | more)


def test_tokens_and_sign_ins_of_a_person_come_together():
    tokens = [token("ada", groups=("ops",)), token("ada", scope="read", groups=("release",))]
    seen = [
        PersonSeen("ada", "operate", ("release",), True, 7),
        PersonSeen("zoe", "read", (), False, 8),
    ]
    ada, zoe = team_members(tokens, seen)
    assert (ada.person, ada.scope, ada.groups) == ("ada", "operate", ("ops", "release"))
    assert (ada.token_count, ada.last_seen, ada.by_proxy) == (2, 7, True)
    assert (zoe.person, zoe.token_count, zoe.by_proxy) == ("zoe", 0, False)


def test_a_token_that_only_reports_stands_for_no_one():
    assert team_members([token("hooks", scope="hook")], []) == []


def test_hosts_come_from_plates_and_tokens_and_this_one_is_first():
    plates = [
        plate("atlas000", host_name="atlas", updated_at=3, status="running"),
        plate("atlas000", host_name="Atlas", updated_at=5, status="closed"),
    ]
    found = team_hosts(plates, [token("relay", scope="hook", host="mira")], [], HERE)
    assert [one.name for one in found] == ["desk", "Atlas", "mira"]
    desk, atlas, mira = found
    assert (desk.is_server, desk.plate_count, desk.last_seen) == (True, 0, None)
    assert (atlas.plate_count, atlas.token_count, atlas.last_seen) == (1, 0, 5)
    assert (mira.id, mira.token_count, mira.last_seen) == ("mira", 1, None)
    assert mira.connected is None


def test_a_relay_knows_the_name_of_its_host_and_when_it_was_there():
    plates = [plate("atlas000", host_name="old", updated_at=3)]
    relays = [
        RelayHost(id="atlas000", name="atlas", version="1", powers=[], connected=False, seen_at=7),
        RelayHost(id="mira0000", name="mira", version="1", powers=[], connected=True, seen_at=9),
    ]
    _, atlas, mira = team_hosts(plates, [], relays, HERE)
    assert (atlas.name, atlas.connected, atlas.last_seen) == ("atlas", False, 7)
    assert (mira.name, mira.connected, mira.last_seen) == ("mira", True, 9)
