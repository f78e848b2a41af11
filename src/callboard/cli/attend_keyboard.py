"""Lines that a person types while other things go on."""

import asyncio
import os
import sys


class Keyboard:
    """Standard input, line by line, without a thread that waits for ever."""

    def __init__(self) -> None:
        self._file = sys.stdin.fileno()
        self.is_closed = False
        """Whether nothing will be typed any more."""

    async def line(self, within: float) -> str | None:
        """A line without its end; None when none was typed in time. "" also when it is closed."""
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[bytes] = loop.create_future()

        def read() -> None:
            if not typed.done():
                try:
                    typed.set_result(os.read(self._file, 4096))
                except OSError:
                    typed.set_result(b"")

        try:
            loop.add_reader(self._file, read)
        except PermissionError:  # A file, such as /dev/null.
            await asyncio.sleep(within)
            return None
        try:
            async with asyncio.timeout(within):
                data = await typed
        except TimeoutError:
            return None
        finally:
            loop.remove_reader(self._file)
        self.is_closed = not data
        return data.decode("utf-8", "replace").strip()
