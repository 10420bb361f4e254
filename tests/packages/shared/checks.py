"""What the Python suites of packages share: their arguments, checks and deadlines.

Usage: suite.py (--endpoint URL | --helper [--port] | --executable PATH) --site-port N --host NAME

With --helper the endpoint is that of `tabwire.connect()`.

A suite connects, prints {"connected": true} and waits for a line, so that two of them work at the same time. It prints
{"checks": NUMBER, "failures": [...]} at its end.
"""

import argparse
import asyncio
import atexit
import json
import os
import sys
import traceback
from urllib.parse import urlsplit

STEP_SECONDS = 60
ROUNDS = 3

parser = argparse.ArgumentParser()
parser.add_argument("--endpoint")
parser.add_argument("--helper", action="store_true")
parser.add_argument("--port", action="store_true")
parser.add_argument("--executable")
parser.add_argument("--site-port", type=int, required=True)
parser.add_argument("--host", required=True)
settings = parser.parse_args()
if settings.helper:
    import tabwire

    settings.endpoint = tabwire.connect(port=settings.port)

# How often the counter is clicked: another number for each host.
CLICKS = 1 + ord(settings.host[0]) - ord("a")

# What a package prints goes to stderr: stdout has the suite's own lines only.
_output = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)


def page(path: str) -> str:
    return f"http://{settings.host}.localhost:{settings.site_port}{path}"


def host_of(url: str) -> str:
    return (urlsplit(url).hostname or url).split(".")[0]


async def within(step: str, awaitable):
    """Fails when a step has not ended at the deadline."""
    try:
        return await asyncio.wait_for(awaitable, STEP_SECONDS)
    except asyncio.TimeoutError:
        raise TimeoutError(f"{step}: no end after {STEP_SECONDS} s") from None


def _print(line: dict) -> None:
    print(json.dumps(line), file=_output, flush=True)


class Checks:
    def __init__(self) -> None:
        self.count = 0
        self.failures: list = []

    def equal(self, name: str, found, expected) -> None:
        self.count += 1
        if found != expected:
            self.failures.append({"name": f"{settings.host}: {name}", "found": repr(found), "expected": repr(expected)})

    async def connected(self) -> None:
        """Waits until the other suite is connected too."""
        _print({"connected": True})
        await asyncio.to_thread(sys.stdin.readline)

    def run(self, start, work, stop) -> None:
        """Runs the steps of a suite and ends the process, with its exit functions: some packages leave threads behind."""

        async def main() -> None:
            client = await within("connect", start())
            await self.connected()
            try:
                await work(self, client)
            finally:
                await within("stop", stop(client))

        try:
            asyncio.run(main())
        except BaseException:
            self.failures.append({"name": f"{settings.host}: work", "error": traceback.format_exc()[-1500:]})
        _print({"checks": self.count, "failures": self.failures})
        atexit._run_exitfuncs()
        os._exit(0)
