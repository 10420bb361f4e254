"""nodriver through a port of the session, or with the shim as its browser. See shared/checks.py."""

import asyncio
import os
import sys
from urllib.parse import urlsplit

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../shared"))
from checks import CLICKS, ROUNDS, Checks, host_of, page, settings, within  # noqa: E402

import nodriver  # noqa: E402


async def start() -> nodriver.Browser:
    if settings.executable:
        return await nodriver.start(browser_executable_path=settings.executable, headless=True, sandbox=False)
    endpoint = urlsplit(settings.endpoint)
    return await nodriver.start(host=endpoint.hostname, port=endpoint.port)


async def load(browser: nodriver.Browser, url: str, new_tab: bool = False) -> nodriver.Tab:
    """Loads a page and waits for its end; `get` returns while the tab still has the document before it."""
    tab = await browser.get(url, new_tab=new_tab)
    while await tab.evaluate("document.readyState + ' ' + location.href") != f"complete {url}":
        await asyncio.sleep(0.05)
    return tab


async def work(checks: Checks, browser: nodriver.Browser) -> None:
    for turn in range(ROUNDS):
        tab = await within("load", load(browser, page(f"/plain?{turn}")))
        checks.equal("title", await tab.evaluate("document.title"), "Plain page")
        button = await within("select", tab.select("#count"))
        await within("click with the pointer", button.mouse_click())
        # A click with the pointer leaves a mark over the element: the others have to go past it.
        for _ in range(CLICKS - 1):
            await within("click", button.click())
        output = await within("read", tab.select("#output"))
        checks.equal("clicks", output.text, str(CLICKS))
        checks.equal("url", await tab.evaluate("location.href"), page(f"/plain?{turn}"))
    second = await within("second tab", load(browser, page("/form"), new_tab=True))
    field = await within("field", second.select("#notes"))
    await within("type", field.send_keys(f"typed by {settings.host}"))
    checks.equal("value", await second.evaluate("document.querySelector('#notes').value"), f"typed by {settings.host}")
    await within("targets", browser.update_targets())
    checks.equal("tabs", sorted(host_of(tab.target.url) for tab in browser.tabs), [settings.host] * 2)


async def stop(browser: nodriver.Browser) -> None:
    ended = browser.stop()
    if asyncio.iscoroutine(ended):
        await ended


Checks().run(start, work, stop)
