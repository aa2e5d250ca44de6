"""A suite out of production logs: requests and responses of OpenAI's API, a JSON line each.

A call that was logged is no call that was right: keep what somebody has looked at, or what its user
was content with. What cannot be judged by itself is left out, with the reason.

$ python examples/suite_from_logs.py
row 2: unknown-tool: tool_calls[0]: 'forecast' is none of: weather
row 3: its user was not content
row 4: duplicate-row: the same as row 1
3 scenarios, of which nobody can pass 0
log-1: Weather in Oslo?
log-5: And in Rome?
log-6: Thanks!
"""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tunaeval
from tunaeval import check_suite
from tunaeval.data import Checker, Row, as_openai, read_rows

TOOL = {"name": "weather", "parameters": {"type": "object", "required": ["city"],
        "properties": {"city": {"type": "string"}}}}  # fmt: skip


def log(*said: str, name: str = "weather", city: str = "", liked: bool = True) -> dict[str, Any]:
    roles = ("user", "assistant") * len(said)
    messages = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    call = {"id": "c1", "function": {"name": name, "arguments": json.dumps({"city": city})}}
    reply: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [call]}
    reply = reply if city else {"role": "assistant", "content": "You are welcome."}
    request = {"messages": messages, "tools": [{"type": "function", "function": TOOL}]}
    return {"request": request, "response": {"choices": [{"message": reply}]}, "liked": liked}


LOGS = [
    log("Weather in Oslo?", city="Oslo"),
    log("And tomorrow?", name="forecast", city="Oslo"),
    log("Weather in Bonn?", city="Born", liked=False),
    log("Weather in Oslo?", city="Oslo"),
    log("Weather in Oslo?", "It rains.", "And in Rome?", city="Rome"),
    log("Thanks!"),
]


def conversation(logged: dict[str, Any]) -> dict[str, Any]:
    asked, reply = logged["request"], logged["response"]["choices"][0]["message"]
    return {"messages": [*asked["messages"], reply], "tools": asked["tools"]}


def scenarios() -> Iterator[dict[str, Any]]:
    checker = Checker()
    for row, logged in zip(read_rows([*map(conversation, LOGS)]), LOGS, strict=True):
        faults = [f"{one.code}: {one.reason}" for one in checker.check(row)]
        if faults or not logged["liked"]:
            print(f"row {row.number}: {(*faults, 'its user was not content')[0]}")
        elif isinstance(row, Row):
            made = row.messages[-1].tool_calls
            calls = [{"name": call.name, "arguments": call.arguments} for call in made]
            *before, asked, _ = as_openai(row)["messages"]
            expect = {"calls": calls} if calls else {"none": True}
            place = {"id": f"log-{row.number}", "tools": logged["request"]["tools"]}
            yield {**place, "messages": before, "prompt": asked["content"], "expect": expect}


with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "from_logs.json"
    file.write_text(json.dumps({"tools": None, "scenarios": [*scenarios()]}))
    suite = tunaeval.load_suite(file)

print(f"{len(suite.scenarios)} scenarios, of which nobody can pass {len(check_suite(suite))}")
for one in suite.scenarios:
    print(f"{one.id}: {one.prompt}")
