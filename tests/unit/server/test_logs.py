"""What a line of the log says, and what it must never say."""

import io
import json
import logging
import os
import select

import pytest

from callboard.server import logs
from callboard.server.request_metrics import ServedRequest


@pytest.fixture(autouse=True)
def as_before():
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers, root.level = handlers, level


def written(wanted: logs.Format | None, tell) -> str:
    out = io.StringIO()
    logs.install(wanted, out)
    tell()
    return out.getvalue()


REQUEST = ServedRequest("POST", "/sessions", "/sessions", 201, 0.001, 0.0034, "ada")


def test_a_request_is_one_json_line():
    line = json.loads(written(None, lambda: logs.served(REQUEST)))
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "info",
        "logger": "callboard.requests",
        "message": "POST /sessions 201 3.4 ms ada",
        "method": "POST",
        "path": "/sessions",
        "status": 201,
        "ms": 3.4,
        "who": "ada",
    }


def test_a_request_is_one_short_line_for_people():
    text = written("text", lambda: logs.served(REQUEST))
    assert text.endswith(" POST /sessions 201 3.4 ms ada\n")
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("status", "level"),
    [(200, "info"), (404, "info"), (401, "warning"), (429, "warning"), (503, "error"), (0, "info")],
)
def test_the_level_says_how_bad_it_is(status, level):
    request = REQUEST._replace(status=status)
    assert json.loads(written("json", lambda: logs.served(request)))["level"] == level


def test_whoever_asks_every_second_whether_it_lives_does_not_fill_the_log():
    health = REQUEST._replace(method="GET", path="/health", route="/health", status=200)
    assert written("json", lambda: logs.served(health)) == ""
    assert "503" in written("json", lambda: logs.served(health._replace(status=503)))


def test_an_exception_comes_with_its_traceback_on_the_same_line():
    def tell():
        try:
            raise RuntimeError("broken")
        except RuntimeError:
            logging.getLogger("x").exception("it failed")

    (line,) = written("json", tell).splitlines()
    found = json.loads(line)
    assert found["message"] == "it failed"
    assert "RuntimeError: broken" in found["error"]
    assert "RuntimeError: broken" in written("text", tell)


@pytest.mark.parametrize("wanted", ["json", "text"])
def test_what_a_caller_sends_cannot_forge_a_line_or_move_the_cursor(wanted):
    evil = "a\nb\x1b[2J\u202e\udcff"
    text = written(wanted, lambda: logging.getLogger("x").warning("path %s", evil))
    assert len(text.splitlines()) == 1
    assert text.startswith('{"time"') or "warning path a" in text
    assert "\x1b" not in text
    assert wanted == "json" or "\u202e" not in text


@pytest.mark.parametrize("wanted", ["json", "text"])
@pytest.mark.parametrize(
    ("said", "secret"),
    [
        ("token cb_aBcD-1234_xyz9", "aBcD"),
        ('{"Authorization": "Bearer abc.def"}', "abc.def"),
        ("GET /login?code=s3cr3t&x=1", "s3cr3t"),
        ("GET /stream?after=1&token=s3cr3t", "s3cr3t"),
        ("Cookie: other=1; callboard=s3cr3t; more=2", "s3cr3t"),
    ],
)
def test_what_looks_like_a_secret_is_taken_out(wanted, said, secret):
    text = written(wanted, lambda: logging.getLogger("x").info("%s", said))
    assert secret not in text
    assert "[secret]" in text


def test_a_reader_that_stops_reading_does_not_stop_the_server():
    reader, writer = os.pipe()
    with os.fdopen(reader), os.fdopen(writer, "w", encoding="utf-8") as out:
        logs.install("json", out)
        for count in range(20_000):
            logs.served(REQUEST._replace(path=f"/{count}"))
        os.set_blocking(reader, False)
        read = ""
        for _ in range(100):  # Each message writes what has room by now.
            while part := os.read(reader, 65_536) if _readable(reader) else b"":
                read += part.decode()
            logs.served(REQUEST._replace(path="/last"))
        lines = [json.loads(line) for line in read.splitlines()]
        (dropped,) = [line["message"] for line in lines if line["level"] == "warning"]
        left = [line["path"] for line in lines if "path" in line]
        count = int(dropped.split()[0])
        assert 0 < count < 20_000
        assert left[: 20_000 - count] == [f"/{at}" for at in range(20_000 - count)]
        assert "/last" in left


def _readable(number: int) -> bool:
    return bool(select.select([number], [], [], 0)[0])


def test_a_reader_that_left_does_not_stop_the_server(capfd):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w", encoding="utf-8") as out:
        logs.install("json", out)
        logs.served(REQUEST)
        logs.served(REQUEST)
