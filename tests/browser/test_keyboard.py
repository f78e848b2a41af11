"""Every page can be used without a mouse: Tab reaches all of it, is seen, and leads out again."""

import pytest
from playwright.async_api import Browser, Page
from tests.browser.looks import PAGES, agents_at_work, fill
from tests.browser.people import at_a_browser
from tests.browser.test_looks import show
from tests.servers import Server

MOST_STEPS = 400

# What a person could press or write in. One of a group of radio buttons stands for all of them:
# arrow keys lead to the others.
_REACHABLE = """() => {
  const all = 'a[href], button, input, select, textarea, summary, [tabindex="0"]'
  const groups = new Set()
  const found = [...document.querySelectorAll(all)].filter((one) => {
    if (one.disabled || one.tabIndex < 0 || !one.checkVisibility({ visibilityProperty: true })) {
      return false
    }
    if (one.type !== 'radio' || !one.name) return true
    const group = document.getElementsByName(one.name)
    const stands = [...group].find((radio) => radio.checked) ?? one
    if (groups.has(one.name)) return false
    groups.add(one.name)
    stands.dataset.reachable = ''
    return false
  })
  for (const one of found) one.dataset.reachable = ''
}"""

# Where Tab is now, and what is wrong with that place.
_STEP = """() => {
  const here = document.activeElement
  if (!here || here === document.body) return null
  delete here.dataset.reachable
  if (here.type === 'radio') for (const one of document.getElementsByName(here.name)) {
    delete one.dataset.reachable
  }
  const marks = [here, here.parentElement].map((one) => getComputedStyle(one))
  const isMarked = marks.some((it) => it.outlineStyle !== 'none' || it.boxShadow !== 'none')
  const seen = here.getBoundingClientRect()
  const isInView = seen.bottom > 0 && seen.top < innerHeight && seen.width > 0
  const name = here.outerHTML.slice(0, 120)
  return [isMarked ? '' : `not marked: ${name}`, isInView ? '' : `out of view: ${name}`]
}"""

_LEFT = (
    "() => [...document.querySelectorAll('[data-reachable]')].map(o => o.outerHTML.slice(0, 120))"
)


async def walk(page: Page) -> list[str]:
    """Press Tab until the page has been left; what is wrong on the way."""
    await page.evaluate(_REACHABLE)
    wrong: list[str] = []
    for step in range(MOST_STEPS):
        await page.keyboard.press("Tab")
        found = await page.evaluate(_STEP)
        if found is None and step > 0:
            return wrong + [f"not reached: {one}" for one in await page.evaluate(_LEFT)]
        wrong += [one for one in found or [] if one]
    return [*wrong, "Tab does not lead out of the page"]


@pytest.mark.long
async def test_every_page_is_walked_by_keyboard(browser: Browser, server: Server):
    made = await fill(server)
    wrong: dict[str, list[str]] = {}
    async with agents_at_work(server) as ids, at_a_browser(browser, server) as person:
        for name, page in PAGES.items():
            await show(person, page, made | ids)
            if found := await walk(person.page):
                wrong[name] = found
    assert wrong == {}
