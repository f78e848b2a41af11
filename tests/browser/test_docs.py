"""The API page: Swagger UI, from our own server alone."""

from playwright.async_api import expect
from tests.browser.people import Person


async def test_the_page_lists_every_route_and_loads_nothing_from_elsewhere(person: Person):
    asked: list[str] = []
    person.page.on("request", lambda request: asked.append(request.url))
    await person.page.goto(f"{person.address}/docs")
    await expect(person.page.get_by_role("heading", name="Callboard")).to_be_visible()
    async with person.server.client() as http:
        document = (await http.get("/openapi.json")).json()
    operations = [method for path in document["paths"].values() for method in path]
    await expect(person.page.locator(".opblock")).to_have_count(len(operations))
    own = (f"{person.address}/", "data:")
    assert [url for url in asked if not url.startswith(own)] == []
    assert person.complaints == []


async def test_a_request_can_be_tried_with_the_session_of_the_browser(person: Person):
    await person.page.goto(f"{person.address}/docs")
    route = person.page.locator("#operations-workflows-list_workflows_workflows_get")
    await route.locator(".opblock-summary-control").click()
    await route.get_by_role("button", name="Try it out").click()
    await route.get_by_role("button", name="Execute").click()
    await expect(route.locator(".live-responses-table tbody .response-col_status")).to_contain_text(
        "200"
    )
    assert person.complaints == []


async def test_a_stranger_sees_neither_the_page_nor_the_document(person: Person):
    await person.context.clear_cookies()
    for path in ("/docs", "/openapi.json"):
        answer = await person.page.goto(f"{person.address}{path}")
        assert answer is not None
        assert answer.status == 401
