#!/usr/bin/env python3
"""An agent for the benchmark of chats: it replies at once, and says the time in each piece of its text."""

import json
import sys
import time

PIECES = 20
PAUSE_SECONDS = 0.05


def write(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def say(text):
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    write({"method": "session/update", "params": {"sessionId": "one", "update": update}})


def main():
    prompt = None
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            write({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": {}}})
        elif method == "session/new":
            write({"id": number, "result": {"sessionId": "one"}})
        elif method == "session/prompt":
            prompt = number
            hangs = "hang" in json.dumps(message["params"])
            for _ in range(PIECES):
                say(f" @{time.time_ns() // 1_000}@")
                if not hangs:
                    time.sleep(PAUSE_SECONDS)
            if not hangs:
                write({"id": prompt, "result": {"stopReason": "end_turn"}})
        elif method == "session/cancel":
            write({"id": prompt, "result": {"stopReason": "cancelled"}})
        elif number is not None and method is not None:
            write({"id": number, "error": {"code": -32601, "message": "no such method"}})


main()
