"""Logs of agents and of whole runs: trajectories, sessions and samples, as objects and as JSON.

docs/reference/transcripts.md describes the shapes, and `kinds.toml` has the names in them. What the
code depends on besides:

- ATIF is specified in Harbor's RFC 0001, "Agent Trajectory Interchange Format". An agent's step
  contains its calls and their results.
- Claude Code: each block of a reply has its own line, or is repeated on the next ones, and all
  share the reply's id; the last line has the whole usage. A sub-agent is another conversation,
  which is reported and left out.
- Claude Agent SDK: neither messages nor their blocks have a type, so both are recognized by their
  fields. They become lines of Claude Code, which the SDK made them from.
- Codex: a rollout has items of the Responses API as `payload`s, older ones bare items; the events
  of `codex exec --json` contain a call together with its result.
- Gemini CLI: a later line may replace or remove earlier messages. A message contains its calls with
  their results, which the user's next message repeats.
- mini-swe-agent: what follows a call in the text is its result. A reply with several is refused.
- OpenHands: the calls of one reply are events of their own with the reply's id.
- SWE-agent: what the user says after an action without a structured call is its result. The last
  ones may be in the `trajectory` alone.
- tau2-bench: results have the call's id in `id`.

What a program tells the model in the user's name is a system message.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tunaeval.showing import brief, counted
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.conversations import Conversation
from tunaeval.types.exchange import text_of
from tunaeval.wire import chat, gemini, messages, responses
from tunaeval.wire.parts import result_words, words_of

from .dialects import (
    join_message,
    read_calls,
    read_gemini_parts,
    read_responses,
)
from .fields import (
    KNOWN,
    declared,
    fields_of,
    first,
    get,
    has,
    identifier,
    instant,
    json_words,
    listed,
    merged,
    plain,
    total_usage,
    usage_of,
    word,
)
from .reading import Reading, ended, invalid_call, kinds_of, read_content, within

_ROLES = {"agent": "assistant", "user": "user", "system": "system"}


def is_trajectory(thing: object) -> bool:
    """Whether this is a whole trajectory, by its schema version."""
    return word(get(thing, "schema_version")).startswith("ATIF")


def claims_atif(step: object) -> bool:
    return get(step, "step_id") is not None and word(get(step, "source")) in _ROLES


def read_atif(step: object, reading: Reading) -> None:
    source, metrics = word(get(step, "source")), get(step, "metrics")
    has_metrics = first(metrics, ("prompt_tokens", "cost_usd")) is not None
    is_copied = get(step, "is_copied_context") is True
    if is_copied and not reading.has_replied:
        reading.start = reading.source + 1
    reading.has_replied |= source == "agent" and not is_copied
    reading.begin(
        _ROLES.get(source, get(step, "source")),
        # The prompt's tokens include the cached ones.
        usage=usage_of(metrics) if has_metrics and not is_copied else None,
        at=instant(get(step, "timestamp")),
    )
    reading.thought(word(get(step, "reasoning_content")))
    read_content(get(step, "message"), chat.KINDS, reading)
    calls = listed(get(step, "tool_calls"))
    for reading.part in calls:
        name, call_id = get(reading.part, "function_name"), get(reading.part, "tool_call_id")
        unread = get(get(reading.part, "extra"), "unread_arguments")
        given = get(reading.part, "arguments") if unread is None else unread
        if is_copied:  # another trajectory has the call
            reading.text(f"[{word(name)} {json_words(given)}]")
        else:
            reading.call(name, given, call_id)
    results = listed(get(get(step, "observation"), "results"))
    answers = [reading.identified(get(result, "source_call_id")) for result in results]
    is_shared = bool(calls) and answers.count(None) == 1
    left = [call_id for call_id in reading.calls if call_id not in {*answers}] if is_shared else []
    for result, answered in zip(results, answers, strict=True):
        ids = left if answered is None and left else [answered]
        if is_copied:
            reading.text(result_words(get(result, "content"), chat.KINDS), "system")
        else:
            _read_atif_result(result, ids, is_of_call=bool(calls), reading=reading)


def _read_atif_result(
    result: object, ids: list[str | None], *, is_of_call: bool, reading: Reading
) -> None:
    """Read a result of the calls with these ids; one of no call is a system message, unless the
    step has calls.
    """
    text = result_words(get(result, "content"), chat.KINDS)
    if get(result, "subagent_trajectory_ref") is not None:
        reading.notice("side-conversation", "what a sub-agent did is in a trajectory of its own")
    if ids == [None] and not is_of_call:
        reading.text(text, "system")
        return
    failed = declared(get(result, "extra"))
    reading.share(ids, text, declared(result) if failed is None else failed)


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
        read_content(get(message, "content"), messages.KINDS, reading)
        words = words_of(get(message, "content"), messages.KINDS)
        reading.failed(words or word(get(line, "error")))
        return
    hosts = get(line, "isMeta") is True or get(line, "isCompactSummary") is True
    role, at = "system" if hosts else get(message, "role"), instant(get(line, "timestamp"))
    content = get(message, "content")
    if role == "assistant":
        reply = get(message, "id")
        reading.resume(reply, role, usage=usage_of(get(message, "usage")), at=at)
        parts = [content] if isinstance(content, str) else listed(content)
        content = reading.fresh(reply, parts) if parts else content
    else:
        reading.begin(role, at=at)
    if get(line, "isCompactSummary") is True:
        reading.notice("compacted", "earlier messages were replaced by a summary")
    read_content(content, messages.KINDS, reading)


def _read_system(line: object, reading: Reading) -> None:
    if get(line, "subtype") == "compact_boundary":
        reading.notice("compacted", "earlier messages were replaced by a summary")
    content = get(line, "content")
    if isinstance(content, str) and content:
        reading.begin("system", at=instant(get(line, "timestamp")))
        reading.text(content)


_ATTACHMENT = "attachment://"
_INSPECT_KINDS = kinds_of("inspect-ai")
_SERVED = "tool_use"


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
    for part in [content] if isinstance(content, str) else listed(content):
        if get(part, "type") == _SERVED:
            _read_served(part, reading)
        else:
            read_content([part], _INSPECT_KINDS, reading)
    for call in listed(get(message, "tool_calls")):
        _read_call(call, reading)


def is_sample(thing: object) -> bool:
    return get(thing, "epoch") is not None and isinstance(get(thing, "messages"), list | tuple)


def is_log(thing: object) -> bool:
    samples = listed(get(thing, "samples"))
    return bool(samples) and all(map(is_sample, samples))


def read_log(log: object) -> Iterator[Conversation]:
    for index, sample in enumerate(listed(get(log, "samples"))):
        yield within(read_sample(sample), f"/samples/{index}")


def read_sample(sample: object) -> Conversation:
    """Read a sample of a log as one conversation, named by the sample's id and epoch."""
    messages = listed(get(sample, "messages"))
    reading = Reading()
    for message in reading.each(messages):
        read_inspect(message, reading, get(sample, "attachments"))
    given = within(reading.conversation("inspect-ai", len(messages)), "/messages")
    asked = get(sample, "input")
    spent = get(sample, "model_usage")
    usages = spent.values() if isinstance(spent, Mapping) else ()
    if (error := get(sample, "error")) is not None:  # without its traceback
        words = word(error) or word(get(error, "message")) or "an unknown error"
        given = ended(given, words, "/error")
    return replace(
        given,
        query=asked if isinstance(asked, str) and asked else given.query,
        usage=total_usage(usage_of(one) for one in usages),
        name=f"{plain(get(sample, 'id'))} (epoch {plain(get(sample, 'epoch'))})",
    )


def _read_call(call: object, reading: Reading) -> None:
    name, call_id = word(get(call, "function")), reading.identified(get(call, "id"))
    arguments, why = get(call, "arguments"), get(call, "parse_error")
    if why:
        reading.made(invalid_call(name, arguments, call_id, why))
    else:
        reading.call(name, arguments, call_id)


def _read_served(part: object, reading: Reading) -> None:
    """Read a part that is a call and its result, for a tool that the model's server ran."""
    call_id = reading.identified(get(part, "id"))
    arguments = get(part, "arguments")  # some of these tools have JSON, and others plain text
    is_object = isinstance(arguments, str) and arguments.lstrip().startswith("{")
    given = arguments if is_object or not arguments else {"arguments": arguments}
    reading.call(first(part, ("name", "tool_type")), given, call_id)
    result = first(part, ("error", "result"))
    reading.result(call_id, word(result), get(part, "error") is not None)


def _restored(content: JsonValue, attachments: object, reading: Reading) -> JsonValue:
    """Return the content with its attachments in place."""
    if isinstance(content, list | tuple):
        return [
            {"type": "text", "text": _restored(text, attachments, reading)}
            if word(text := get(part, "text")).startswith(_ATTACHMENT)
            else part
            for part in content
        ]
    if not isinstance(content, str) or not content.startswith(_ATTACHMENT):
        return content
    kept = get(attachments, content.removeprefix(_ATTACHMENT))
    if isinstance(kept, str):
        return kept
    reading.notice("missing-attachment", f"{content[:80]!r} is not among the attachments")
    return content


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
    usage = None if role == _USER else usage
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
    text = result_words(content, {})
    if get(message, "requestor") == _USER:
        reading.text(text, _USER)
        return
    is_error = failed if isinstance(failed, bool) else None
    reading.result(reading.identified(get(message, "id")), text, is_error)


_HOSTS = ("<environment_context>", "<user_instructions>", "# AGENTS.md", "<session_context>")
"""How texts begin that Codex and Gemini CLI write in the user's name."""


def _role_of(role: str, content: JsonValue) -> str:
    text = text_of(content).lstrip()
    return "system" if role == "user" and text.startswith(_HOSTS) else role


_CODEX = KNOWN["codex"]


def claims_codex(line: object) -> bool:
    kind = word(get(line, "type"))
    if kind in _CODEX["lines"] or kind in _CODEX["silent"]:
        return get(line, "payload") is not None
    return (_is_event(kind) and get(line, "role") is None) or _is_old_head(line)


def _is_event(kind: str) -> bool:
    return kind in _CODEX["events"] or kind in _CODEX["items"]


def _is_old_head(line: object) -> bool:
    """Whether this is the line about the session in a rollout of 2025."""
    return get(line, "record_type") == "state" or (
        has(line, "instructions") and has(line, "timestamp") and get(line, "role") is None
    )


def read_codex(line: object, reading: Reading) -> None:
    kind, payload = word(get(line, "type")), get(line, "payload")
    reading.at = instant(get(line, "timestamp"))
    if _is_event(kind):
        _read_event(kind, line, reading)
    elif kind == "response_item":
        _read_item(payload, reading)
    elif kind == "compacted":
        reading.summary(word(get(payload, "message")))
    elif kind == "event_msg":
        _read_note(payload, reading)
    elif kind == "session_meta" or _is_old_head(line):
        _read_head(line if payload is None else payload, reading)
    elif responses.claims(line):
        _read_item(line, reading)
    elif kind not in _CODEX["silent"]:
        reading.notice("unknown-part", f"a line of type {brief(kind)} is left out")


def _read_head(about: object, reading: Reading) -> None:
    given = first(about, ("base_instructions", "instructions"))
    text = given if isinstance(given, str) else word(get(given, "text"))
    if text:
        reading.say("system", text)


def _read_note(payload: object, reading: Reading) -> None:
    """Read what a rollout notes beside its items: most of it repeats them."""
    kind = get(payload, "type")
    if kind == "error":
        reading.failed(word(get(payload, "message")))
    elif kind == "token_count":
        info = get(payload, "info")
        reading.usage = usage_of(get(info, "total_token_usage")) or reading.usage
        reading.spent(usage_of(get(info, "last_token_usage")))


def _read_item(item: object, reading: Reading) -> None:
    kind, role = word(get(item, "type")), word(get(item, "role"))
    more: JsonObject = {}
    if kind.endswith("_output") and _has_failed(get(item, "output")):
        more = {"is_error": True}
    elif kind == "message":
        more = {"role": _role_of(role, get(item, "content"))}
    if kind != "ghost_snapshot":
        read_responses({**merged(item), **more}, reading)


_ENDED = "Process exited with code "


def _has_failed(output: JsonValue) -> bool:
    """Whether the output of a call of Codex shows that the command, or the call itself, failed."""
    text = words_of(output, chat.KINDS)
    code = get(get(fields_of(text), "metadata"), "exit_code") if text.startswith("{") else None
    ended = next((one for one in text.split("\n", 6)[:6] if one.startswith(_ENDED)), _ENDED + "0")
    return code not in (None, 0) or ended != _ENDED + "0" or text.startswith("unsupported call:")


def _read_event(kind: str, event: object, reading: Reading) -> None:
    if kind == "turn.failed":
        reading.failed(word(get(get(event, "error"), "message")))
    elif kind == "turn.completed":
        reading.usage = usage_of(get(event, "usage"))
    elif kind == "error":
        reading.notice("failed-reply", f"a request failed: {word(get(event, 'message'))[:200]}")
    elif kind in _CODEX["items"]:
        _read_event_item(get(event, "item"), kind == "item.completed", reading)


def _read_event_item(item: object, ended: bool, reading: Reading) -> None:
    kind, text = word(get(item, "type")), word(first(item, ("text", "message")))
    if kind in _CODEX["calls"] or kind == "mcp_tool_call":
        _read_item_call(item, kind, ended, reading)
    elif not ended:
        return  # the completed item has all that is here
    elif kind == "reasoning":
        reading.think(text)
    elif text:
        join_message(reading, "system" if kind == "error" else "assistant")
        reading.text(text)
    else:
        reading.notice("unknown-part", f"an item of type {brief(kind)} is left out")


def _read_item_call(item: object, kind: str, ended: bool, reading: Reading) -> None:
    call_id = reading.identified(get(item, "id"))
    if not reading.has_called(call_id):
        if not reading.calling:
            join_message(reading, "assistant")
        if kind == "mcp_tool_call":
            name, arguments = (
                f"mcp__{plain(get(item, 'server'))}__{plain(get(item, 'tool'))}",
                "arguments",
            )
            reading.call(name, get(item, arguments), call_id)
        else:
            reading.call(kind, {key: get(item, key) for key in _CODEX["calls"][kind]}, call_id)
    if ended:
        code, output = get(item, "exit_code"), get(item, "result")
        error = get(item, "error")
        output = first(output, ("content", "structured_content")) if output else error
        text = first(item, ("aggregated_output",)) or result_words(output, chat.KINDS)
        failed = True if code not in (None, 0) or error else declared(item)
        reading.answer(call_id, word(text), failed)


def is_gemini_session(thing: object) -> bool:
    """Whether it is a session of Gemini CLI: an object, or the list of its lines."""
    head = thing[0] if isinstance(thing, list) and thing else thing
    return get(head, "sessionId") is not None and get(head, "projectHash") is not None


def read_gemini_session(session: object) -> tuple[Conversation]:
    lines = session if isinstance(session, list) else listed(get(session, "messages"))
    reading, answered = Reading(), list[str | None]()
    for reading.source, record in _standing(lines):
        reading.message = record if isinstance(session, Mapping) else lines[reading.source]
        _read_record(record, answered, reading)
    read = reading.conversation("gemini-cli", len(lines))
    return (read if isinstance(session, list) else within(read, "/messages"),)


def _standing(lines: list[JsonValue]) -> list[tuple[int, object]]:
    """Return the messages that no later line replaces or removes, with the index of each."""
    kept: dict[JsonValue, tuple[int, object]] = {}
    for index, line in enumerate(lines):
        removed, known = get(line, "$rewindTo"), get(line, "id")
        whole = get(get(line, "$set"), "messages")
        if isinstance(removed, str):
            ids = list(kept)
            for one in ids[ids.index(removed) if removed in kept else 0 :]:
                del kept[one]
        elif isinstance(whole, list):
            ids = [identifier(get(one, "id")) or str(i) for i, one in enumerate(whole)]
            kept = {one: (index, message) for one, message in zip(ids, whole, strict=True)}
        elif isinstance(known, str):
            kept[known] = (kept[known][0] if known in kept else index, line)
    return list(kept.values())


def _read_record(record: object, answered: list[str | None], reading: Reading) -> None:
    kind, content = word(get(record, "type")), get(record, "content")
    parts = content if isinstance(content, list) else [content]
    parts = [{"text": one} if isinstance(one, str) else one for one in parts if one]
    reading.at = instant(get(record, "timestamp"))
    if kind == "gemini":
        reading.begin("assistant", usage=usage_of(get(record, "tokens")))
        for one in listed(get(record, "thoughts")):
            reading.thought(f"{word(get(one, 'subject'))}: {word(get(one, 'description'))}\n")
        read_gemini_parts(gemini.parts_of(parts, ""), parts, reading)
        calls = listed(get(record, "toolCalls"))
        for call in calls:
            reading.call(get(call, "name"), get(call, "args"), get(call, "id"))
        for call in calls:
            _read_record_result(call, answered, reading)
    elif kind == "user":
        left = [one for one in parts if get(one, "functionResponse") is None
                or identifier(get(get(one, "functionResponse"), "id")) not in answered]  # fmt: skip
        if left or not parts:
            reading.begin(_role_of("user", left))
            read_gemini_parts(gemini.parts_of(left, ""), left, reading)
    elif kind in {"info", "warning", "error"}:
        reading.begin("system")
        read_gemini_parts(gemini.parts_of(parts, ""), parts, reading)
        if kind == "error":
            reading.failed("".join(word(get(part, "text")) for part in parts))
    else:
        reading.notice("unknown-part", f"a message of type {brief(kind)} is left out")


def _read_record_result(call: object, answered: list[str | None], reading: Reading) -> None:
    known, failed, given = reading.identified(get(call, "id")), declared(call), get(call, "result")
    if given is None and failed is None:
        return  # its result, if there is one, is in the user's next message
    texts = [given] if isinstance(given, str) else []
    for part in listed(given):
        response = get(get(part, "functionResponse"), "response")
        texts.append(word(get(part, "text")) or gemini.response_words(response))
        failed = gemini.response_failed(response) or failed
    reading.result(known, "".join(texts) if texts else word(get(call, "resultDisplay")), failed)
    answered.append(known)


def claims_agent_sdk(message: object) -> bool:
    if any(has(message, key) for key in ("type", "role", "kind", "payload")):
        return False
    marks = ({"parent_tool_use_id"}, {"subtype", "data"}, {"subtype", "session_id"},
             {"uuid", "session_id"})  # fmt: skip
    return any(all(has(message, key) for key in keys) for keys in marks)


def read_agent_sdk(message: object, reading: Reading) -> None:
    read_claude_code(_line_of(message), reading)


def _line_of(message: object) -> JsonObject:
    """Return the line of Claude Code that the SDK's message was made from."""
    fields = ("subtype", "parent_tool_use_id", "is_error", "result", "uuid", "session_id", "error")
    line: JsonObject = {key: get(message, key) for key in fields}
    content = get(message, "content")
    if content is None:
        is_result = has(message, "subtype") and not has(message, "data")
        kind = "result" if is_result else "system" if has(message, "data") else "stream_event"
        return {**line, "type": kind}
    role = "assistant" if has(message, "model") else "user"
    blocks = content if isinstance(content, str) else [*map(_block_of, listed(content))]
    inner: JsonObject = {"role": role, "content": blocks, "usage": get(message, "usage")}
    inner["id"] = get(message, "message_id")
    return {**line, "type": role, "message": inner}


def _block_of(block: object) -> JsonValue:
    kinds, keys = KNOWN["agent-sdk"]["blocks"].items(), KNOWN["agent-sdk"]["fields"]
    kind = next((kind for kind, own in kinds if all(has(block, key) for key in own)), None)
    if kind is None or get(block, "type") is not None:
        return block
    return {"type": kind, **{key: get(block, key) for key in keys if has(block, key)}}


_SOURCES = {"user": "user", "agent": "assistant", "environment": "system", "hook": "system"}
_OPENHANDS = KNOWN["openhands"]
_FINISH, _EVENT = "finish", "event"


def claims_openhands(event: object) -> bool:
    if get(event, "kind") in (*_OPENHANDS["kinds"], *_OPENHANDS["silent"]):
        return True
    is_event = isinstance(first(event, ("action", "observation")), str)
    return is_event and word(get(event, "source")) in _SOURCES and get(event, "role") is None


def read_openhands(event: object, reading: Reading) -> None:
    reading.at = instant(get(event, "timestamp"))
    kind, action = word(get(event, "kind")), word(get(event, "action"))
    observation = word(get(event, "observation"))
    if kind == "ObservationEvent" and get(event, "tool_name") == _FINISH:
        return  # it repeats the last words
    if kind:
        _read_kind(kind, event, reading)
    elif action:
        _read_action(action, event, reading)
    else:
        _read_observation(observation, event, reading)


def _read_kind(kind: str, event: object, reading: Reading) -> None:
    answered = reading.identified(get(event, "tool_call_id"))
    match kind:
        case "SystemPromptEvent":
            reading.begin("system")
            parts = (get(event, "system_prompt"), get(event, "dynamic_context"))
            read_content([part for part in parts if part is not None], chat.KINDS, reading)
            reading.tools = (*listed(get(event, "tools")),)
        case "MessageEvent":
            message = get(event, "llm_message")
            role = word(get(message, "role"))
            reading.begin(role or _SOURCES.get(word(get(event, "source")), "system"))
            reading.thought(_reasoning(message))
            read_content(get(message, "content"), chat.KINDS, reading)
            read_content(get(event, "extended_content"), chat.KINDS, reading)
            read_calls(message, reading)
        case "ActionEvent":
            reading.resume(get(event, "llm_response_id"), "assistant")
            reading.thought(_reasoning(event))
            read_content(get(event, "thought"), chat.KINDS, reading)
            call = get(event, "tool_call")
            arguments = get(event, "action") if call is None else get(call, "arguments")
            _act(event, get(event, "tool_name"), arguments, answered, reading)
        case "ObservationEvent":
            seen = get(event, "observation")
            content = first(seen, ("content", "output"))
            text = json_words(seen) if content is None else result_words(content, chat.KINDS)
            reading.answer(answered, text, _seen_failed(seen, declared(seen)))
        case "AgentErrorEvent" | "UserRejectObservation":
            reading.answer(answered, word(first(event, ("error", "rejection_reason"))), True)
        case "ACPToolCallEvent":
            reading.begin("assistant")
            reading.call(first(event, ("tool_kind", "title")), get(event, "raw_input"), answered)
            seen = first(event, ("raw_output", "content"))
            reading.result(answered, result_words(seen, chat.KINDS), declared(event))
        case "Condensation" | "CondensationSummaryEvent":
            reading.summary(word(get(event, "summary")))
        case "ConversationErrorEvent":
            reading.failed(word(first(event, ("detail", "code"))))
        case _:
            if kind not in _OPENHANDS["silent"]:
                reading.notice("unknown-part", f"an event of kind {brief(kind)} is left out")


def _reasoning(thing: object) -> str:
    blocks = [word(get(one, "thinking")) for one in listed(get(thing, "thinking_blocks"))]
    return word(get(thing, "reasoning_content")) or "".join(blocks)


def _seen_failed(seen: object, is_failed: bool | None) -> bool | None:
    """Whether a command failed, by its exit code, or by what the result says."""
    code = first(get(seen, "metadata"), ("exit_code",))
    code = get(seen, "exit_code") if code is None else code
    return True if isinstance(code, int) and code > 0 else is_failed


def _event_id(called: object, event: object, key: str, reading: Reading) -> str | None:
    """Return the id of an action's call, or one made from the event's; the oldest have none."""
    made = None if get(event, key) is None else f"{_EVENT}-{plain(get(event, key))}"
    return reading.identified(get(called, "tool_call_id")) or made


def _act(event: object, name: object, given: object, known: JsonValue, reading: Reading) -> None:
    """Add a call. To finish is none: its text is a message, behind the thought if there is one."""
    if name != _FINISH:
        reading.call(name, given, known)
        return
    places = (get(event, "args"), get(event, "action"), fields_of(given), event)
    words = (word(get(one, key)) for key in ("final_thought", "message") for one in places)
    thought = get(places[0], "thought") or words_of(get(event, "thought"), chat.KINDS)
    text = next(filter(None, words), thought)
    if thought and text != thought:
        reading.begin("assistant")
    reading.text("" if text == thought else text)


def _read_action(action: str, event: object, reading: Reading) -> None:
    arguments, role = get(event, "args"), _SOURCES.get(word(get(event, "source")), "system")
    if not isinstance(arguments, Mapping):  # as in the oldest events
        arguments = merged(event)
    called = get(event, "tool_call_metadata")
    if action in {"message", "system"}:
        reading.begin("system" if action == "system" else role)
        reading.text(word(arguments.get("content")))
        reading.tools = (*listed(arguments.get("tools")),) or reading.tools
    elif action == "condensation":
        reading.summary(word(arguments.get("summary")))
    elif action not in _OPENHANDS["states"]:
        reply = get(called, "model_response")
        choice = next(iter(listed(get(reply, "choices"))), None)
        message = get(choice, "message")
        known = _event_id(called, event, "id", reading) or reading.waiting_id(_EVENT)
        usage = usage_of(get(reply, "usage"))
        reading.resume(get(reply, "id"), "assistant", usage=usage)
        reading.thought(_reasoning(message))
        reading.text(word(arguments.get("thought")))
        made = (get(one, "function") for one in listed(get(message, "tool_calls"))
                if get(one, "id") == known)  # fmt: skip
        own = {key: one for key, one in arguments.items() if key not in _OPENHANDS["settings"]}
        written = get(next(made, None), "arguments")
        name = action if action == _FINISH else get(called, "function_name") or action
        _act(event, name, own if written is None else written, known, reading)


def _read_observation(kind: str, event: object, reading: Reading) -> None:
    extras, text = get(event, "extras"), word(get(event, "content"))
    called = get(event, "tool_call_metadata")
    known = _event_id(called, event, "cause", reading) or reading.answered_id(kind)
    if kind == "agent_state_changed":
        if get(extras, "agent_state") == "error":
            reading.failed(word(get(extras, "reason")) or text)
    elif reading.has_called(known) and (text or kind != "null"):
        fine = get(event, "success")
        is_failed = (
            True if kind in {"error", "user_rejected"} else None if fine is None else not fine
        )
        reading.answer(known, text, _seen_failed(event if extras is None else extras, is_failed))
    elif text:
        reading.say("system", text)


_BROKEN = frozenset({"exit_error", "exit_api", "exit_environment_error"})
_SHELL = "bash"
_MARKS, _CODE = ("```mswea_bash_command", "```bash"), ("<returncode>", "</returncode>")
_EXTRA = ("actions", "returncode", "interrupt_type", "exit_status")
_EXIT, _SUBMITTED, _REFUSED, _LEFT = "exit", "Submitted", "FormatError", "action was not executed"
_PI_KINDS = kinds_of("tinyagent")
_TOLD = ("bashExecution", "custom", "hookMessage", "custom_message", "branch_summary")


def is_swe_agent(thing: object) -> bool:
    history, steps = get(thing, "history"), get(thing, "trajectory")
    is_run = isinstance(steps, list) and not any(get(one, "role") for one in steps)
    is_demo = any(has(one, "thought") and has(one, "role") for one in listed(history))
    return isinstance(history, list) and (is_run or is_demo)


def read_swe_agent(thing: object) -> tuple[Conversation]:
    reading, history, info = Reading(), listed(get(thing, "history")), get(thing, "info")
    for message in reading.each(history):
        _read_history(message, reading)
    _read_last_steps(history, listed(get(thing, "trajectory")), reading)
    spent, status = get(info, "model_stats"), word(get(info, "exit_status"))
    tokens = {"input": get(spent, "tokens_sent"), "output": get(spent, "tokens_received")}
    reading.usage = usage_of({**tokens, "cost": get(spent, "instance_cost")})
    if (attempts := len(listed(get(thing, "attempts")))) > 1:
        words = f"{attempts - 1} of {attempts} attempts were not chosen"
        reading.notice("side-conversation", words, anywhere=True)
    if status in _BROKEN:
        reading.failed(status)
    return (within(reading.conversation("swe-agent", len(history)), "/history"),)


def _read_history(message: object, reading: Reading) -> None:
    role, content = word(get(message, "role")), get(message, "content")
    calls, action = listed(get(message, "tool_calls")), word(get(message, "action"))
    is_demo = get(message, "is_demo") is True
    answered = next(map(identifier, listed(get(message, "tool_call_ids"))), None)
    if role == "user" and get(message, "message_type") in (None, "observation") and not is_demo:
        answered = next(iter(_made_ids(reading)), None)
    if answered is not None:
        reading.answer(answered, result_words(content, chat.KINDS), None)
        return
    reading.begin("system" if is_demo else role or "assistant")
    reading.thought(_reasoning(message))
    read_content(content, chat.KINDS, reading)
    read_calls(message, reading)
    if action and not calls and role == "assistant" and not is_demo:
        reading.call(_SHELL, {"command": action.strip()}, reading.waiting_id(_SHELL))


def _read_last_steps(history: Iterable[object], steps: list[JsonValue], reading: Reading) -> None:
    """Read the result of the history's last action, and the actions after it, from the steps."""
    made = [action for one in history if (action := word(get(one, "action")).strip())]
    taken = [word(get(step, "action")).strip() for step in steps]
    last = max((at for at, one in enumerate(taken) if [one] == made[-1:]), default=len(taken))
    for step, action in zip(steps[last:], ["", *taken[last + 1 :]], strict=False):
        if action:
            reading.say("assistant", word(get(step, "response")))
            reading.call(_SHELL, {"command": action}, reading.waiting_id(_SHELL))
        for answered in _made_ids(reading):
            reading.answer(answered, word(get(step, "observation")), None)


def _made_ids(reading: Reading) -> list[str | None]:
    """Return the ids of the calls in the text of the last reply, which have no ids of their own."""
    return [one for one in reading.calls if str(one).startswith(f"{_SHELL}-")]


def claims_mini(message: object) -> bool:
    extra, text, role = get(message, "extra"), word(get(message, "content")), get(message, "role")
    is_marked = _MARKS[0] in text and role in ("assistant", "system")
    is_result = text.startswith(_CODE[0]) and role == "user"
    return is_marked or is_result or any(has(extra, key) for key in _EXTRA)


def read_mini(message: object, reading: Reading) -> None:
    role, extra = word(get(message, "role")), get(message, "extra")
    reply, why, code = (get(extra, key) for key in ("response", "interrupt_type", "returncode"))
    reading.at = instant(first(extra, ("timestamp",)) or get(message, "timestamp"))
    if role == "assistant" or get(message, "object") == "response":
        _read_mini_reply(message if role else merged(message), reply, extra, reading)
        return
    if why == _REFUSED and isinstance(reply, Mapping):
        choice = next(iter(listed(get(reply, "choices"))), None)
        answer = {
            "content": get(extra, "model_response"),
            **merged(get(choice, "message") or reply),
        }
        _read_mini_reply(answer, reply, {"cost": get(extra, "cost")}, reading)
    text = words_of(first(message, ("content", "output")), chat.KINDS)
    if code is None and text.startswith(_CODE[0]):
        code = text[len(_CODE[0]) :].partition(_CODE[1])[0].strip()
    known = identifier(first(message, ("tool_call_id", "call_id")))
    is_done = role == _EXIT and get(extra, "exit_status") == _SUBMITTED
    calls = _made_ids(reading) if why is None and role != _EXIT else []
    failed = None if code is None or get(extra, "exception_info") == _LEFT else str(code) != "0"
    if is_done or why == _REFUSED:
        calls, failed = reading.calls, not is_done
    elif len(calls) > 1:
        failed = True
    if known or calls:
        reading.begin("tool")
        reading.share([known] if known else calls, text, failed)
    elif role != _EXIT:
        reading.say(role if failed is None else "system", text)
    if get(extra, "traceback") is not None or is_of_host(get(extra, "exit_status")):
        reading.failed(f"{get(extra, 'exit_status')}: {text}")


_ERRORS = ("Error", "Exception", "Expired", "Interrupt")


def is_of_host(status: JsonValue) -> bool:
    """Whether an exit status of mini-swe-agent is an error, and not one in the agent's replies."""
    return word(status).endswith(_ERRORS) and not word(status).endswith(_REFUSED)


def _read_mini_reply(message: object, response: object, extra: object, reading: Reading) -> None:
    cost = {"cost": get(extra, "cost")} if get(extra, "cost") is not None else {}
    usage = usage_of({**merged(first(response, ("usage",)) or get(message, "usage")), **cost})
    items = listed(get(message, "output"))
    if not items:
        reading.begin("assistant", usage=usage)
        reading.thought(_reasoning(message))
        read_content(get(message, "content"), chat.KINDS, reading)
        read_calls(message, reading)
        if not listed(get(message, "tool_calls")):
            items = listed(get(extra, "actions")) or _blocks(word(get(message, "content")))
    for item in items:
        if get(item, "type") is not None:  # of the Responses API
            read_responses(item, reading)
        else:
            known = identifier(get(item, "tool_call_id")) or reading.waiting_id(_SHELL)
            reading.call(_SHELL, {"command": get(item, "command")}, known)
    reading.spent(usage)


def _blocks(text: str) -> list[JsonValue]:
    """Return the actions in a reply's blocks, as mini-swe-agent finds them."""
    mark = _MARKS[0] if _MARKS[0] in text else _MARKS[1]
    bodies = (part.partition("\n```") for part in text.split(mark)[1:])
    found = (head.partition("\n") for head, end, _ in bodies if end)
    return [{"command": body.strip()} for line, _, body in found if not line.strip()]


def claims_pi(line: object) -> bool:
    """Whether it is a line of a session that contains a message."""
    return get(line, "type") == "message" and isinstance(get(get(line, "message"), "role"), str)


def read_pi_session(lines: object) -> tuple[Conversation]:
    """Read the branch of the last line. An old entry has no parent, and follows the one before."""
    reading, entries = Reading(), listed(lines)
    above: list[int] = []
    known: dict[str, int] = {}
    lost: dict[int, str] = {}
    every = {str(get(entry, "id")) for entry in entries}
    for index, entry in enumerate(entries):
        parent = get(entry, "parentId")
        if parent is not None and str(parent) not in known:
            lost[index] = str(parent)
        at = -1 if parent is None else known.get(str(parent), index - 1)
        above.append(at if has(entry, "parentId") else index - 1)
        known[str(get(entry, "id"))] = index
    path = [len(entries) - 1]
    while above[path[-1]] >= 0:
        path.append(above[path[-1]])
    for reading.source in path[::-1]:
        reading.message = entries[reading.source]
        if (parent := lost.get(reading.source)) is not None:
            words = f"the parent {brief(parent)} is not before it; it follows the entry before"
            if parent in every:
                reading.notice("cyclic-parents", words)
            else:
                reading.notice("missing-parent", words)
        read_pi(reading.message, reading)
    others = {*range(len(entries))} - {*path}
    if left := [index for index in sorted(others) if claims_pi(entries[index])]:
        reading.source = left[0]
        words = f"{counted(len(left), 'message')} from here on are on other branches"
        reading.notice("side-conversation", words)
    return (reading.conversation("pi", len(entries)),)


def read_pi(line: object, reading: Reading) -> None:
    reading.at = instant(get(line, "timestamp"))
    message = {"role": get(line, "type"), **merged(line), **merged(get(line, "message"))}
    role, content = word(message["role"]), first(message, ("content", "summary", "output"))
    if role == "toolResult":
        known = identifier(get(message, "toolCallId"))
        reading.answer(known, result_words(content, _PI_KINDS), declared(message))
    elif role.startswith("compaction"):
        reading.summary(word(content))
    elif role in {"user", "assistant", *_TOLD} and content is not None:
        reading.begin("system" if role in _TOLD else role, usage=usage_of(get(message, "usage")))
        reading.text(f"$ {get(message, 'command')}\n" * has(message, "command"))
        read_content(content, _PI_KINDS, reading)
        if get(message, "stopReason") in ("error", "aborted"):
            reading.failed(word(get(message, "errorMessage")))
    elif content is not None or get(line, "message") is not None:
        reading.notice("unknown-part", f"a line of type {brief(role)} is left out")
