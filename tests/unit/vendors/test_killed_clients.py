"""What clients leave behind that were killed while a message was on its way to them."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from callboard.systems.processes import started_at
from callboard.vendors.codex.app_server_way import AppServerWay
from callboard.vendors.letterbox import Letterbox, letter_name
from callboard.vendors.opencode.steering import OpencodeSteering
from callboard.vendors.steering import Outgoing, Recipient

GONE = 2**22 - 1
US = os.getpid()
MESSAGE = Outgoing("m1", "Use the other table.", "now")


class TestCodex:
    """Its app server keeps a record of each session."""

    @pytest.fixture
    def record(self, tmp_path: Path) -> Path:
        path = tmp_path / "rollout.jsonl"
        path.write_text('{"type": "session_meta"}\n')
        return path

    @pytest.fixture
    def way(self, tmp_path: Path) -> AppServerWay:
        return AppServerWay(tmp_path / "no.sock")

    @pytest.fixture
    def gone(self, record: Path) -> Recipient:
        return Recipient("codex", "t1", "/p", GONE, "0", str(record))

    async def test_before_it_recorded_the_message(self, way: AppServerWay, gone: Recipient):
        assert (await way.look(gone, MESSAGE)).status == "untouched"

    async def test_after_that(self, way: AppServerWay, gone: Recipient, record: Path):
        item = {"type": "UserMessage", "client_id": "m1"}
        record.write_text(json.dumps({"payload": {"item": item}}, separators=(",", ":")) + "\n")
        assert (await way.look(gone, MESSAGE)).status == "seen"

    async def test_in_the_middle_of_writing_it(
        self, way: AppServerWay, gone: Recipient, record: Path
    ):
        record.write_text('{"payload": {"item": {"type": "UserMessage", "client_id": "m1"')
        assert (await way.look(gone, MESSAGE)).status is None

    async def test_while_it_runs_nothing_is_sure(self, way: AppServerWay, gone: Recipient):
        here = replace(gone, pid=US, proc_start=started_at(US))
        assert (await way.look(here, MESSAGE)).status is None

    async def test_its_record_is_gone(self, way: AppServerWay, gone: Recipient, record: Path):
        record.unlink()
        assert (await way.look(gone, MESSAGE)).status is None


class TestOpencode:
    """Our plugin renames a letter before it reads it."""

    @pytest.fixture
    def box(self, tmp_path: Path) -> Letterbox:
        made = Letterbox(tmp_path, "opencode", GONE)
        made.folder.mkdir(parents=True)
        made.put(letter_name(MESSAGE.id), b"{}")
        return made

    @pytest.fixture
    def gone(self) -> Recipient:
        return Recipient("opencode", "s1", "/p", GONE, "0")

    async def test_before_it_took_the_letter(self, tmp_path: Path, box: Letterbox, gone: Recipient):
        assert (await OpencodeSteering(tmp_path).look(gone, MESSAGE)).status == "untouched"
        assert box.stage(letter_name(MESSAGE.id)) is None

    async def test_after_that(self, tmp_path: Path, box: Letterbox, gone: Recipient):
        letter = box.folder / f"{letter_name(MESSAGE.id)}.json"
        letter.rename(letter.with_suffix(".taken"))
        assert (await OpencodeSteering(tmp_path).look(gone, MESSAGE)).status is None

    async def test_while_it_runs_it_may_still_take_it(self, tmp_path: Path):
        here = Recipient("opencode", "s1", "/p", US, started_at(US))
        box = Letterbox(tmp_path, "opencode", US)
        box.folder.mkdir(parents=True)
        box.put(letter_name(MESSAGE.id), b"{}")
        assert (await OpencodeSteering(tmp_path).look(here, MESSAGE)).status is None
        assert box.stage(letter_name(MESSAGE.id)) == "json"
