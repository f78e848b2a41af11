"""Where the relay of this user is."""

from pathlib import Path

from platformdirs import user_data_path


def relay_folder() -> Path:
    """Where this user's relay keeps its settings, its outbox and the hooks folder."""
    return user_data_path("callboard", appauthor=False) / "relay"
