"""One process rings, the others hear."""

import asyncio
import socket
import tempfile
from pathlib import Path

import pytest

from callboard.clock import SystemClock
from callboard.log.commit_signal import Doorbell
from callboard.log.owners import Owners
from callboard.systems import open_files
from callboard.testing.log_suite_material import PATIENCE


@pytest.fixture(params=["short", "long" * 40])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder whose path fits into a socket's address, and one whose path does not."""
    made = tmp_path / request.param
    made.mkdir()
    return made


@pytest.fixture
def doorbells(folder: Path):
    made: list[tuple[Owners, Doorbell]] = []

    def make() -> Doorbell:
        owners = Owners(folder, SystemClock().monotonic)
        made.append((owners, Doorbell(owners, SystemClock().now_ms)))
        return made[-1][1]

    yield make
    for owners, doorbell in made:
        doorbell.close()
        owners.close()


async def hears(event: asyncio.Event) -> None:
    async with asyncio.timeout(PATIENCE):
        await event.wait()
    event.clear()


async def test_every_other_hears_a_ring_and_not_oneself(doorbells):
    ringing, *others = (doorbells(), doorbells(), doorbells())
    heard = [asyncio.Event() for _ in range(3)]
    for doorbell, event in zip((ringing, *others), heard, strict=True):
        doorbell.listen(event.set)
    for _ in range(2):
        ringing.ring()
        await hears(heard[1])
        await hears(heard[2])
    assert not heard[0].is_set()


async def test_who_begins_to_listen_later_is_found(doorbells):
    ringing, other = doorbells(), doorbells()
    ringing.ring()
    heard = asyncio.Event()
    other.listen(heard.set)
    ringing.ring()
    await hears(heard)


async def test_who_stops_is_no_longer_rung(doorbells, folder: Path):
    ringing, other = doorbells(), doorbells()
    other.listen(lambda: None)
    ringing.ring()
    other.stop()
    ringing.ring()
    assert list(folder.glob("*.sock")) == []


async def test_a_socket_left_behind_is_cleared_away(doorbells, folder: Path):
    ringing = doorbells()
    (folder / "dead.lock").touch()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        ear.bind(ringing._address(folder / "dead.sock"))
    assert (folder / "dead.sock").exists()
    ringing.ring()
    assert list(folder.glob("dead.*")) == []


async def test_a_full_ear_is_passed_over(doorbells):
    ringing, other = doorbells(), doorbells()
    heard = asyncio.Event()
    other.listen(heard.set)
    for _ in range(10_000):
        ringing.ring()
    await hears(heard)


async def test_without_a_socket_one_is_only_deaf(doorbells):
    deaf = doorbells()
    deaf._owners.socket_of(deaf._owners.owner).touch()
    deaf.listen(lambda: None)
    assert deaf._ear is None


def test_an_address_fits_on_a_mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Its $TMPDIR has 48 characters, and an address 104, with a zero at the end."""
    temporary = "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T"
    assert len(temporary) == 48
    links: list[str] = []
    monkeypatch.setattr(open_files, "_OPEN", Path("/no/proc/self/fd"))
    monkeypatch.setattr(tempfile, "tempdir", temporary)
    monkeypatch.setattr(Path, "symlink_to", lambda link, target: links.append(str(link)))
    for length in (60, 150):
        owners_folder = tmp_path / ("f" * 40) / ("g" * length)
        owners_folder.mkdir(parents=True)
        owners = Owners(owners_folder, SystemClock().monotonic)
        doorbell = Doorbell(owners, SystemClock().now_ms)
        address = doorbell._address(owners.socket_of(owners.owner))
        assert len(address) < 104, address
        doorbell.close()
        owners.close()
    assert len(links) == 2
