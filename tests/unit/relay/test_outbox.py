"""What a relay keeps until the server has it."""

import json

import pytest

from callboard.board.spool.files import Spool
from callboard.errors import StoreError, ValidationError
from callboard.relay import outbox as outboxes
from callboard.relay.batches import GONE, HOOK, MOST_ITEMS, RelayItem, packed, unpacked
from callboard.relay.outbox import BLOCK, HookOrigin, Outbox
from callboard.testing.fake_clock import FakeClock


def opened(folder):
    outbox = Outbox(folder / "outbox")
    outbox.open()
    return outbox


def test_items_are_read_in_order_and_with_their_sender(tmp_path):
    outbox = opened(tmp_path)
    sender = HookOrigin("claude", 12, "345.6", "5d1f-aaaa")
    outbox.add(HOOK, b'{"a":1}', sender)
    outbox.add(GONE, b"{}")
    first, second = outbox.first(10, 1000)
    assert (first.kind, first.body, first.agent) == (HOOK, b'{"a":1}', "claude")
    assert (first.pid, first.start, first.boot_id) == (12, "345.6", "5d1f-aaaa")
    assert (second.kind, second.pid, second.number) == (GONE, None, first.number + 1)


def test_items_stay_until_they_are_confirmed(tmp_path):
    outbox = opened(tmp_path)
    numbers = [outbox.add(HOOK, b"x" * 10, HookOrigin("claude")) for _ in range(5)]
    outbox.remove_up_to(numbers[2])
    again = opened(tmp_path)
    assert [one.number for one in again.first(10, 1000)] == numbers[3:]
    assert again.incarnation == outbox.incarnation


def test_a_number_is_never_used_twice(tmp_path):
    outbox = opened(tmp_path)
    used = outbox.add(HOOK, b"", HookOrigin("claude"))
    outbox.remove_up_to(used)
    # The power fails: the item is lost, and the block of numbers is on disk.
    after = opened(tmp_path)
    assert after.add(HOOK, b"", HookOrigin("claude")) > used
    assert after.incarnation == outbox.incarnation


def test_another_block_is_reserved_when_one_is_used_up(tmp_path):
    outbox = opened(tmp_path)
    numbers = [outbox.add(HOOK, b"", HookOrigin("claude")) for _ in range(BLOCK + 5)]
    assert numbers == sorted(set(numbers))
    reserved = json.loads((tmp_path / "outbox" / "numbers").read_bytes())["reserved"]
    assert reserved >= numbers[-1]


def test_a_lost_outbox_starts_another_incarnation(tmp_path):
    outbox = opened(tmp_path)
    (tmp_path / "outbox" / "numbers").unlink()
    assert opened(tmp_path).incarnation != outbox.incarnation


def test_a_spooled_payload_becomes_an_item_with_its_time(tmp_path):
    spool = Spool(tmp_path / "hooks", FakeClock())
    folder = tmp_path / "hooks" / "spool"
    folder.mkdir(parents=True)
    (folder / "claude.12.1.a.json").write_bytes(b'{"x":1}')
    outbox = opened(tmp_path)
    (spooled,) = spool.take(10)
    outbox.take_in(spooled, HookOrigin("claude", 12, "3", "boot"))
    assert not list(folder.rglob("*.json"))
    (item,) = outbox.first(10, 1000)
    assert (item.body, item.pid, item.at_ms) == (b'{"x":1}', 12, spooled.hook.at_ms)


def test_it_is_full_after_so_many_files_or_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(outboxes, "MOST", 2)
    outbox = opened(tmp_path)
    outbox.add(HOOK, b"", HookOrigin("claude"))
    assert not outbox.is_full
    number = outbox.add(HOOK, b"", HookOrigin("claude"))
    assert outbox.is_full
    outbox.remove_up_to(number)
    monkeypatch.setattr(outboxes, "MOST_BYTES", 10)
    outbox.add(HOOK, b"x" * 10, HookOrigin("claude"))
    assert outbox.is_full


def test_a_batch_has_at_least_one_item_and_then_no_more_than_its_bytes(tmp_path):
    outbox = opened(tmp_path)
    for size in (30, 30, 5):
        outbox.add(HOOK, b"x" * size, HookOrigin("claude"))
    assert [len(one.body) for one in outbox.first(10, 10)] == [30]
    assert [len(one.body) for one in outbox.first(10, 60)] == [30, 30]
    assert len(outbox.first(2, 100)) == 2


def test_a_file_that_was_removed_holds_nothing_up(tmp_path):
    outbox = opened(tmp_path)
    outbox.add(HOOK, b"1", HookOrigin("claude"))
    outbox.add(HOOK, b"2", HookOrigin("claude"))
    next((tmp_path / "outbox").glob("*~claude~*")).unlink()
    assert len(outbox.first(10, 100)) == 1
    assert len(outbox) == 1


def test_a_link_in_its_place_is_refused(tmp_path):
    (tmp_path / "outbox").symlink_to(tmp_path)
    with pytest.raises(StoreError, match="link"):
        opened(tmp_path)


def test_a_batch_keeps_every_byte():
    items = [
        RelayItem(3, HOOK, bytes(range(256)), 10, "claude", 7, "1.5", "boot", again=True),
        RelayItem(4, GONE, b"", 11),
        RelayItem(9, HOOK, b"\n\n{", 12, "codex"),
    ]
    assert unpacked(packed(items)) == items
    assert unpacked(b"") == []


@pytest.mark.parametrize(
    "damaged",
    [
        b"no line",
        b"[]\n\n",
        b'{"n":1,"kind":"hook","at":1,"size":9}\nshort\n',
        b'{"n":true,"kind":"hook","at":1,"size":0}\n\n',
        b'{"n":1,"kind":2,"at":1,"size":0}\n\n',
        b'{"n":1,"kind":"hook","at":1,"size":-1}\n\n',
        packed([RelayItem(2, HOOK, b"", 1), RelayItem(2, HOOK, b"", 1)]),
        packed(RelayItem(n, HOOK, b"", 1) for n in range(1, MOST_ITEMS + 2)),
        b"x" * 5000 + b"\n",
    ],
)
def test_a_damaged_batch_is_refused(damaged):
    with pytest.raises(ValidationError, match="can't be read"):
        unpacked(damaged)
