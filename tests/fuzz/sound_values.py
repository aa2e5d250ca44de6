"""Something sound for each kind of value that the public entrances are given."""

from __future__ import annotations

CALL = {"name": "read_file", "arguments": {"filepath": "a.py", "n": 3, "more": {"a": [1, 2]}}}
TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Reads a file.",
        "parameters": {
            "type": "object",
            "properties": {
                "filepath": {"type": "string", "format": "path", "enum": ["a.py", "b.py"]},
                "n": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": 3},
                "more": {
                    "type": "object",
                    "properties": {"a": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
                },
            },
            "required": ["filepath"],
            "additionalProperties": False,
            "$defs": {"n": {"type": "number"}},
        },
    },
}
TEXT = '<tool_call>{"name": "read_file", "arguments": {"filepath": "a.py", "n": "3"}}</tool_call>'
EXPECT = {
    "calls": [
        {
            "name": "read_file",
            "arguments": {"filepath": {"$any_of": ["a.py", "b.py"]}, "n": {"$approx": 3}},
        }
    ],
    "match": "in_order",
    "forbid": ["write_file"],
}
MESSAGES = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": [{"type": "text", "text": "Read a.py."}]},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "read_file", "arguments": '{"filepath": "a.py"}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": '{"ok": false, "error": "no file"}'},
    {"role": "assistant", "content": "There is none.", "reasoning_content": "Hm."},
]
RESPONSE = {
    "id": "r",
    "model": "m",
    "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": MESSAGES[2]}],
}
ROWS = [
    {"messages": MESSAGES, "tools": [TOOL]},
    {
        "conversations": [{"from": "human", "value": "Read."}, {"from": "gpt", "value": TEXT}],
        "system": "<tools>[]</tools>",
    },
    {"query": "Read.", "answers": '[{"name": "f", "arguments": {}}]', "tools": '[{"name": "f"}]'},
    {
        "prompt": [{"role": "user", "content": "Read."}],
        "completion": [{"role": "assistant", "content": TEXT}],
    },
    {"chat": "USER: a\n\nASSISTANT: b <|endoftext|>", "system": "SYSTEM: c"},
    {"messages": MESSAGES[:2], "chosen_response": {"role": "assistant", "content": "No."}},
]
SUITE = {
    "name": "s",
    "tools": [TOOL, {"name": "write_file"}, {"name": "bash"}],
    "scenarios": [
        {
            "id": "a",
            "prompt": "Read a.py.",
            "expected_tool": "read_file",
            "expected_args": {"filepath": "a.py"},
            "tags": ["t"],
            "weight": 2.0,
        },
        {"id": "b", "prompt": "Go.", "expect": EXPECT},
        {
            "id": "c",
            "prompt": "Repair.",
            "task": {
                "files": {"a.py": ["x"]},
                "commands": [["python", "a.py"]],
                "limits": {"turns": 2},
                "checks": [{"unchanged": "**"}, {"command": ["python", "a.py"], "prints": "1"}],
            },
        },
    ],
}


RUN = {
    "schema_version": 2,
    "run_id": "r",
    "started_at": "2026-01-01T00:00:00+00:00",
    "suite": "s",
    "suite_digest": "d",
    "scenarios": 2,
    "client": "scripted",
    "model": None,
    "format": "auto",
    "level": "standard",
    "profile": "strict",
    "ask": "api",
    "repeats": 1,
    "attempts": 1,
    "max_tokens": 300,
    "temperature": 0.0,
    "seed": None,
    "concurrency": 1,
    "deadline_seconds": 30.0,
    "prompt_digest": "p",
    "versions": {"tunaeval": "1"},
}
LEVELS = {
    level: {"ok": True, "first_attempt_ok": True} for level in ("strict", "standard", "lenient")
}
RESULT = {
    "scenario": "a",
    "repeat": 1,
    "prompt": "p",
    "expected": {"calls": [{"name": "read_file", "arguments": {}}]},
    "got": [CALL],
    "ok": True,
    "first_attempt_ok": True,
    "reason": "as wanted",
    "outcome": "calls",
    "format": "hermes",
    "repairs": [],
    "levels": LEVELS,
    "latency_seconds": 1.0,
    "prompt_tokens": 1,
    "completion_tokens": 2,
    "tags": ["t"],
    "attempts": [
        {
            "message": MESSAGES[2],
            "outcome": "calls",
            "calls": [CALL],
            "diagnoses": [],
            "source": "structured",
        }
    ],
}
KEPT = {
    "run/run.json": RUN,
    "run/results.jsonl": (RESULT, {**RESULT, "scenario": "b", "ok": False}),
}
RECORDING = (
    {"recording": 2, "model": "m", "date": "2026-01-01", "suite_digests": {"s": "d"}, "run": RUN},
    {"scenario": "a", "repeat": 1, "attempt": 1, "message": MESSAGES[2]},
)
