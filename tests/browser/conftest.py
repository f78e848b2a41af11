"""One Chromium for all tests of the dashboard, and a server for each.

Debian's own: nothing is downloaded.
"""

import os
import shutil
from collections.abc import AsyncGenerator, Iterable
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright, expect
from tests.browser.looks import KEPT
from tests.browser.people import Person, at_a_browser
from tests.servers import Server, serving

HERE = Path(__file__).parent
FLOWS = (HERE / "flows.py", HERE.parent / "server_flows.py")
PATIENCE_MS = 15_000

expect.set_options(timeout=PATIENCE_MS)

# It makes pictures and asserts little: only `make screenshots` wants it.
collect_ignore = [] if KEPT in os.environ else ["test_pictures.py"]


def pytest_collection_modifyitems(items: Iterable[pytest.Item]) -> None:
    """Browsers are heavy: one process has them all, and one loop."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.dashboard)
            item.add_marker(pytest.mark.timeout(360))
            item.add_marker(pytest.mark.xdist_group("browser"))
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncGenerator[Browser]:
    program = shutil.which("chromium")
    assert program, "Chromium is missing: make system"
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=program)
        yield chromium
        await chromium.close()


@pytest_asyncio.fixture(loop_scope="session")
async def server(tmp_path: Path) -> AsyncGenerator[Server]:
    async with serving(tmp_path / "x.db", *FLOWS) as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def person(browser: Browser, server: Server) -> AsyncGenerator[Person]:
    async with at_a_browser(browser, server) as somebody:
        yield somebody
