"""Results of evaluations: rows that contain a conversation each, and what is known of its run.

OpenHands has events, or pairs of an action and its observation. In promptfoo a prompt is text or
the JSON of messages, and an output what an API gave, or text with a line of JSON for each call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.conversations import Conversation, Notice

from .fields import fields_of, first, get, has, json_words, listed, merged, usage_of, word
from .logs import claims_openhands, is_of_host
from .reading import ended, within
from .traces import AnyRead as Read

_ERROR, _CALLS, _ARGUMENTS = 2, ("tool_use", "function_call"), ("input", "arguments")
_OF_THE_HOST = frozenset({"infrastructure_error", "unexpected_error", "user_error"})
_OF_THE_AGENT = ("maximum iteration", "stuck in a loop", "stuckinloop", "budget")
"""Ends of simulations that say nothing of the agent, and words of OpenHands about others."""


def is_tau(thing: object) -> bool:
    """Whether it is a row of tau-bench, or a simulation of tau2-bench, or a file of these."""
    runs = listed(get(thing, "simulations")) or [thing]
    fields = (("traj", "task_id"), ("messages", "termination_reason"))
    return any(all(has(run, key) for key in keys) for run in runs for keys in fields)


def read_tau(thing: object, read: Read) -> Iterator[Conversation]:
    for index, run in enumerate(listed(get(thing, "simulations")) or [thing]):
        why = word(get(run, "termination_reason"))
        error = word(get(get(run, "info"), "error")) or why * (why in _OF_THE_HOST)
        name = f"task {get(run, 'task_id')}, trial {get(run, 'trial')}"
        shape, key = ("tau-bench", "traj") if has(run, "traj") else ("tau2", "messages")
        given = ended(within(read([*_acted(listed(get(run, key)))]), f"/{key}"), error)
        given = given if run is thing else within(given, f"/simulations/{index}")
        yield replace(given, shape=shape, name=name)


_ACTION, _OUTPUT, _RESPOND = "Action:", "API output: ", "respond"


def _acted(messages: list[JsonValue]) -> Iterator[JsonValue]:
    """Yield messages in which the actions of tau-bench's text agents are calls with results."""
    waiting: str | None = None
    for index, message in enumerate(messages):
        text, role = word(get(message, "content")), get(message, "role")
        thought, mark, action = text.rpartition(_ACTION)
        made = fields_of(action.strip()) if role == "assistant" and mark else None
        name, arguments = get(made, "name"), get(made, "arguments")
        if role == "user" and waiting is not None and text.startswith(_OUTPUT):
            yield {"role": "tool", "tool_call_id": waiting, "content": text[len(_OUTPUT) :]}
            waiting = None
        elif not isinstance(name, str) or get(message, "tool_calls"):
            yield message
        elif name == _RESPOND:
            waiting = None
            yield {**merged(message), "content": get(arguments, "content")}
        else:
            waiting = f"{index}"
            call = {"id": waiting, "function": {"name": name, "arguments": arguments}}
            yield {**merged(message), "content": thought.strip(), "tool_calls": [call]}


def is_mini_run(thing: object) -> bool:
    return word(get(thing, "trajectory_format")).startswith("mini-swe-agent")


def read_mini_run(run: object, given: Conversation) -> tuple[Conversation]:
    info, status = get(run, "info"), word(get(get(run, "info"), "exit_status"))
    is_failure = given.failure is None and (has(info, "traceback") or is_of_host(status))
    return (ended(given, status * is_failure),)


def _events(row: object) -> Iterator[tuple[str, JsonObject]]:
    """Yield the events with their paths. The oldest ones do not say from whom they are."""
    for index, item in enumerate(listed(get(row, "history"))):
        is_pair, source = isinstance(item, list | tuple), "agent" if index else "user"
        for event in item if is_pair else [item]:
            ids = {"id": None, "cause": None} if is_pair else {}
            yield f"/history/{index}", {"source": source, **merged(event), **ids}


def is_openhands(row: object) -> bool:
    is_row = has(row, "history") and has(row, "test_result")
    return is_row or any(claims_openhands(event) for _, event in _events(row))


def read_openhands_row(row: object, read: Read) -> Iterator[Conversation]:
    found, spent, error = [*_events(row)], get(row, "metrics"), word(get(row, "error"))
    given = read([event for _, event in found], places=[path for path, _ in found])
    if any(words in error.lower() for words in _OF_THE_AGENT):
        stopped = Notice("failed-run", f"the agent was stopped: {error[:200]}", None, "/error")
        given, error = replace(given, warnings=(*given.warnings, stopped)), ""
    cost = {"cost": get(spent, "accumulated_cost")}
    yield replace(
        ended(given, error, "/error"),
        query=word(get(row, "instruction")) or given.query,
        name=word(get(row, "instance_id")),
        usage=usage_of({**merged(get(spent, "accumulated_token_usage")), **cost}),
    )


def _rows(thing: object) -> list[tuple[str, object]]:
    """Return the rows in a file of promptfoo, with paths: most have them two levels deep."""
    held = get(thing, "results")
    path, rows = ("/results", listed(held)) if listed(held) else ("/results/results", [])
    rows = rows or listed(get(held, "results"))
    return [(f"{path}/{index}", row) for index, row in enumerate(rows)] or [("", thing)]


def is_promptfoo(thing: object) -> bool:
    return any(has(row, "prompt") and has(row, "testIdx") for _, row in _rows(thing))


def read_rows(thing: object, read: Read) -> Iterator[Conversation]:
    for path, row in _rows(thing):
        response, error = get(row, "response"), word(get(row, "error"))
        output, more = get(response, "output"), get(response, "metadata")
        conversation = listed(get(more, "messages"))
        messages = _prompt(get(row, "prompt"), "system" if conversation else "user") + conversation
        for one in [] if conversation else listed(get(more, "toolCalls")):  # which the provider ran
            made = {**merged(one), "arguments": get(one, "input")}
            seen = {"tool_call_id": get(one, "id"), "content": get(one, "output")}
            messages.append({"role": "assistant", "tool_calls": [made]})
            messages.append({"role": "tool", **seen, "is_error": get(one, "is_error")})
        if output is not None:
            messages += [] if conversation else [_reply(output)]
            spent = first(response, ("tokenUsage",)) or get(row, "tokenUsage")
            usage = {"input": get(spent, "prompt"), "output": get(spent, "completion")}
            cost = first(response, ("cost",)) or get(row, "cost")
            messages[-1] = {**merged(messages[-1]), "usage": {**usage, "cost": cost}}
        error = word(get(response, "error")) or error * (get(row, "failureReason") == _ERROR)
        name = f"test {get(row, 'testIdx')}, prompt {get(row, 'promptIdx')}"
        given = ended(read(messages, places=[path] * len(messages)), error, path)
        yield replace(given, shape="promptfoo", name=name)


def _prompt(prompt: object, role: str) -> list[JsonValue]:
    """Return the messages of a prompt, which are one of this role if it is text."""
    text = word(prompt) or word(get(prompt, "raw"))
    messages = listed(fields_of(text))
    is_chat = messages and all(isinstance(get(one, "role"), str) for one in messages)
    return messages if is_chat else [{"role": role, "content": text}] * bool(text)


def _reply(output: JsonValue) -> JsonValue:
    """Return the message that an output is."""
    items, calls, content = listed(output) or [output], [], output
    if isinstance(output, str):
        lines = [(fields_of(line), line) for line in output.split("\n")]
        calls = [{**one, "id": first(one, ("call_id", "id")), "arguments": first(one, _ARGUMENTS)}
                 for one, _ in lines if get(one, "type") in _CALLS]  # fmt: skip
        left = (line for one, line in lines if get(one, "type") not in _CALLS)
        content = "\n".join(left) if calls else output
    elif get(output, "role") is not None:
        return output
    elif any(has(one, "function") or has(one, "arguments") for one in items):
        calls, content = items, None
    elif any(has(one, "functionCall") for one in items):
        calls = [get(one, "functionCall") for one in items if has(one, "functionCall")]
        content = "".join(word(get(one, "text")) for one in items)
    elif not all(isinstance(get(one, "type"), str) for one in items):
        content = json_words(output)
    return {"role": "assistant", "content": content, "tool_calls": calls}
