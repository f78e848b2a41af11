"""Who is notified by a server: a machine that takes messages. And a server that sends early."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from typing import Any

PROGRAM = """
import sys
from functools import partial
from callboard.__main__ import main
from callboard.server import notifications as notices

notices.Notifications = partial(notices.Notifications, patience=0.5)
sys.exit(main())
"""
EARLY = {"program": ["-c", PROGRAM]}
"""A server that calls after half a second, not after ten."""


class Receiver:
    """Somebody's machine that takes messages."""

    def __init__(self) -> None:
        self.taken: Queue[dict[str, Any]] = Queue()
        taken = self.taken

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                taken.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(200)
                self.end_headers()

            def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"json://ann:sesame@127.0.0.1:{self.server.server_port}"


@contextmanager
def receiving() -> Generator[Receiver]:
    """A receiver that runs."""
    one = Receiver()
    thread = Thread(target=one.server.serve_forever)
    thread.start()
    try:
        yield one
    finally:
        one.server.shutdown()
        one.server.server_close()
        thread.join()
