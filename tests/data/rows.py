"""One question and its call in each of the shapes: fixtures of our own, no data set is shipped."""

from __future__ import annotations

import json
from typing import Any

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
TOOL = {"name": "get_weather", "description": "Tells it.", "parameters": PARAMETERS}
OPENAI_TOOL = {"type": "function", "function": TOOL}
ARGUMENTS = {"city": "Oslo", "days": 2}
CALL = {"name": "get_weather", "arguments": ARGUMENTS}
ASK = "How is the weather in Oslo?"
ANSWER = "It rains."
RESULT = '{"rain": true}'
HERMES = f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>"
TEXT = {**CALL, "arguments": json.dumps(ARGUMENTS)}


def openai(**more: Any) -> dict[str, Any]:
    called = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": TEXT}]}  # fmt: skip
    said = [
        {"role": "user", "content": ASK},
        called,
        {"role": "tool", "tool_call_id": "c1", "content": RESULT},
        {"role": "assistant", "content": ANSWER},
    ]
    return {"messages": said, "tools": [OPENAI_TOOL], **more}


def sharegpt(*values: tuple[str, str], **more: Any) -> dict[str, Any]:
    said = values or (("human", ASK), ("gpt", HERMES), ("tool", RESULT), ("gpt", ANSWER))
    rows = [{"from": speaker, "value": value} for speaker, value in said]
    return {"conversations": rows, "tools": json.dumps([OPENAI_TOOL]), **more}


SYSTEM = f"You may call these functions: {json.dumps([TOOL | {'name': 'Get Weather'}])}\nDo."
XLAM_TOOL = {"name": "get_weather", "description": "", "parameters": {
    "city": {"type": "str", "description": "Where."},
    "days": {"type": "int, optional", "description": "How long.", "default": 1}}}  # fmt: skip
GLAIVE = (
    f"USER: {ASK}\n\n\nASSISTANT: <functioncall> "
    '{"name": "get_weather", "arguments": \'{"city": "Oslo", "days": 2}\'} <|endoftext|>\n\n\n'
    f"FUNCTION RESPONSE: {RESULT}\n\n\nASSISTANT: {ANSWER} <|endoftext|>"
)
HERMES_SYSTEM = (
    "You call functions; their signatures are within <tools></tools> tags: "
    f"<tools> {json.dumps(OPENAI_TOOL)} </tools> For each call write <tool_call></tool_call>."
)
TOOLCALL = f"<TOOLCALL>{json.dumps([CALL])}</TOOLCALL>"

SHAPES: dict[str, list[dict[str, Any]]] = {
    "openai": [
        openai(),
        openai(tools=json.dumps([OPENAI_TOOL])),
        openai(tools=[json.dumps(TOOL)]),
        {"messages": [{"role": "user", "content": ASK}, {"role": "assistant", "content": TOOLCALL}],
         "tools": [json.dumps(TOOL)]},
        openai(messages=json.dumps(openai()["messages"])),
        {"tools": [OPENAI_TOOL], "system": "Be kind.", "messages": [
            {"role": "user", "content": [{"type": "text", "text": ASK}]},
            {"role": "assistant", "content": "", "function_call": TEXT},
            {"role": "function", "name": "get_weather", "content": RESULT}]},
    ],
    "sharegpt": [
        sharegpt(),
        sharegpt(system="Be kind."),
        sharegpt(tools=None, system=HERMES_SYSTEM),
    ],
    "llama-factory": [
        sharegpt(("human", ASK), ("function_call", json.dumps(CALL)), ("observation", RESULT),
                 ("gpt", ANSWER)),
        sharegpt(("human", ASK), ("function_call", json.dumps([CALL])), ("observation", RESULT),
                 ("gpt", ANSWER), tools=json.dumps([TOOL]), system="Be kind."),
        {"tools": json.dumps([TOOL]), "messages": json.dumps([
            {"role": "user", "content": ASK}, {"role": "tool_call", "content": json.dumps(CALL)},
            {"role": "tool_response", "content": RESULT}])},
    ],
    "xlam": [
        {"id": 7, "query": ASK, "answers": json.dumps([CALL]), "tools": json.dumps([XLAM_TOOL])},
    ],
    "toolace": [{"system": SYSTEM, "conversations": [
        {"from": "user", "value": ASK},
        {"from": "assistant", "value": '[Get Weather(city="Oslo", days=2)]'},
        {"from": "tool", "value": RESULT},
        {"from": "assistant", "value": ANSWER}]}],
    "glaive": [{"system": f"SYSTEM: You may use: \n{json.dumps(TOOL, indent=2)}", "chat": GLAIVE}],
    "when2call": [
        {"messages": [{"role": "user", "content": ASK}], "tools": [json.dumps(TOOL)],
         "chosen_response": {"role": "assistant", "content": TOOLCALL},
         "rejected_response": {"role": "assistant", "content": "No."}},
        {"question": ASK, "correct_answer": "tool_call", "tools": [json.dumps(TOOL)],
         "answers": {"tool_call": TOOLCALL, "direct": "No."}},
    ],
    "trl": [
        {"prompt": [{"role": "user", "content": ASK}], "tools": json.dumps([OPENAI_TOOL]),
         "completion": [{"role": "assistant", "content": HERMES}]},
        {"prompt": ASK, "completion": HERMES, "tools": [OPENAI_TOOL]},
        {"chosen": [{"role": "user", "content": ASK}, {"role": "assistant", "content": HERMES}],
         "rejected": [{"role": "user", "content": ASK}, {"role": "assistant", "content": "No."}],
         "tools": [OPENAI_TOOL]},
    ],
    "openai-preference": [
        {"input": {"messages": [{"role": "user", "content": ASK}], "tools": [OPENAI_TOOL]},
         "preferred_output": [openai()["messages"][1]],
         "non_preferred_output": [{"role": "assistant", "content": "No."}]},
    ],
    "transcript": [
        {"tools": [{"name": "get_weather", "input_schema": PARAMETERS}], "messages": [
            {"role": "user", "content": ASK},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "get_weather", "input": ARGUMENTS}]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": RESULT}]}]},
    ],
}  # fmt: skip
"""Rows of each shape, all with the same question and the same call."""

PROMPT = [{"role": "user", "content": ASK}]
BFCL_TOOL = {**TOOL, "parameters": {**PARAMETERS, "type": "dict"}}
GOLDS: dict[str, dict[str, Any]] = {
    "gold": {"prompt": PROMPT, "gold": json.dumps([CALL]), "tools": json.dumps([OPENAI_TOOL])},
    "verl": {"data_source": "weather", "prompt": PROMPT, "ability": "tools",
             "reward_model": {"style": "rule", "ground_truth": json.dumps([CALL])},
             "extra_info": {"tools": json.dumps([OPENAI_TOOL])}},
    "bfcl": {"id": "simple_1", "question": [PROMPT], "function": [BFCL_TOOL],
             "ground_truth": [{"get_weather": {"city": ["Oslo", "oslo"], "days": [2, ""]}}]},
}  # fmt: skip
"""Rows with the same question, and with the same call as their gold."""
