"""Messages to people away from the board: Slack, ntfy, email and more, through Apprise.

`sound://` doesn't need Apprise: it plays a tone on the server's machine.
"""

import asyncio
import logging
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, Protocol
from urllib.parse import parse_qsl

from callboard.errors import MissingExtra, ValidationError
from callboard.systems.sounds import OFF, TONE_OF, TONES, is_sound, play

_log = logging.getLogger(__name__)

_MOST_WAITING: Final = 20
"""Messages. If more pile up, they would arrive too late anyway."""


SOUND: Final = "sound://"
"""The start of the URLs that play a tone on this machine."""
_CALLED: Final = {"email": "mailto", "mail": "mailto", "teams": "msteam"}
"""Common names of channels whose URLs start differently."""


class Notifier(Protocol):
    """Something that can notify a person."""

    async def needs(
        self,
        title: str,
        body: str,
        link: str | None = None,
        channel: str | None = None,
        state: str | None = None,
    ) -> bool:
        """Notify that a person is needed; returns whether all receivers got it. Never raises.

        channel: use only this one, if it exists. state: selects the sound.
        """
        ...


Receiver = Callable[[str, str, str | None], bool]
"""Takes a title, a text and a state; returns whether it arrived."""


class AppriseNotifier:
    """Sends to Apprise URLs: `slack://…`, `ntfy://…`, `mailto://…`, `json://…`.

    One thread sends, so a slow receiver delays only other messages. Only the start of a URL is ever
    logged, because the rest is secret.
    """

    def __init__(self, urls: Sequence[str]) -> None:
        self._receivers = [
            (_scheme(url), _receiver(url, place)) for place, url in enumerate(urls, 1)
        ]
        self._thread = ThreadPoolExecutor(1, "callboard-notify")
        self._waiting = 0

    async def needs(
        self,
        title: str,
        body: str,
        link: str | None = None,
        channel: str | None = None,
        state: str | None = None,
    ) -> bool:
        """Notify all receivers, or those of a channel if it has any.

        A failure is logged, and the other receivers are still notified.
        """
        if self._waiting >= _MOST_WAITING:
            _log.warning("too many messages wait to be sent; one was dropped")
            return False
        self._waiting += 1
        loop = asyncio.get_running_loop()
        text = f"{body}\n{link}" if link else body
        send = partial(self._send, title, text, channel, state)
        try:
            return await loop.run_in_executor(self._thread, send)
        finally:
            self._waiting -= 1

    def _send(self, title: str, body: str, channel: str | None, state: str | None) -> bool:
        reached = True
        meant = [one for one in self._receivers if _is_by(one[0], channel)]
        for scheme, receiver in meant or self._receivers:
            try:
                sent = receiver(title, body, state)
            except Exception as error:
                sent = False
                _log.warning("a message by %s failed: %s", scheme, type(error).__name__)
            else:
                if not sent:
                    _log.warning("a message by %s did not arrive", scheme)
            reached = reached and sent
        return reached

    def close(self) -> None:
        """Stop sending. A message that is being sent is left alone."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def _is_by(scheme: str, channel: str | None) -> bool:
    """Whether a URL belongs to a channel: `slack` is `slack://…`, `email` is `mailto://…`."""
    name = scheme.partition(":")[0].casefold().rstrip("s")
    return channel is not None and name == _CALLED.get(channel, channel.rstrip("s"))


def _receiver(url: str, place: int) -> Receiver:
    if url.startswith(SOUND):
        return _sounding(url, place)
    apprise = _apprise()
    with warnings.catch_warnings():
        # Apprise loads all plugins with the first URL, and they use deprecated parts of Python.
        warnings.simplefilter("ignore", DeprecationWarning)
        found = apprise.Apprise.instantiate(url, suppress_exceptions=True)
    if not found:
        raise ValidationError(
            f"Address {place} to notify ({_scheme(url)}) is not supported by Apprise. "
            "Use an address such as ntfy://ntfy.sh/topic or mailto://user:password@host.",
            field="notify",
        )
    # A receiver of its own, without Apprise's queue, tags or templates.
    one = apprise.Apprise()
    one.add(found)
    return lambda title, body, state: bool(one.notify(body=body, title=title, body_format="text"))


def _sounding(url: str, place: int) -> Receiver:
    """A receiver that plays a tone per state, or as the URL says: `sound://?idle=off`."""
    chosen = dict(parse_qsl(url.partition("?")[2]))
    for named, told in chosen.items():
        if named not in TONE_OF or not is_sound(told):
            raise ValidationError(
                f"Address {place} to notify: {named}={told} is not a sound of a state. Write "
                f"sound://?STATE=SOUND, with one of {', '.join(TONE_OF)}, and one of "
                f"{', '.join((OFF, *TONES))} or a path.",
                field="notify",
            )

    def sound(title: str, body: str, state: str | None) -> bool:
        meant = state or next(iter(TONE_OF))
        wanted = chosen.get(meant) or TONE_OF.get(meant, OFF)
        return wanted == OFF or play(wanted)

    return sound


def _scheme(url: str) -> str:
    scheme, separator, _ = url.partition("://")
    known = separator and scheme.replace("+", "").isalnum() and len(scheme) <= 20
    return f"{scheme}://…" if known else "no address"


def _apprise() -> Any:
    try:
        import apprise
    except ImportError as error:
        raise MissingExtra(
            "Notifications need Apprise. Install it: pip install 'callboard[notify]'",
            extra="notify",
        ) from error
    # They log URLs with their secrets: one always, the other in debug mode.
    logging.getLogger("apprise").disabled = True
    logging.getLogger("urllib3").setLevel(logging.WARNING)
    return apprise
