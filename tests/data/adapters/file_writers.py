"""How coding agents leave their sessions on disk, and evaluations and tracing their results."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tests.data.adapters.agent_writers import openhands, openhands_0
from tests.data.adapters.further_writers import tau2
from tests.data.adapters.steps import Answered, Asked, Called, Messages, Step
from tests.data.adapters.writers import openai_chat

SECONDS = 1_795_692_265.0


def pi(steps: Sequence[Step]) -> Messages:
    """Lines of a session: a header, and entries that each name the one before."""
    entries: Messages = [{"type": "model_change", "provider": "p", "modelId": "m"}]
    for step in steps:
        match step:
            case Asked(text):
                entries.append(_entry(role="user", content=[{"type": "text", "text": text}]))
            case Called(text, calls):
                parts: Messages = [{"type": "text", "text": text}]
                parts += [{"type": "toolCall", "id": i, "name": name, "arguments": arguments}
                          for name, arguments, i in calls]  # fmt: skip
                usage = {"input": 7, "output": 5, "cacheRead": 90, "cacheWrite": 3,
                         "totalTokens": 105, "cost": {"input": 0.1, "total": 0.25}}  # fmt: skip
                entries.append(_entry(role="assistant", content=parts, usage=usage, model="m",
                                      stopReason="toolUse", provider="p", api="a"))  # fmt: skip
            case Answered(results):
                entries += [
                    _entry(role="toolResult", toolCallId=i, toolName="x", isError=failed,
                           content=[{"type": "text", "text": text}])
                    for i, text, failed in results
                ]  # fmt: skip
    for number, entry in enumerate(entries):
        entry |= {"id": f"e{number}", "parentId": f"e{number - 1}" if number else None,
                  "timestamp": "2026-11-26T11:24:25.000Z"}  # fmt: skip
    head = {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-26", "cwd": "/w"}
    return [head, *entries]


def _entry(**message: Any) -> dict[str, Any]:
    return {"type": "message", "message": {**message, "timestamp": SECONDS * 1000}}


def chat(steps: Sequence[Step], **extra: Any) -> Messages:
    """Messages of chat completions, as most programs keep them."""
    messages = openai_chat(steps)
    for message in messages:
        if message.pop("is_error", None) is not None:
            message["name"] = "x"
        elif "tool_calls" in message:
            message.update(extra)
    return messages


def mini_swe_agent(steps: Sequence[Step]) -> Messages:
    """A run of version 2: what the program knows of a message is in `extra`."""
    failed = {i: bad for step in steps if isinstance(step, Answered) for i, _, bad in step.results}
    response = {"usage": {"prompt_tokens": 100, "completion_tokens": 5}}
    messages = chat(steps, extra={"actions": [], "response": response, "cost": 0.25})
    for message in messages:
        if message["role"] == "tool":
            code = int(failed[message["tool_call_id"]])
            message["extra"] = {"returncode": code, "timestamp": SECONDS, "raw_output": "?"}
    ended = {"role": "exit", "content": "", "extra": {"exit_status": "LimitsExceeded"}}
    return [{"info": {"mini_version": "2.4.6"}, "messages": [*messages, ended],
             "trajectory_format": "mini-swe-agent-1.1"}]  # fmt: skip


def swe_agent(steps: Sequence[Step]) -> Messages:
    history = chat(steps, action="?", thought="?", message_type="action")
    for message in history:
        if message["role"] == "tool":
            message |= {"tool_call_ids": [message.pop("tool_call_id")], "agent": "main"}
    run = {"environment": "e", "trajectory": [], "history": history}
    return [{**run, "info": {"model_stats": {"tokens_sent": 100, "tokens_received": 5}}}]


def openhands_rows(steps: Sequence[Step]) -> Messages:
    """Rows of output.jsonl."""
    metrics = {"accumulated_cost": 0.25, "accumulated_token_usage": {"prompt_tokens": 100}}
    row = {"instance_id": "i", "test_result": {}, "metrics": metrics, "error": None}
    return [{**row, "history": openhands(steps)}]


def openhands_pairs(steps: Sequence[Step]) -> Messages:
    """The same, before October 2024: an action with its observation, or with an empty one."""
    nothing = {"observation": "null", "content": "", "extras": {}}
    pairs: list[Any] = []
    for event in openhands_0(steps):
        if "action" in event:
            pairs.append([event, {**nothing, "tool_call_metadata": None}])
        else:
            known = event["tool_call_metadata"]["tool_call_id"]
            made = (
                pair
                for pair in pairs
                if pair[0].get("tool_call_metadata", {}).get("tool_call_id") == known
            )
            next(made)[1] = event
    return [{"instance_id": "i", "test_result": {}, "history": pairs}]


def tau_bench(steps: Sequence[Step]) -> Messages:
    return [{"task_id": 3, "reward": 1.0, "info": {"source": "user"}, "traj": chat(steps),
             "trial": 0}]  # fmt: skip


def tau2_file(steps: Sequence[Step]) -> Messages:
    run = {"id": "r", "task_id": "3", "trial": 0, "termination_reason": "user_stop"}
    return [{"info": {}, "tasks": [], "simulations": [{**run, "messages": tau2(steps)}]}]


def promptfoo(steps: Sequence[Step]) -> Messages:
    """A file with one row, whose response is the last reply of the model."""
    *before, reply = chat([*steps, Called("Done.", ())])
    said = {"output": reply["content"], "tokenUsage": {"prompt": 100, "completion": 5}}
    row = {"promptIdx": 0, "testIdx": 0, "prompt": {"raw": json.dumps(before)}, "vars": {},
           "response": said, "success": True, "failureReason": 0}  # fmt: skip
    return [{"evalId": "e", "results": {"version": 3, "results": [row]}, "config": {}}]


def langsmith(steps: Sequence[Step]) -> Messages:
    """Runs in lines, as the SDK's `traceable` posts them: the end of a run has no inputs."""
    lines: Messages = []
    for run in langsmith_nested(steps)[0]["child_runs"]:
        begin = {key: one for key, one in run.items() if key not in {"outputs", "error"}}
        end = {key: one for key, one in run.items() if key != "inputs"}
        lines += [{**begin, "outputs": {}}, end]
    return lines


def langsmith_nested(steps: Sequence[Step]) -> Messages:
    """A run with the runs below it, of a function that asks OpenAI's API."""
    return _runs(steps, lambda step: chat([step]), _openai)


def _openai(messages: Messages) -> dict[str, Any]:
    return {"choices": [{"index": 0, "message": messages[0]}], "usage_metadata": {
        "input_tokens": 100, "output_tokens": 5}}  # fmt: skip


def langsmith_langchain(steps: Sequence[Step]) -> Messages:
    """The same, of LangChain's tracer, which serializes its messages."""
    return _runs(steps, _serialized, _generation)


def _serialized(step: Step) -> Messages:
    match step:
        case Asked(text):
            return [_constructor("HumanMessage", content=text, type="human")]
        case Called(text, calls):
            made = [{"name": name, "args": arguments, "id": i, "type": "tool_call"}
                    for name, arguments, i in calls]  # fmt: skip
            usage = {"input_tokens": 100, "output_tokens": 5}
            return [_constructor("AIMessage", content=text, type="ai", tool_calls=made,
                                 usage_metadata=usage, invalid_tool_calls=[])]  # fmt: skip
        case Answered(results):
            return [
                _constructor("ToolMessage", content=text, type="tool", tool_call_id=i,
                             status="error" if failed else "success")
                for i, text, failed in results
            ]  # fmt: skip


def _constructor(name: str, **kwargs: Any) -> dict[str, Any]:
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs}


def _generation(messages: Messages) -> dict[str, Any]:
    one = {"text": "?", "type": "ChatGeneration", "message": messages[0]}
    return {"generations": [[one]], "llm_output": None, "type": "LLMResult"}


def _runs(
    steps: Sequence[Step],
    written: Callable[[Step], Messages],
    outputs: Callable[[Messages], dict[str, Any]],
) -> Messages:
    runs: Messages = []
    so_far: Messages = []

    def add(kind: str, inputs: Any, result: Any, error: str | None = None) -> None:
        number = len(runs)
        at = f"2026-01-01T00:{number // 60 % 60:02}:{number % 60:02}"
        runs.append({"id": f"r{number}", "trace_id": "root", "parent_run_id": "root", "name": "x",
                     "run_type": kind, "start_time": at, "inputs": inputs, "outputs": result,
                     "error": error, "child_runs": []})  # fmt: skip

    for step in [*steps, Called("", ())]:
        new = written(step)
        if isinstance(step, Called):
            add("llm", {"messages": [list(so_far)]}, outputs(new))
        if isinstance(step, Answered):
            for i, text, failed in step.results:
                seen = {"type": "tool", "tool_call_id": i, "content": text}
                add("tool", {"path": "a"}, {"output": seen}, "no file" if failed else None)
        so_far += new
    root = {"id": "root", "trace_id": "root", "name": "agent", "run_type": "chain",
            "start_time": "2026-01-01T00:00:00", "inputs": {"q": "?"}}  # fmt: skip
    return [{**root, "outputs": {"messages": so_far}, "child_runs": runs}]


FILE_WRITERS: dict[str, Callable[[Sequence[Step]], Messages]] = {
    "pi": pi,
    "mini-swe-agent": mini_swe_agent,
    "swe-agent": swe_agent,
    "openhands rows": openhands_rows,
    "openhands pairs": openhands_pairs,
    "tau-bench": tau_bench,
    "tau2 file": tau2_file,
    "promptfoo": promptfoo,
    "langsmith": langsmith,
    "langsmith nested": langsmith_nested,
    "langsmith langchain": langsmith_langchain,
}
UNMARKED = frozenset({"swe-agent", "tau-bench", "promptfoo"})
"""Files that do not say whether a result is an error."""
SPENT = frozenset({"pi", "mini-swe-agent", "langsmith", "langsmith nested", "langsmith langchain"})
"""Files with the usage of each reply."""
