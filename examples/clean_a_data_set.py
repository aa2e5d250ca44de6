"""Rows of a data set for training, parted into those that teach the right thing and the others.

$ python examples/clean_a_data_set.py
row 2: unknown-tool: tool_calls[0]: 'forecast' is none of: weather
row 3: misfit: weather: tool_calls[0]: $.city: ['Rome'] is not of type string
row 4: broken-beside-good: missing-name: a call without a name
row 6: duplicate-row: the same as row 1
2 of 6 rows are kept, as messages that TRL reads
{"name": "weather", "arguments": {"city": "Oslo"}}
"""

import json
from typing import Any

from tunaeval.data import Checker, Row, as_openai, read_rows

TOOLS = json.dumps([{"name": "weather", "description": "The weather.",
                     "parameters": {"city": {"type": "str", "description": ""}}}])  # fmt: skip


def xlam(query: str, name: str, **arguments: Any) -> dict[str, str]:
    answers = json.dumps([{"name": name, "arguments": arguments}])
    return {"query": query, "answers": answers, "tools": TOOLS}


def sharegpt(query: str, reply: str) -> dict[str, Any]:
    said = [{"from": "human", "value": query}, {"from": "gpt", "value": reply}]
    return {"conversations": said, "tools": TOOLS}


GOOD = '<tool_call>{"name": "weather", "arguments": {"city": "Bonn"}}</tool_call>'
ROWS = [  # a file (.jsonl, .parquet) or an object of `datasets` is given to read_rows as well
    xlam("Weather in Oslo?", "weather", city="Oslo"),
    xlam("And tomorrow?", "forecast", city="Oslo"),
    xlam("In Rome?", "weather", city=["Rome"]),
    sharegpt("In Bonn?", GOOD + '<tool_call>{"city": "Bonn"}</tool_call>'),
    sharegpt("In Bonn, please?", GOOD),
    xlam("Weather in Oslo?", "weather", city="Oslo"),
]

checker, kept = Checker(), list[dict[str, Any]]()
for row in read_rows(ROWS):
    findings = checker.check(row)
    for one in findings[:1]:
        print(f"row {row.number}: {one.code}: {one.reason}")
    if isinstance(row, Row) and not findings:
        kept.append(as_openai(row))

print(f"{len(kept)} of {len(ROWS)} rows are kept, as messages that TRL reads")
print(json.dumps(kept[0]["messages"][1]["tool_calls"][0]["function"]))
