"""Prompts are Markdown, and their answers stay in view; an answer can be taken back for a while."""

import asyncio
import re
from typing import Any

import pytest
from playwright.async_api import Browser, Request, expect
from tests.browser.agents import Agent, decided
from tests.browser.looks import faults, sideways
from tests.browser.people import Person, at_a_browser
from tests.browser.story import begin, shown
from tests.servers import Server

PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA"
    "WjR9awAAAABJRU5ErkJggg=="
)
RICH = f"""# Release 2.4 to production?

Tests **passed** on `main`. Read the [run](https://ci.example/1), not [this](javascript:alert(1)).

| Service | Before | After |
|---|--:|--:|
| web | 120 ms | 80 ms |
| {"x" * 300} | 1 | 2 |

```diff
--- a/config.toml
+++ b/config.toml
@@ -1,2 +1,2 @@
 [pool]
-size = 5
+size = 20
```

```python
def release(version: str) -> bool:
    return publish(version)  # at last
```

![A chart]({PNG}) ![A pixel](https://evil.example/pixel.png)

<img src=x onerror="document.title = 'owned'">
"""
LONG = "# Migrate the store?\n\n" + "\n".join(f"- Step {n}: copy table {n}" for n in range(400))


async def asks(server: Server, prompt: str, **more: object) -> str:
    """Ask for an approval that belongs to no workflow; gives its id."""
    async with server.client() as http:
        body = {"type": "approval", "prompt": prompt, **more}
        asked = await http.post("/interactions", json=body)
        asked.raise_for_status()
        return asked.json()["id"]


async def becomes(server: Server, question: str, status: str) -> dict[str, Any]:
    """Wait until a question stands so."""
    async with asyncio.timeout(90):
        while (found := await shown(server, question))["status"] != status:
            await asyncio.sleep(0.02)
    return found


async def test_a_prompt_is_markdown_and_nothing_in_it_is_run(person: Person, server: Server):
    fetched: list[str] = []

    def note(request: Request) -> None:
        fetched.append(request.url)

    person.page.on("request", note)
    await person.visit(f"inbox/{await asks(server, RICH)}")
    article = person.page.get_by_role("article")
    await expect(person.heading("Release 2.4 to production?")).to_be_visible()
    await expect(article.get_by_role("cell", name="120 ms")).to_be_visible()
    await expect(article.locator("li.is-added")).to_contain_text("size = 20")
    await expect(article.locator("li.is-removed")).to_contain_text("size = 5")
    await expect(article.locator(".code--keyword").first).to_have_text("def")
    link = article.get_by_role("link", name="run", exact=True)
    await expect(link).to_have_attribute("rel", "noopener noreferrer")
    await expect(article.get_by_role("link", name="this", exact=True)).to_have_count(0)
    chart = article.get_by_role("img", name="A chart")
    await expect(chart).to_be_visible()
    assert await chart.evaluate("(image) => image.naturalWidth") == 1
    await person.sees("Image “A pixel” (only attached images are shown)")
    await person.sees("<img src=x onerror=")
    assert not any("evil.example" in url for url in fetched)
    assert await person.page.title() != "owned"


async def test_plain_text_stands_in_for_markdown_that_does_not_come(person: Person, server: Server):
    await person.page.route("**/assets/Markdown-*.js", lambda route: route.abort())
    await person.visit(f"inbox/{await asks(server, RICH)}")
    await expect(person.heading("Release 2.4 to production?")).to_be_visible()
    await person.sees("| web | 120 ms | 80 ms |")
    await expect(person.button("Reject")).to_be_enabled()


@pytest.mark.parametrize(("width", "height"), [(390, 844), (768, 1024), (1024, 768), (1440, 900)])
async def test_the_answers_stay_in_view_however_long_the_prompt_is(
    browser: Browser, server: Server, width: int, height: int
):
    window = {"width": width, "height": height}
    question = await asks(server, LONG)
    async with at_a_browser(browser, server, viewport=window, bypass_csp=True) as person:
        await person.visit(f"inbox/{question}")
        approve, reject = person.button("Approve"), person.button("Reject")
        fold = person.button("Show all 401 lines")
        await expect(fold).to_be_in_viewport(ratio=1)
        # What is folded was not read.
        await expect(approve).to_be_disabled()
        await expect(approve).to_be_in_viewport(ratio=1)
        await fold.click()
        await expect(person.page.get_by_text("Step 399: copy table 399")).to_be_attached()
        await expect(approve).to_be_disabled()
        for top in (0, 2_000, 4_000):
            await person.page.evaluate(f"window.scrollTo(0, {top})")
            for button in (approve, reject):
                await expect(button).to_be_in_viewport(ratio=1)
        await person.page.evaluate("window.scrollTo(0, 0)")
        await person.page.keyboard.press("v")
        await expect(approve).to_be_enabled()
        last = person.page.get_by_text("Step 399: copy table 399")
        await expect(last).to_be_in_viewport(ratio=1)
        box, bar = await last.bounding_box(), await approve.bounding_box()
        assert box
        assert bar
        assert box["y"] + box["height"] <= bar["y"]
        await person.page.evaluate("window.scrollTo(0, 100000)")
        await expect(approve).to_be_in_viewport(ratio=1)
        assert await sideways(person.page) <= 0
        assert await faults(person.page) == []


async def test_a_jump_to_the_end_unfolds(person: Person, server: Server):
    await person.visit(f"inbox/{await asks(server, LONG)}")
    await expect(person.button("Approve")).to_be_disabled()
    await person.page.keyboard.press("v")
    await expect(person.page.get_by_text("Step 399: copy table 399")).to_be_in_viewport()
    await expect(person.button("Approve")).to_be_enabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_rich_prompts(browser: Browser, server: Server, scheme: Any):
    question = await asks(server, RICH)
    async with at_a_browser(browser, server, color_scheme=scheme, bypass_csp=True) as person:
        for width in (390, 1440):
            await person.page.set_viewport_size({"width": width, "height": 900})
            await person.visit(f"inbox/{question}")
            await expect(person.page.locator(".code--keyword").first).to_be_visible()
            assert await faults(person.page) == []
            assert await sideways(person.page) <= 0


async def test_an_answer_can_be_undone_and_the_next_question_has_the_focus(
    person: Person, server: Server
):
    await person.take_time_to_undo()
    first, second = await asks(server, "First?"), await asks(server, "Second?")
    await person.visit(f"inbox/{first}")
    await expect(person.button("Approve")).to_be_enabled()
    await person.page.keyboard.press("y")
    await expect(person.heading("Second?")).to_be_focused()
    # A key that was pressed twice was meant for the first.
    await person.page.keyboard.press("y")
    note = person.page.get_by_role("status").filter(has_text="Sending…")
    await expect(note).to_contain_text("First?")
    await note.get_by_role("button", name="Undo").click()
    await expect(note).to_have_count(0)
    await expect(person.heading("First?")).to_be_focused()
    await expect(person.button("Approve")).to_be_enabled()
    for question in (first, second):
        assert (await shown(server, question))["status"] == "pending"


async def test_undo_returns_to_the_answer_as_it_was_written(person: Person, server: Server):
    await person.take_time_to_undo()
    first, _ = await asks(server, "First?"), await asks(server, "Second?")
    await person.visit(f"inbox/{first}")
    await person.page.get_by_text("Reject with a message").click()
    await person.page.get_by_label("Message").fill("Too early.")
    await person.button("Send rejection").click()
    await expect(person.heading("Second?")).to_be_focused()
    # From another page, too.
    await person.page.get_by_role("link", name="Sessions", exact=True).click()
    await expect(person.heading("Sessions", exact=True)).to_be_visible()
    await person.page.keyboard.press("u")
    await expect(person.heading("First?")).to_be_focused()
    await expect(person.page.get_by_label("Message")).to_have_value("Too early.")
    assert (await shown(server, first))["status"] == "pending"


async def test_the_next_question_is_read_from_its_beginning(person: Person, server: Server):
    first, _ = await asks(server, LONG), await asks(server, RICH)
    await person.visit(f"inbox/{first}")
    await expect(person.button("Approve")).to_be_disabled()
    await person.page.keyboard.press("v")
    await expect(person.button("Approve")).to_be_enabled()
    await person.button("Approve").click()
    await expect(person.heading("Release 2.4 to production?")).to_be_focused()
    await expect(person.heading("Release 2.4 to production?")).to_be_in_viewport()
    await person.sees("Scroll to the end to enable Approve")
    await expect(person.button("Approve")).to_be_disabled()


async def test_on_a_session_the_focus_goes_to_its_next_question(person: Person, server: Server):
    await person.take_time_to_undo()
    session = await begin(server, "gate", "/nowhere")
    first, second = [await asks(server, f"{n}?", sessionId=session) for n in ("One", "Two")]
    await person.visit(f"sessions/{session}")
    await expect(person.button("Approve")).to_have_count(2)
    await person.button("Reject").first.click()
    await expect(person.page.locator(f'[data-question="{second}"]')).to_be_focused()
    await person.button("Undo").click()
    await expect(person.page.get_by_text("Sending…")).to_have_count(0)
    await expect(person.page.locator(f'[data-question="{first}"]')).to_be_focused()
    assert (await shown(server, first))["status"] == "pending"


async def test_an_answer_is_sent_after_five_seconds(person: Person, server: Server):
    question = await asks(server, "Now?")
    await person.visit(f"inbox/{question}")
    await person.button("Approve").click()
    await person.sees("Sending…")
    await expect(person.button("Undo")).to_be_visible()
    await expect(person.button("Approve")).to_be_disabled()
    assert (await shown(server, question))["status"] == "pending"
    await becomes(server, question, "completed")
    await person.sees("Approved")


async def test_the_undo_key_takes_an_answer_back(person: Person, server: Server):
    await person.take_time_to_undo()
    question = await asks(server, "Now?")
    await person.visit(f"inbox/{question}")
    await expect(person.button("Reject")).to_be_enabled()
    await person.page.keyboard.press("n")
    await person.sees("Sending…")
    await person.page.keyboard.press("u")
    await expect(person.page.get_by_text("Sending…")).to_have_count(0)
    await expect(person.button("Approve")).to_be_enabled()
    assert (await shown(server, question))["status"] == "pending"


@pytest.mark.parametrize("way", ["away", "reload", "close"])
async def test_leaving_the_page_sends_at_once(person: Person, server: Server, way: str):
    await person.take_time_to_undo()
    question = await asks(server, "Now?")
    await person.visit(f"inbox/{question}")
    await person.button("Approve").click()
    await person.sees("Sending…")
    match way:
        case "away":
            await person.page.goto("about:blank")
        case "reload":
            await person.page.reload()
        case _:
            await person.page.close(run_before_unload=True)
    await becomes(server, question, "completed")


async def test_another_page_of_the_dashboard_can_still_undo(person: Person, server: Server):
    await person.take_time_to_undo()
    question = await asks(server, "Now?")
    await person.visit(f"inbox/{question}")
    await person.button("Approve").click()
    await person.sees("Sending…")
    await person.page.get_by_role("link", name=re.compile("^Sessions")).click()
    await expect(person.heading("Sessions", exact=True)).to_be_visible()
    await person.page.get_by_role("button", name="Undo").click()
    await expect(person.page.get_by_text("Sending…")).to_have_count(0)
    assert (await shown(server, question))["status"] == "pending"


async def test_a_coding_agent_is_answered_at_once_and_its_command_is_no_markdown(
    person: Person, server: Server
):
    agent = Agent(server, "permission")
    command = "echo '**bold** [a](https://evil.example)'"
    async with agent.asking(tool_input={"command": command}) as held:
        region = person.page.get_by_role("region", name="The command")
        await expect(region).to_contain_text(command)
        await expect(region.locator("a, strong")).to_have_count(0)
        await person.page.get_by_role("button", name=re.compile("^Allow")).first.click()
        # Nothing to undo: the command may already run.
        await expect(person.page.get_by_role("button", name="Undo")).to_have_count(0)
        async with asyncio.timeout(90):
            assert decided(await held) == {"behavior": "allow"}
