"""A server without an SDK, in the protocol's version of 2025, that breaks as it is told.

`python raw.py [FAULT ...]`: faults of its start, of its list of tools, and of its end. The one tool
`do` takes `how`, which says what its call breaks.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FAULTS = sys.argv[1:]
DO: dict[str, Any] = {
    "name": "do",
    "description": "Do it.",
    "inputSchema": {"type": "object", "properties": {"how": {"type": "string"}}},
}


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def page(cursor: str | None) -> dict[str, Any]:
    if "two-of-a-name" in FAULTS:
        return {"tools": [DO, DO]}
    if "no-schema" in FAULTS:
        return {"tools": [{**DO, "inputSchema": {"type": "string"}}]}
    if "escapes" in FAULTS:
        return {"tools": [{**DO, "description": "\x1b[2J\x1b]0;title\x07 all gone"}]}
    if "endless" in FAULTS:
        return {"tools": [], "nextCursor": "again"}
    if "many" in FAULTS:
        first = int(cursor or 0)
        tools = [{**DO, "name": f"do_{number}"} for number in range(first, first + 100)]
        return {"tools": tools, **({"nextCursor": str(first + 100)} if first < 400 else {})}
    return {"tools": [DO]}


def called(how: str) -> dict[str, Any]:
    text = [{"type": "text", "text": f"did {how}"}]
    match how:
        case "hang":
            time.sleep(600)
        case "die":
            print("out of luck \x1b[31m", file=sys.stderr, flush=True)
            os._exit(3)
        case "garbage":
            return {"result": {"content": "none"}}
        case "failed" | "-32602" | "-32603" | "7":
            if how != "failed":
                return {"error": {"code": int(how), "message": f"error {how}"}}
            return {"result": {"content": text, "isError": True}}
        case "pid":
            text[0]["text"] = str(os.getpid())
        case "note":
            Path(FAULTS[-1], "note.txt").write_text("hello", encoding="utf-8")
        case "flood":
            while True:
                sys.stdout.write("x" * (1 << 20))
        case "print":
            say("hello, terminal")
        case "structured":
            return {"result": {"content": [], "structuredContent": {"n": 10**30}}}
        case "nan":
            return {"result": {"content": [], "structuredContent": {"n": float("nan")}}}
        case "media":
            image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
            link = {"type": "resource_link", "uri": "file:///a", "name": "a"}
            held = {"type": "resource", "resource": {"uri": "file:///b", "text": "in b"}}
            return {"result": {"content": [*text, image, link, held]}}
        case "huge":
            return {"result": {"content": [{"type": "text", "text": "x" * 200_000}]}}
    return {"result": {"content": text}}


def answer(request: dict[str, Any]) -> dict[str, Any]:
    parameters = request.get("params") or {}
    match request["method"]:
        case "initialize":
            about = {"name": "raw", "version": "1"}
            version = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            return {"result": {**version, "serverInfo": about}}
        case "tools/list":
            return {"result": page(parameters.get("cursor"))}
        case "tools/call":
            return called(parameters["arguments"].get("how", ""))
    return {"error": {"code": -32601, "message": "no such method"}}


if "dies" in FAULTS:
    sys.exit("no licence")
if "prints" in FAULTS:
    say("Welcome! Listening on stdio.")
if "silent" in FAULTS:
    time.sleep(600)
if "stays" in FAULTS:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "breeds" in FAULTS:  # a process in a session of its own, with this one's words
    sleeps = [sys.executable, "-S", "-c", "import time; time.sleep(600)", *FAULTS]
    subprocess.Popen(sleeps, start_new_session=True, stdout=subprocess.DEVNULL)
if "shouts" in FAULTS:
    for number in range(4000):
        sys.stderr.write(f"{number} {'x' * 1000}\n")
    sys.stderr.write("the last words\n")
    sys.stderr.flush()
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        say(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer(asked)}))
if "stays" in FAULTS:
    time.sleep(600)
