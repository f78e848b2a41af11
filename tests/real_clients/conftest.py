"""Real agents, a real server, real hooks; only the models are played."""

from collections.abc import AsyncGenerator, Iterable, Iterator
from pathlib import Path

import pytest
from tests.real_clients.background import data_of
from tests.real_clients.board import Board
from tests.real_clients.claude import Claude
from tests.real_clients.home import Home
from tests.real_clients.messages import Messages
from tests.real_clients.model import Model
from tests.servers import serving

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(360))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home.made_in(tmp_path)


@pytest.fixture
def model() -> Iterator[Model]:
    with Model(Messages()) as playing:
        yield playing


@pytest.fixture
async def board(home: Home) -> AsyncGenerator[Board]:
    async with serving(home.database, env=home.env) as server:
        yield Board(server)


@pytest.fixture
async def data_board(home: Home) -> AsyncGenerator[Board]:
    """A board whose server has the same data folder as the commands in the background."""
    async with serving(home.database, env=home.env | data_of(home)) as server:
        yield Board(server)


@pytest.fixture
def plain_claude(home: Home, model: Model) -> Claude:
    """Claude Code as a person has it who has never heard of us."""
    client = Claude(home, model)
    client.prepare()
    return client


@pytest.fixture
async def claude(plain_claude: Claude) -> Claude:
    """Claude Code with our hooks, as `callboard hooks install` leaves it."""
    await plain_claude.home.install_hooks("claude")
    return plain_claude
