"""langchain-mcp-adapters as a client of `tabwire mcp`: what its model gets of each result.

Usage: langchain_suite.py SITE_PORT HOST COMMAND [ARGUMENTS...]
"""

import asyncio
import json
import os
import re
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

PORT, HOST, COMMAND, *ARGUMENTS = sys.argv[1:]


def shown(message) -> str:
    """The text of a tool message, which a chat model receives."""
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block["type"] == "text")


async def main() -> None:
    server = {"transport": "stdio", "command": COMMAND, "args": ARGUMENTS, "env": dict(os.environ)}
    client = MultiServerMCPClient({"tabwire": server})
    async with client.session("tabwire") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}

        async def call(name: str, **arguments) -> str:
            request = {"type": "tool_call", "id": "1", "name": name, "args": arguments}
            return shown(await tools[name].ainvoke(request))

        await call("navigate", url=f"http://{HOST}.localhost:{PORT}/form")
        seen = await call("snapshot")
        ref = re.search(r'textbox "Name" \[(e\d+)\]', seen).group(1)
        assert '"Anna"' in await call("fill", ref=ref, value="Anna")
        for name, arguments, expected in [
            ("tabs_list", {}, "/form"),
            ("eval", {"expression": "6 * 7"}, "42"),
            ("wait_for", {"text": "Form"}, "Form"),
            ("get_text", {}, "Form"),
            ("status", {}, "current_tab"),
            ("click", {"selector": "#agree"}, "Agree"),
            ("eval", {"expression": "location.host.split('.')[0] + document.querySelector('#agree').checked"}, f"{HOST}true"),
        ]:
            text = await call(name, **arguments)
            assert expected in text, f"{name}: {text}"
        other = "b" if HOST == "a" else "a"
        assert f"{other}.localhost" not in await call("tabs_list")
    print(json.dumps({"passed": True}))


asyncio.run(main())
