"""The people who use a board, and the hosts that its coding agents run on; pure.

Both follow from what is known anyway: tokens, sign-ins, relays and plates.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from callboard.board.hosts import Host
from callboard.board.plate import Plate
from callboard.board.relay_hosts import RelayHost
from callboard.events.access import Scope, Token, highest
from callboard.events.shapes import Millis, Shape
from callboard.server.access.sign_ins import PersonSeen


@dataclass(frozen=True, slots=True)
class TeamMember(Shape):
    """Someone who has a token, or has signed in to the dashboard in the last 90 days."""

    person: str
    scope: Annotated[Scope, "The highest that a token or sign-in gives them."]
    groups: tuple[str, ...]
    token_count: int
    last_seen: Annotated[Millis | None, "Their last sign-in, to the hour."]
    by_proxy: Annotated[bool, "Whether a proxy signed them in."]


@dataclass(frozen=True, slots=True)
class TeamHost(Shape):
    """A machine that coding agents have reported from, or that a token is limited to."""

    id: str
    name: str
    is_server: Annotated[bool, "Whether the server that answers runs on it."]
    plate_count: Annotated[int, "Coding agent sessions that are not closed."]
    token_count: int
    connected: Annotated[bool | None, "Whether it can be reached; null if it has no relay."]
    last_seen: Annotated[
        Millis | None, "When it was last reached, or a session on it changed if it has no relay."
    ]


@dataclass(frozen=True, slots=True)
class Team(Shape):
    """People by name, and hosts: first the server's own, then the others by name."""

    people: list[TeamMember]
    hosts: list[TeamHost]


def team_members(tokens: Iterable[Token], seen: Iterable[PersonSeen]) -> list[TeamMember]:
    """Everyone with a token or a sign-in. A token that only reports stands for no one."""
    by_person: dict[str, list[Token]] = {}
    for token in tokens:
        if token.scope != "hook":
            by_person.setdefault(token.person, []).append(token)
    signed_in = {one.person: one for one in seen}
    return [
        _member(person, by_person.get(person, []), signed_in.get(person))
        for person in sorted({*by_person, *signed_in})
    ]


def _member(person: str, tokens: list[Token], seen: PersonSeen | None) -> TeamMember:
    known = [*tokens, *([] if seen is None else [seen])]
    return TeamMember(
        person=person,
        scope=highest(one.scope for one in known) or "read",
        groups=tuple(sorted({group for one in known for group in one.groups})),
        token_count=len(tokens),
        last_seen=None if seen is None else seen.last_seen,
        by_proxy=seen is not None and seen.by_proxy,
    )


def team_hosts(
    plates: Iterable[Plate], tokens: Iterable[Token], relays: Iterable[RelayHost], here: Host
) -> list[TeamHost]:
    """Every host that something is known about."""
    relay_of = {relay.id: relay for relay in relays}
    found: dict[str, list[Plate]] = {id: [] for id in (here.id, *relay_of)}
    for plate in plates:
        found.setdefault(plate.host, []).append(plate)
    limits = [token.host for token in tokens if token.host is not None]
    for host in limits:
        found.setdefault(host, [])
    hosts = [_host(id, of, limits.count(id), here, relay_of.get(id)) for id, of in found.items()]
    return sorted(hosts, key=lambda one: (not one.is_server, one.name, one.id))


def _host(
    id: str, plates: list[Plate], token_count: int, here: Host, relay: RelayHost | None
) -> TeamHost:
    latest = max(plates, key=lambda one: one.updated_at, default=None)
    name, last_seen = id, None
    if latest is not None:
        name, last_seen = latest.host_name, latest.updated_at
    if relay is not None:
        name, last_seen = relay.name, relay.seen_at
    if id == here.id:
        name = here.name
    return TeamHost(
        id=id,
        name=name or id,
        is_server=id == here.id,
        plate_count=sum(plate.status != "closed" for plate in plates),
        token_count=token_count,
        connected=None if relay is None else relay.connected,
        last_seen=last_seen,
    )
