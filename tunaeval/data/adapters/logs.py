"""Logs of whole runs: trajectories, sessions and samples, as objects and as JSON.

ATIF, the format of Harbor (versions 1.0 to 1.8): a step is a message of the user, the system or the
agent; an agent's step contains its calls and their results. The format is specified in Harbor's RFC
0001, "Agent Trajectory Interchange Format".

Sessions of Claude Code, as stored in JSON lines and as printed by `stream-json`: a line contains
one message of Anthropic's API, or part of one: each block of a reply has its own line, and all
share the reply's id. Other lines are about the session. The messages of a sub-agent are another
conversation, which is reported and left out.

Inspect's logs: long texts of a sample may be among its attachments; they are put back in place.

tau2-bench: like chat completions, except that results have the call's id in `id`, and that the
simulated user makes calls too, which are not the agent's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tunaeval.types.calls import JsonValue
from tunaeval.types.conversations import Conversation, Notice

from .fields import (
    KNOWN,
    declared,
    first,
    get,
    identifier,
    instant,
    json_words,
    listed,
    merged,
    total_usage,
    usage_of,
    word,
)
from .providers import ANTHROPIC_CACHED, ANTHROPIC_KINDS, CHAT_KINDS
from .reading import Reading, invalid_call, kinds_of, read_content, result_words, words_of

_ROLES = {"agent": "assistant", "user": "user", "system": "system"}


def is_trajectory(thing: object) -> bool:
    """Whether this is a whole trajectory, by its schema version."""
    return word(get(thing, "schema_version")).startswith("ATIF")


def claims_atif(step: object) -> bool:
    return get(step, "step_id") is not None and get(step, "source") in _ROLES


def read_atif(step: object, reading: Reading) -> None:
    source, metrics = word(get(step, "source")), get(step, "metrics")
    has_metrics = first(metrics, ("prompt_tokens", "cost_usd")) is not None
    reading.begin(
        _ROLES.get(source, source),
        # The prompt's tokens include the cached ones.
        usage=usage_of(metrics) if has_metrics else None,
        at=instant(get(step, "timestamp")),
    )
    if source not in _ROLES:
        reading.notice("unknown-role", f"the source {source[:40]!r} is not known")
    reading.thought(word(get(step, "reasoning_content")))
    read_content(get(step, "message"), CHAT_KINDS, reading)
    calls = listed(get(step, "tool_calls"))
    for call in calls:
        name, call_id = get(call, "function_name"), get(call, "tool_call_id")
        unread = get(get(call, "extra"), "unread_arguments")
        reading.call(name, get(call, "arguments") if unread is None else unread, call_id)
    for result in listed(get(get(step, "observation"), "results")):
        _read_atif_result(result, is_of_call=bool(calls), reading=reading)


def _read_atif_result(result: object, *, is_of_call: bool, reading: Reading) -> None:
    """Read a result; one without a call's id is a system message, unless the step has calls."""
    answered = identifier(get(result, "source_call_id"))
    text = result_words(get(result, "content"), CHAT_KINDS)
    if get(result, "subagent_trajectory_ref") is not None:
        reading.notice("side-conversation", "what a sub-agent did is in a trajectory of its own")
    if answered is None and not is_of_call:
        reading.text(text, "system")
        return
    failed = declared(get(result, "extra"))
    reading.result(answered, text, declared(result) if failed is None else failed)


_SILENT = KNOWN["claude-code"]["silent"]


def claims_claude_code(line: object) -> bool:
    """Whether `line` is from a session: a message, or a line about the session itself."""
    kind = word(get(line, "type"))
    if kind in {"user", "assistant"}:
        return isinstance(get(get(line, "message"), "role"), str)
    is_line = isinstance(line, Mapping) and any(
        key in line for key in KNOWN["claude-code"]["session"]
    )
    return is_line and (kind in _SILENT or kind in {"system", "result"})


def read_claude_code(line: object, reading: Reading) -> None:
    kind = word(get(line, "type"))
    if kind in {"user", "assistant"}:
        _read_message(line, reading)
    elif kind == "system":
        _read_system(line, reading)
    elif kind == "result" and get(line, "is_error") is True:
        _read_end(line, reading)
    elif kind != "result" and kind not in _SILENT:
        reading.notice("unknown-part", f"a line of type {kind[:40]!r} is left out")


def _read_end(line: object, reading: Reading) -> None:
    """Read a result with an error: the host's own, or (such as too many turns) the agent's."""
    why = word(get(line, "subtype")) or "an error"
    is_api = get(line, "api_error_status") is not None
    if is_api or why in {"success", "error_during_execution"}:
        reading.failed(word(get(line, "result")) or why)
    else:
        reading.notice("failed-run", f"the session ended in an error: {why[:80]}")


def _read_message(line: object, reading: Reading) -> None:
    message = get(line, "message")
    if get(line, "isSidechain") is True or get(line, "parent_tool_use_id") is not None:
        reading.notice("side-conversation", "a message of a sub-agent is left out")
        return
    if get(line, "isApiErrorMessage") is True or get(line, "error"):
        # The agent has written this in place of a reply.
        reading.begin("system", at=instant(get(line, "timestamp")))
        read_content(get(message, "content"), ANTHROPIC_KINDS, reading)
        words = words_of(get(message, "content"), ANTHROPIC_KINDS)
        reading.failed(words or word(get(line, "error")))
        return
    reply = get(message, "id")
    if isinstance(reply, str) and reading.reply == reply:
        if reading.is_reply:  # the message's source is the line of its first call
            reading.proceed()
        read_content(get(message, "content"), ANTHROPIC_KINDS, reading)
        return
    hosts = get(line, "isMeta") is True or get(line, "isCompactSummary") is True
    role = "system" if hosts else get(message, "role")
    usage = usage_of(get(message, "usage"), cached=ANTHROPIC_CACHED)
    reading.begin(role, usage=usage, at=instant(get(line, "timestamp")))
    if get(line, "isCompactSummary") is True:
        reading.notice("compacted", "earlier messages were replaced by a summary")
    read_content(get(message, "content"), ANTHROPIC_KINDS, reading)
    reading.reply = reply if isinstance(reply, str) else None


def _read_system(line: object, reading: Reading) -> None:
    if get(line, "subtype") == "compact_boundary":
        reading.notice("compacted", "earlier messages were replaced by a summary")
    content = get(line, "content")
    if isinstance(content, str) and content:
        reading.begin("system", at=instant(get(line, "timestamp")))
        reading.text(content)


_CACHED = ("input_tokens_cache_read", "input_tokens_cache_write")
_ATTACHMENT = "attachment://"
_INSPECT_KINDS = kinds_of("inspect-ai")
_SERVED = "tool_use"
_LONGEST_FAILURE = 300


def claims_inspect(message: object) -> bool:
    calls = listed(get(message, "tool_calls"))
    if get(message, "role") == "tool" and isinstance(get(message, "function"), str):
        return True
    return get(message, "source") in ("input", "generate", "operator") or any(
        isinstance(get(call, "function"), str) for call in calls
    )


def read_inspect(message: object, reading: Reading, attachments: object = None) -> None:
    role = get(message, "role")
    error = get(message, "error")
    reading.begin(
        role,
        # In a user's message this may be a list of the calls whose payload it has: that is no id.
        tool_call_id=identifier(get(message, "tool_call_id")),
        is_error=error is not None if role == "tool" else None,
    )
    content = _restored(get(message, "content"), attachments, reading)
    if not content and error is not None:
        content = get(error, "message")
    for part in content if isinstance(content, list | tuple) else [content]:
        if get(part, "type") == _SERVED:
            _read_served(part, reading)
        else:
            read_content([part], _INSPECT_KINDS, reading)
    for call in listed(get(message, "tool_calls")):
        _read_call(call, reading)


def is_sample(thing: object) -> bool:
    return get(thing, "epoch") is not None and isinstance(get(thing, "messages"), list | tuple)


def read_sample(sample: object) -> Conversation:
    """Read a sample of a log as one conversation, named by the sample's id and epoch."""
    messages = listed(get(sample, "messages"))
    reading = Reading()
    for reading.source, message in enumerate(messages):
        read_inspect(message, reading, get(sample, "attachments"))
    given = reading.conversation("inspect-ai", len(messages))
    asked = get(sample, "input")
    spent = get(sample, "model_usage")
    usages = spent.values() if isinstance(spent, Mapping) else ()
    failure = _failure(get(sample, "error"))
    if failure is not None:
        notice = Notice("failed-run", f"the sample ended in an error: {failure}")
        given = replace(given, warnings=(*given.warnings, notice), failure=failure)
    return replace(
        given,
        query=asked if isinstance(asked, str) and asked else given.query,
        usage=total_usage(usage_of(one, cached=_CACHED) for one in usages),
        name=f"{get(sample, 'id')} (epoch {get(sample, 'epoch')})",
    )


def _failure(error: object) -> str | None:
    """Return the message of the error that ended a sample, without its traceback."""
    if error is None:
        return None
    words = error if isinstance(error, str) else get(error, "message")
    return words[:_LONGEST_FAILURE] if isinstance(words, str) and words else "an unknown error"


def _read_call(call: object, reading: Reading) -> None:
    name, call_id = word(get(call, "function")), identifier(get(call, "id"))
    arguments, why = get(call, "arguments"), get(call, "parse_error")
    if why:
        reading.made(invalid_call(name, arguments, call_id, why))
    else:
        reading.call(name, arguments, call_id)


def _read_served(part: object, reading: Reading) -> None:
    """Read a part that is a call and its result, for a tool that the model's server ran."""
    call_id = identifier(get(part, "id"))
    reading.call(first(part, ("name", "tool_type")), _served_arguments(part), call_id)
    result = first(part, ("error", "result"))
    reading.result(call_id, word(result), get(part, "error") is not None)


def _served_arguments(part: object) -> JsonValue:
    """Return the arguments, which some of these tools have as JSON and others as plain text."""
    arguments = get(part, "arguments")
    is_object = isinstance(arguments, str) and arguments.lstrip().startswith("{")
    return arguments if is_object or not arguments else {"arguments": arguments}


def _restored(content: JsonValue, attachments: object, reading: Reading) -> JsonValue:
    """Return the content with its attachments in place."""
    if isinstance(content, list | tuple):
        return [_restored_part(part, attachments, reading) for part in content]
    if not isinstance(content, str) or not content.startswith(_ATTACHMENT):
        return content
    kept = get(attachments, content.removeprefix(_ATTACHMENT))
    if isinstance(kept, str):
        return kept
    reading.notice("missing-attachment", f"{content[:80]!r} is not among the attachments")
    return content


def _restored_part(part: JsonValue, attachments: object, reading: Reading) -> JsonValue:
    text = get(part, "text")
    if not isinstance(text, str) or not text.startswith(_ATTACHMENT):
        return part
    return {"type": "text", "text": _restored(text, attachments, reading)}


_USER = "user"


def claims_tau2(message: object) -> bool:
    """Whether it is tau2's: its results and calls have a field with their requestor."""
    calls = [message, *listed(get(message, "tool_calls")), *listed(get(message, "tool_messages"))]
    return any(word(get(one, "requestor")) in {_USER, "assistant"} for one in calls)


def read_tau2(message: object, reading: Reading) -> None:
    role = word(get(message, "role"))
    several = listed(get(message, "tool_messages"))
    if role == "tool":
        reading.begin(role, at=instant(get(message, "timestamp")))
        for one in several or [message]:
            _read_tau2_result(one, reading)
        return
    usage = usage_of({**merged(get(message, "usage")), "cost": get(message, "cost")})
    reading.begin(role, usage=usage, at=instant(get(message, "timestamp")))
    reading.text(word(get(message, "content")))
    for call in listed(get(message, "tool_calls")):
        if role == _USER or get(call, "requestor") == _USER:
            words = f"{word(get(call, 'name'))} {json_words(get(call, 'arguments'))}"
            reading.text(f"[{words}]")
            reading.notice("call-of-user", f"the user calls {words[:80]}, which is no agent's call")
        else:
            reading.call(get(call, "name"), get(call, "arguments"), get(call, "id"))


def _read_tau2_result(message: object, reading: Reading) -> None:
    content, failed = get(message, "content"), get(message, "error")
    text = content if isinstance(content, str) else "" if content is None else json_words(content)
    if get(message, "requestor") == _USER:
        reading.text(text, _USER)
        return
    is_error = failed if isinstance(failed, bool) else None
    reading.result(identifier(get(message, "id")), text, is_error)
