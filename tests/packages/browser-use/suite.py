"""browser-use over CDP, without a model: the browser session and the page that its agents use. See shared/checks.py."""

import asyncio
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../shared"))
from checks import CLICKS, ROUNDS, Checks, host_of, page, settings, within  # noqa: E402

os.environ |= {"ANONYMIZED_TELEMETRY": "false", "BROWSER_USE_LOGGING_LEVEL": "warning"}

from browser_use import BrowserSession  # noqa: E402
from browser_use.browser.events import ClickElementEvent, NavigateToUrlEvent  # noqa: E402


async def start() -> BrowserSession:
    session = BrowserSession(cdp_url=settings.endpoint)
    await session.start()
    return session


async def index_of(session: BrowserSession, element: str) -> int:
    """The index of an element in the state that a model gets."""
    state = await within("state", session.get_browser_state_summary(include_screenshot=False))
    for index, node in state.dom_state.selector_map.items():
        if node.attributes.get("id") == element:
            return index
    raise AssertionError(f"#{element} is not in the state: {state.dom_state.llm_representation()}")


async def find(current, selector: str):
    """The element, as soon as the page has it: a new page is there before its document."""
    while True:
        try:
            [element] = await current.get_elements_by_css_selector(selector)
            return element
        except (RuntimeError, ValueError):
            await asyncio.sleep(0.1)


async def work(checks: Checks, session: BrowserSession) -> None:
    checks.equal("own pages", len(await session.get_pages()), 1)
    for turn in range(ROUNDS):
        event = session.event_bus.dispatch(NavigateToUrlEvent(url=page(f"/plain?{turn}")))
        await within("load", event)
        current = await session.must_get_current_page()
        checks.equal("title", await current.get_title(), "Plain page")
        node = await session.get_element_by_index(await index_of(session, "count"))
        for _ in range(CLICKS):
            await within("click", session.event_bus.dispatch(ClickElementEvent(node=node)))
        checks.equal("clicks", await current.evaluate("() => document.querySelector('#output').textContent"), str(CLICKS))
        checks.equal("url", await session.get_current_page_url(), page(f"/plain?{turn}"))
    second = await within("second page", session.new_page(page("/form")))
    field = await within("field", find(second, "#notes"))
    await within("fill", field.fill(f"typed by {settings.host}"))
    checks.equal("value", await second.evaluate("() => document.querySelector('#notes').value"), f"typed by {settings.host}")
    tabs = await session.get_tabs()
    checks.equal("tabs", sorted(host_of(tab.url) for tab in tabs), [settings.host] * 2)


Checks().run(start, work, lambda session: session.stop())
