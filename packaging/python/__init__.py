"""Finds the Tabwire program, and gives CDP clients the URL of a session.

    from playwright.sync_api import sync_playwright
    import tabwire

    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(tabwire.connect())
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig

__all__ = ["TabwireError", "connect", "program_path"]
__version__ = "{{version}}"


class TabwireError(RuntimeError):
    """A command of Tabwire failed. `code` is its error code, such as NO_BACKEND."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


def program_path() -> str:
    """The path of the program: beside this Python, in the user's scripts, or on PATH."""
    schemes = [None, sysconfig.get_preferred_scheme("user")] if hasattr(sysconfig, "get_preferred_scheme") else [None]
    for scheme in schemes:
        folder = sysconfig.get_path("scripts", scheme) if scheme else sysconfig.get_path("scripts")
        program = os.path.join(folder, "tabwire")
        if os.access(program, os.X_OK):
            return program
    found = shutil.which("tabwire")
    if found is None:
        raise TabwireError("The program tabwire is neither beside this Python nor on PATH.")
    return found


def connect(session: str | None = None, *, join: bool = False, http: bool = False, port: bool = False) -> str:
    """The CDP URL of a session. Starts a browser if none runs.

    It is a secret: it gives access to the session.

    session: the session; `default` unless set.
    join: see the session's tabs, the current one first, instead of a page of one's own.
    http: the http URL instead of the websocket URL, for example for browser-use.
    port: a loopback port without a secret, for tools that drop the path of a URL, such as Selenium's debuggerAddress.
    """
    command = [program_path(), "--json"]
    if session:
        command += ["--session", session]
    command.append("cdp-url")
    command += ["--join"] if join else []
    command += ["--port"] if port else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        result = json.loads(done.stdout)
    except ValueError:
        raise TabwireError(done.stderr.strip() or f"tabwire exited with {done.returncode}.") from None
    if done.returncode != 0:
        error = result.get("error", {})
        sentence = " ".join(filter(None, [error.get("message"), error.get("hint")]))
        raise TabwireError(sentence, error.get("code", ""))
    return result["http"] if http or port else result["websocket"]
