"""openai-agents as a client of `tabwire mcp`: an agent whose model is a script reads the results of its calls.

Usage: openai_agents_suite.py SITE_PORT HOST COMMAND [ARGUMENTS...]
"""

import asyncio
import json
import os
import sys

from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

PORT, HOST, COMMAND, *ARGUMENTS = sys.argv[1:]

# The calls of the model, each with words that it must read in the result.
STEPS = [
    ("navigate", {"url": f"http://{HOST}.localhost:{PORT}/form"}, "/form"),
    ("snapshot", {}, 'textbox "Name"'),
    ("fill", {"selector": "label=Name", "value": "Anna"}, '"Anna"'),
    ("tabs_list", {}, "/form"),
    ("eval", {"expression": "6 * 7"}, "42"),
    ("status", {}, "current_tab"),
    ("click", {"selector": "#agree"}, "Agree"),
    ("eval", {"expression": "location.host.split('.')[0] + document.querySelector('#agree').checked"}, f"{HOST}true"),
]


def as_text(output) -> str:
    """The result of a call, without JSON quoting."""
    return output if isinstance(output, str) else "\n".join(part.get("text", "") for part in output)


class ScriptedModel(Model):
    """Makes the calls of STEPS and checks what it is given."""

    def __init__(self) -> None:
        self.done = 0

    async def get_response(self, system_instructions, input, *args, **kwargs) -> ModelResponse:
        if self.done:
            name, _, expected = STEPS[self.done - 1]
            last = [item for item in input if item.get("type") == "function_call_output"][-1]
            text = as_text(last["output"]).replace('\\"', '"')
            assert expected in text, f"{name}: {text}"
        if self.done == len(STEPS):
            text = ResponseOutputText(annotations=[], text="done", type="output_text")
            message = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
            return ModelResponse(output=[message], usage=Usage(), response_id=None)
        name, arguments, _ = STEPS[self.done]
        self.done += 1
        call = ResponseFunctionToolCall(
            arguments=json.dumps(arguments), call_id=f"c{self.done}", name=name, type="function_call"
        )
        return ModelResponse(output=[call], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError


async def main() -> None:
    set_tracing_disabled(True)
    params = {"command": COMMAND, "args": ARGUMENTS, "env": dict(os.environ)}
    async with MCPServerStdio(params=params, client_session_timeout_seconds=60) as server:
        agent = Agent(name="suite", model=ScriptedModel(), mcp_servers=[server])
        result = await Runner.run(agent, "Fill in the form.", max_turns=len(STEPS) + 2)
        assert result.final_output == "done"
    print(json.dumps({"passed": True}))


asyncio.run(main())
