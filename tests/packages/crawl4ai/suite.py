"""crawl4ai over CDP: crawls with a click, one after the other and two at once. See shared/checks.py."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../shared"))
from checks import CLICKS, ROUNDS, Checks, host_of, page, settings, within  # noqa: E402

from crawl4ai import AsyncWebCrawler, BrowserConfig, CacheMode, CrawlerRunConfig  # noqa: E402

RUN = CrawlerRunConfig(cache_mode=CacheMode.BYPASS, wait_until="load", verbose=False)


async def click(current, context=None, **_):
    """Clicks the counter with Playwright, before the page is read."""
    if await current.locator("#count").count():
        for _ in range(CLICKS):
            await current.click("#count")
    return current


async def start() -> AsyncWebCrawler:
    browser = BrowserConfig(browser_mode="cdp", cdp_url=settings.endpoint, headless=True, verbose=False)
    crawler = AsyncWebCrawler(config=browser)
    crawler.crawler_strategy.set_hook("before_retrieve_html", click)
    await crawler.start()
    return crawler


def output_of(html: str) -> str:
    found = re.search(r'<output id="output">(\d+)</output>', html)
    return found.group(1) if found else html[:200]


async def work(checks: Checks, crawler: AsyncWebCrawler) -> None:
    for turn in range(ROUNDS):
        result = await within("crawl", crawler.arun(page(f"/plain?{turn}"), config=RUN))
        checks.equal("success", (result.success, result.error_message or ""), (True, ""))
        checks.equal("url", result.redirected_url or result.url, page(f"/plain?{turn}"))
        checks.equal("title", result.metadata.get("title"), "Plain page")
        checks.equal("clicks", output_of(result.html), str(CLICKS))
        checks.equal("text", "Plain heading" in result.markdown, True)
        links = [host_of(link["href"]) for link in result.links["internal"]]
        checks.equal("links", set(links), {settings.host})
    paths = ["/plain", "/form", "/table", "/article"]
    results = await within("crawls at once", crawler.arun_many([page(path) for path in paths], config=RUN))
    titles = {result.url: result.metadata.get("title") for result in results}
    checks.equal("titles", [titles.get(page(path)) for path in paths[:2]], ["Plain page", "Form"])
    checks.equal("number of titles", len(set(titles.values())), len(paths))


Checks().run(start, work, lambda crawler: crawler.close())
