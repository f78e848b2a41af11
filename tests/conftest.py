"""How Hypothesis looks for counterexamples: with bounded patience, and no eye on the clock.

A suite that can use more has a test of its own for that, marked `long`. And where tests keep what
belongs to the user: not in the home of who runs them.
"""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from tests.postgres import PostgresServer, running_server

settings.register_profile(
    "ci",
    max_examples=50,
    deadline=None,
    print_blob=True,
    # It measures how busy the machine is, too.
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("ci")


def pytest_configure() -> None:
    # Shells let what they start in the background ignore Ctrl-C, and CI's lanes are such. What
    # tests start would inherit that and behave as nowhere else.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the tests that may take longest: one that came last would run alone."""
    items.sort(key=_patience, reverse=True)


def _patience(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker and marker.args else 0.0


@pytest.fixture(scope="session", autouse=True)
def user_data_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The host's id is kept there, by every server and every board that has plates."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("share")))
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for all tests of a worker that need one."""
    with running_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres: PostgresServer) -> str:
    """The address of a database with our tables and nothing in them."""
    return postgres.emptied()
