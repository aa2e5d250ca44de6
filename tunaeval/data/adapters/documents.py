"""The known shapes of messages, the documents and files that contain them, and how they are read.

Shapes overlap: a user's text looks the same in four of them. So the first message that only one
shape could have written decides; if there is none, the list is read as chat completions. A list of
`Message`s, and one of dicts with nothing but role, text, calls and the id of the answered call,
like most lists, are read at once, with the same result.

A document is a list of messages, a list of documents, or an object of a kind in `_DOCUMENTS`. A
document may contain several conversations. A file is JSON, JSON lines, or one of Inspect's archives
of JSON.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from tunaeval.errors import PluginError, UsageError
from tunaeval.files.packed_files import read_whole
from tunaeval.files.plain_files import is_directory
from tunaeval.registry import Registry, raised, returned
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall
from tunaeval.types.conversations import Conversation, Notice
from tunaeval.types.copies import copied
from tunaeval.types.messages import Message
from tunaeval.types.roles import Adapter
from tunaeval.types.shapes import instance_of
from tunaeval.types.wanted import wanted_name
from tunaeval.wire.apis import APIS
from tunaeval.wire.held import Placed, is_answer, messages_in, placed, usage_in

from . import dialects, logs, results, traces
from .dialects import session_usage, steps_of
from .fields import (
    KNOWN,
    fields_of,
    first,
    get,
    identifier,
    known,
    listed,
    merged,
    pointer,
    usage_of,
    word,
)
from .logs import is_log, is_sample, is_trajectory, read_log, read_sample
from .reading import NOTICES, NotedDict, Reading, call_of, is_settled, joined, with_usage, within
from .traces import holds_spans, is_span, read_traces

OWN = "tunaeval"
"""The name of the shape of a list of `Message`s."""

CHAT = "openai-chat"

_PLAIN_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_PLAIN_IDS = frozenset({str, int, type(None)})
_PLAIN_FIELDS = frozenset({"role", "content", "tool_calls", "tool_call_id", "name"})


def read_plain(thing: object, shape: str | None = None) -> Conversation | None:
    """Return the conversation if `thing` is such a list and no `shape` is given, else None."""
    if shape is not None or not isinstance(thing, list | tuple) or not thing:
        return None
    kinds = set(map(type, thing))
    if kinds == {Message} and all(map(is_settled, thing)):
        own = cast("Sequence[Message]", thing)
        return joined(own, range(len(own)), len(own), OWN)
    if kinds != {dict}:
        return None
    read: list[Message] = []
    for one in thing:
        if (message := _plain_message(one)) is None:
            return None
        read.append(message)
    return joined(read, range(len(read)), len(read), CHAT)


def _plain_message(thing: JsonObject) -> Message | None:
    # In the dump of an object, all other fields are null.
    if any(thing[key] is not None for key in thing.keys() - _PLAIN_FIELDS):
        return None
    role, content = thing.get("role"), thing.get("content")
    if type(role) is not str or role not in _PLAIN_ROLES:
        return None
    if content is None:
        content = ""
    calls = _plain_calls(thing.get("tool_calls"))
    if type(content) is not str or calls is None or logs.claims_mini(thing):
        return None
    answers = thing.get("tool_call_id")
    message = Message(role, content, calls, identifier(answers))
    return message if type(answers) in _PLAIN_IDS and is_settled(message) else None


def _plain_calls(items: object) -> tuple[ToolCall, ...] | None:
    if items is None:
        return ()
    if type(items) is not list:
        return None
    calls = []
    for item in items:
        function = item.get("function") if type(item) is dict else None
        if type(function) is not dict or type(item.get("id")) not in _PLAIN_IDS:
            return None
        call = call_of(function.get("name"), function.get("arguments"), item.get("id"))
        if not call.name or call.invalid is not None:
            return None
        calls.append(call)
    return tuple(calls)


_TEXTS = KNOWN["texts"]


@dataclass(frozen=True, slots=True)
class Shape:
    """How one framework writes messages: `claims` recognizes its own, and `read` reads one."""

    name: str
    claims: Callable[[object], bool]
    read: Callable[[object, Reading], None]
    kind: str = "role"
    """The field with a message's kind; messages of an unknown kind are read, with a notice."""


SHAPES = {
    shape.name: shape
    for shape in (
        Shape("claude-agent-sdk", logs.claims_agent_sdk, logs.read_agent_sdk, ""),
        Shape("pydantic-ai", dialects.claims_pydantic_ai, dialects.read_pydantic_ai, ""),
        Shape("langchain", dialects.claims_langchain, dialects.read_langchain, ""),
        Shape("codex", logs.claims_codex, logs.read_codex, "type"),
        Shape(
            "gemini-interactions", dialects.claims_interactions, dialects.read_interactions, "type"
        ),
        Shape("openai-responses", APIS["responses"].claims, dialects.read_responses, "type"),
        Shape("llama-index", dialects.claims_llama_index, dialects.read_llama_index),
        Shape("smolagents", dialects.claims_smolagents, dialects.read_smolagents),
        Shape("tinyagent", dialects.claims_tinyagent, dialects.read_tinyagent),
        Shape("openhands", logs.claims_openhands, logs.read_openhands, "source"),
        Shape("atif", logs.claims_atif, logs.read_atif, "source"),
        Shape("claude-code", logs.claims_claude_code, logs.read_claude_code, "type"),
        Shape("gemini", APIS["gemini"].claims, dialects.read_gemini, ""),
        Shape("bedrock", APIS["converse"].claims, dialects.read_with("converse")),
        Shape("ai-sdk", dialects.claims_ai_sdk, dialects.read_ai_sdk),
        Shape("tau2", logs.claims_tau2, logs.read_tau2),
        Shape("anthropic", APIS["messages"].claims, dialects.read_anthropic),
        Shape("inspect-ai", logs.claims_inspect, logs.read_inspect),
        Shape("mini-swe-agent", logs.claims_mini, logs.read_mini),
        Shape("otel", traces.claims, traces.read),
        Shape(CHAT, APIS["chat"].claims, dialects.read_chat),
    )
}
"""The shapes, in the order in which they are asked whether a message is theirs."""


def shape_of(messages: Sequence[object]) -> Shape:
    """Return the shape of a list of messages; chat completions if no shape claims any."""
    for message in messages:
        if message is None or isinstance(message, Message):
            continue
        for shape in SHAPES.values():
            if shape.claims(message):
                return shape
    return SHAPES[CHAT]


def read_messages(
    messages: Sequence[object],
    shape: Shape | None = None,
    *,
    where: str = "messages",
    places: Sequence[str] | None = None,
) -> Conversation:
    """Read a list of messages. Raises UsageError, naming the place, for an item that is none.

    `places` are the paths of the messages in their document, by default their indices.
    """
    meant = shape or shape_of(messages)
    reading = Reading(places)
    for message in reading.each(messages):
        if isinstance(message, Message):
            reading.add(message)
        elif message is None:
            reading.notice("empty-item", "nothing is here")
        elif read := _reader(message, meant):
            if isinstance(message, NotedDict):
                message.seen.clear()  # to claim a message is not to read it
            read(message, reading)
        elif isinstance(thought := get(message, "thought"), str):
            reading.begin("assistant")
            reading.thought(thought)
        else:
            raise UsageError(
                f"{where}[{reading.source}] is {brief(message)} and has no role; "
                "wanted a list of messages in one of the shapes that are known "
                f"({', '.join(SHAPES)})"
            )
    is_own = bool(messages) and all(isinstance(message, Message) for message in messages)
    return reading.conversation(OWN if is_own else meant.name, len(messages))


def _reader(message: object, shape: Shape) -> Callable[[object, Reading], None] | None:
    """Return the reader for a message in a list of this shape, or None if it is no message."""
    if shape.claims(message):
        return shape.read
    if traces.answers(message):
        return traces.read
    kind, role = get(message, shape.kind), get(message, "role")
    if kind is not None and kind != "":
        return shape.read
    # Frameworks put plain messages into lists of other shapes.
    return None if role is None or role == "" else SHAPES[CHAT].read


_SESSION_FIELDS = ("session_total_usage", "working_directory", "current_model", "project_id")


def is_session(thing: object) -> bool:
    is_ours = get(thing, "session_id") is not None and any(
        get(thing, key) for key in _SESSION_FIELDS
    )
    return is_ours and isinstance(get(thing, "messages"), list | tuple)


def read_session(session: object) -> Conversation:
    """Return the conversation of a session."""
    messages = listed(get(session, "messages"))
    shape = shape_of(messages)
    # Messages of text alone look like chat completions, except for tinyagent's times.
    shape = SHAPES["tinyagent"] if shape.name == "openai-chat" else shape
    given = within(read_messages(messages, shape), "/messages")
    compacted = get(session, "compaction")
    summary = "the session keeps a summary of earlier messages"
    notice = Notice("compacted", summary, None, "/compaction")
    return replace(
        given,
        shape="tunacode",
        warnings=(*given.warnings, *([notice] if compacted else [])),
        usage=session_usage(get(session, "session_total_usage")),
        name=word(get(session, "session_id")),
    )


_QUERIES = ("query", "prompt", "task", "question")
_MAX_DEPTH = 4


class _Document(NamedTuple):
    """A kind of document: how it is recognized, and how its conversations are read."""

    shape: str
    fits: Callable[[object], bool]
    read: Callable[[object], Iterable[Conversation]]


def tells_spans(thing: object) -> bool:
    """Whether `thing` is a span, an export of spans, or a list of either."""
    items = thing if isinstance(thing, list | tuple) else [thing]
    return any(holds_spans(item) or is_span(item) for item in items)


def _read_traces(
    shape: str, spans: Callable[[object], Iterable[traces.TraceSpan]], meant: Shape | None = None
) -> Callable[[object], Iterable[Conversation]]:
    """Return the reader of traces; without `meant` their messages have their provider's shape."""
    return lambda thing: (
        replace(given, shape=shape)
        for given in read_traces(spans(thing), lambda messages: read_messages(messages, meant))
    )


def _read_mini(run: object) -> tuple[Conversation]:
    return results.read_mini_run(run, _read_holder(run, SHAPES["mini-swe-agent"], "messages"))


_EVENTS = partial(read_messages, shape=SHAPES["openhands"])
_RUNS = partial(traces.langsmith_spans, read=read_messages)
_DOCUMENTS = (
    _Document("tunacode", is_session, lambda thing: (read_session(thing),)),
    _Document("inspect-ai", is_log, read_log),
    _Document("inspect-ai", is_sample, lambda thing: (read_sample(thing),)),
    _Document("gemini-cli", logs.is_gemini_session, logs.read_gemini_session),
    _Document("pi", lambda lines: any(map(logs.claims_pi, listed(lines))), logs.read_pi_session),
    _Document("swe-agent", logs.is_swe_agent, logs.read_swe_agent),
    _Document("mini-swe-agent", results.is_mini_run, _read_mini),
    _Document("openhands", results.is_openhands, partial(results.read_openhands_row, read=_EVENTS)),
    _Document("tau-bench", results.is_tau, partial(results.read_tau, read=read_messages)),
    _Document("tau2", results.is_tau, partial(results.read_tau, read=read_messages)),
    _Document("promptfoo", results.is_promptfoo, partial(results.read_rows, read=read_messages)),
    _Document("langfuse", traces.is_langfuse, _read_traces("langfuse", traces.langfuse_spans)),
    _Document("langsmith", traces.is_langsmith, _read_traces("langsmith", _RUNS, SHAPES[CHAT])),
    _Document(
        "openinference", traces.is_inference, _read_traces("openinference", traces.inference_spans)
    ),
    _Document("otel", tells_spans, _read_traces("otel", traces.spans_in, SHAPES["otel"])),
)
_SPANS = frozenset({"langsmith", "langfuse", "openinference", "otel"})
"""Documents of which several are one: a trace's spans."""

adapters: Registry[Adapter] = Registry(
    "tunaeval.adapters", "adapter", builtins={}, check=instance_of(Adapter)
)
"""The adapters of others, which are asked about documents that have no shape known here."""

_TRANSCRIPTS = "transcripts: Conversations, or lists of messages in a known shape"


def _adapted(names: Iterable[str], document: object) -> tuple[Conversation, ...] | None:
    """Return what the first adapter that reads the document yields; None if there is none.

    Raises PluginError if an adapter fails, or yields something else. One that cannot say whether a
    document is its own does not keep the others from being asked.
    """
    failed: PluginError | None = None
    for name in names:
        adapter, given = adapters.get(name), copied(document)
        # A file's only object is wrapped in a list, as a message would be.
        alone = given if isinstance(given, list) and len(given) == 1 else []
        try:
            whole = [one for one in (given, *alone) if adapter.reads(one)]
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
            failed = failed or raised(adapter, "adapter", error, "whether a document is its own")
            continue
        try:
            items: list[object] = list(adapter.read(whole[0])) if whole else []
        except (Exception, SystemExit) as error:
            raise raised(adapter, "adapter", error, _TRANSCRIPTS) from error
        if whole:
            return tuple(_adapted_item(item, name, adapter) for item in items)
    if failed is not None:
        raise failed
    return None


def _adapted_item(item: object, name: str, adapter: Adapter) -> Conversation:
    try:
        (read,) = _read_thing(item, None, "messages", 0)
    except (UsageError, ValueError) as error:
        raise returned(adapter, "adapter", brief(item), f"{_TRANSCRIPTS} ({error})") from error
    return read if isinstance(item, Conversation) else replace(read, shape=name)


DOCUMENT_SHAPES = tuple(sorted({*SHAPES, *(row.shape for row in _DOCUMENTS)}))
"""The names of all shapes that can be requested."""


def read_conversation(messages: object, *, shape: str | None = None) -> Conversation:
    """Read one conversation. Raises UsageError for a document that contains none or several.

    `messages` are a known framework's, as objects or dictionaries, or a document that contains
    them; `shape` names their shape where it would be guessed wrongly.

    Examples:
        >>> asked = [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}]
        >>> tunaeval.read_conversation(asked).messages[0].content
        'Hello'
    """
    if isinstance(messages, Conversation):
        return messages
    found = read_conversations(messages, shape=shape)
    if len(found) != 1:
        raise UsageError(
            f"messages contains {len(found)} conversations, wanted one; "
            "read them with tunaeval.read_conversations and take one"
        )
    return found[0]


def read_conversations(document: object, *, shape: str | None = None) -> tuple[Conversation, ...]:
    """Read all conversations of a document. Raises UsageError if it is no document.

    Examples:
        >>> document = [{"messages": [{"role": "user", "content": "Hello"}]}]
        >>> len(tunaeval.read_conversations(document))
        1
    """
    wanted_shape(shape)
    if shape is not None and shape not in DOCUMENT_SHAPES:
        found = _adapted([shape], document)
        if found is None:
            raise UsageError(f"messages is {brief(document)}, which is no {shape} document")
    else:
        try:
            found = tuple(_read_thing(document, shape, "messages", 0))
        except UsageError:
            others = _adapted(adapters.names(), document) if shape is None else None
            if others is None:
                raise
            found = others
    for index, conversation in enumerate(found):
        if any(notice.code == "unread-message" for notice in conversation.warnings):
            where = f"conversation {index + 1} of {len(found)}" if len(found) > 1 else "messages"
            refuse_silence(conversation, where)
    return found


def wanted_shape(shape: str | None) -> None:
    """Raise UnknownNameError if there is no shape of this name, here or in a plug-in."""
    if shape is not None and shape not in DOCUMENT_SHAPES:
        wanted_name(shape, "shape of messages", (*DOCUMENT_SHAPES, *adapters.names()))


def refuse_silence(conversation: Conversation, where: str = "messages") -> None:
    """Raise UsageError if a transcript has messages, but no text and no call was read from them.
    A run that ended in an error is accepted: it may have ended before the first text.
    """
    says_something = any(
        message.tool_calls or message.content.strip() or (message.reasoning or "").strip()
        for message in conversation.messages
    )
    if conversation.length and not says_something and conversation.failure is None:
        words = _TEXTS["silent"]
        raise UsageError(
            words.format(where=where, length=conversation.length, shape=conversation.shape)
        )


def _read_thing(thing: object, shape: str | None, where: str, depth: int) -> Iterator[Conversation]:
    conversation = thing if isinstance(thing, Conversation) else read_plain(thing, shape)
    if conversation is not None:
        yield conversation
        return
    rows = (row for row in _DOCUMENTS if shape in {None, row.shape} and row.fits(thing))
    if (row := next(rows, None)) is not None:
        yield from row.read(thing)
        return
    if shape is not None and shape not in SHAPES:
        raise UsageError(f"{where} is {brief(thing)}, which is no {shape} document")
    meant = None if shape is None else SHAPES[shape]
    # A pydantic model is iterable as well, and may hold messages.
    if (
        isinstance(thing, Iterable)
        and not isinstance(thing, str | bytes | Mapping)
        and held_messages(thing) is None
    ):
        items: list[object] = list(thing)
        if not (items and depth < _MAX_DEPTH and all(map(holds_transcript, items))):
            yield read_messages(items, meant, where=where)
            return
        for index, item in enumerate(items):
            for one in _read_thing(item, shape, f"{where}[{index}]", depth + 1):
                yield one if item is one else within(one, f"/{index}")
    elif _placed_messages(thing) is None and (key := _inner_document(thing)) is not None:
        for one in _read_thing(get(thing, key), shape, f"{where}.{key}", depth + 1):
            yield _with_unread(within(one, f"/{key}"), thing, [f"/{key}"])
    else:
        yield _read_holder(thing, meant, where)


def holds_transcript(item: object) -> bool:
    """Whether `item` is a transcript, or contains some, rather than a message."""
    if isinstance(item, Message) or item is None:
        return False
    return (
        isinstance(item, list | tuple | Conversation)
        or held_messages(item) is not None
        or any(row.fits(item) for row in _DOCUMENTS)
        or _inner_document(item) is not None
    )


_HELD = ("messages", "history", "trajectory", "traj", "conversation")
"""The fields in which an object without a shape of its own may have messages, in order."""


def _inner_document(thing: object) -> str | None:
    """Return the first of these fields that has a document of its own."""
    inner = ((key, get(thing, key)) for key in _HELD)
    return next((key for key, one in inner if isinstance(one, Mapping) and _is_document(one)), None)


def _is_document(thing: Mapping[str, object]) -> bool:
    return held_messages(thing) is not None or any(row.fits(thing) for row in _DOCUMENTS)


def _has_messages(value: object) -> bool:
    return isinstance(value, list | tuple) and any(
        isinstance(get(item, "role"), str) or any(one.claims(item) for one in SHAPES.values())
        for item in value
        if item is not None and not isinstance(item, str | int | float | list)
    )


def _with_unread(given: Conversation, thing: object, places: Iterable[str]) -> Conversation:
    """Return the conversation with a notice for each field of `thing` with messages that has none
    of the places that are read.
    """
    read = {"/".join(place.split("/", 3)[:count]) for place in places for count in (2, 3)}
    fields = {pointer("", key): one for key, one in merged(thing).items()}
    choices = listed(fields.pop("/choices", None))
    fields |= {f"/choices/{index}": get(one, "message") for index, one in enumerate(choices)}
    unread = [
        Notice("unread-field", f"{path[:60]!r} has messages and is not read", None, path)
        for path, one in fields.items()
        if path not in read and _may_have_messages(path[1:], one)
    ]
    return replace(given, warnings=(*given.warnings, *unread)) if unread else given


def _may_have_messages(key: str, value: JsonValue) -> bool:
    whole = isinstance(value, Mapping) and (_is_document(value) or _has_messages([value]))
    held = held_messages({key: value}) if isinstance(value, list | tuple) else None
    return whole or _has_messages(value) or _has_messages(held)


def held_messages(thing: object) -> list[object] | None:
    """Return the messages in an object, under one of the names in use; None if there are none."""
    found = _placed_messages(thing)
    return None if found is None else [message for _, message in found]


def _placed_messages(thing: object) -> Placed | None:
    """Return the messages in an object, each with its path."""
    if is_trajectory(thing):
        return placed(get(thing, "steps"), "steps")
    if (memory := steps_of(thing)) is not None:  # an agent of smolagents
        return placed(memory, "steps")
    steps = listed(get(thing, "steps"))
    if any(map(dialects.claims_interactions, steps)):
        asked = get(thing, "input")
        is_first = get(steps[0], "type") == "user_input" or asked is None
        first_of_all = [] if is_first else [("/input", {"role": "user", "content": asked})]
        return [*first_of_all, *placed(steps, "steps")]
    held = [key for key in _HELD if _has_messages(get(thing, key))]
    get_messages = get(thing, "all_messages")  # the result of a pydantic-ai run
    if held[:1] != ["messages"] and callable(get_messages):
        return placed(get_messages(), "all_messages")
    if held[:1] != ["messages"] and (found := messages_in(thing)) is not None:
        return found
    messages = get(thing, "messages")
    if held or isinstance(messages, list | tuple):
        key = next(iter(held), "messages")
        return placed(get(thing, key), key)
    return None


def _read_holder(thing: object, shape: Shape | None, where: str) -> Conversation:
    found = _placed_messages(thing)
    if found is None:
        raise UsageError(
            f"{where} is {brief(thing)}, wanted a list of messages (dicts or objects) or a "
            f"document that contains one: {', '.join(DOCUMENT_SHAPES)}"
        )
    places, messages = [path for path, _ in found], [message for _, message in found]
    conversation = read_messages(messages, shape, where=f"{where}.messages", places=places)
    conversation = _with_unread(conversation, thing, places)
    if (usage := known(usage_in(thing))) is not None:
        conversation = with_usage(conversation, usage, of_reply=is_answer(places))
    query = first(thing, _QUERIES)
    text = query if isinstance(query, str) and query else conversation.query
    offered = first(thing, ("tools",)) or get(get(thing, "agent"), "tool_definitions")
    tools = (*listed(fields_of(offered)),) or conversation.tools
    if is_trajectory(thing):
        failure = word(get(get(thing, "extra"), "failure")) or None
        spent = merged(get(thing, "final_metrics")).items()
        totals = usage_of({str(key).removeprefix("total_"): count for key, count in spent})
        conversation = replace(conversation, failure=failure, usage=totals)
    name = word(first(thing, ("name", "id")))
    return replace(conversation, query=text, name=name, tools=tools)


MAX_SAMPLE_BYTES = 32 * 1024 * 1024
"""The largest size of one unpacked sample."""
LEAST_ARCHIVE_BYTES = 64 * 1024 * 1024
MAX_RATIO = 50
"""All samples together may unpack to this many times the archive's size, or to
`LEAST_ARCHIVE_BYTES` if that is more; JSON packs about ten to one.
"""

_CUT = object()
"""Takes the place of the last line of a file if it is cut off."""

_ZIP = b"PK\x03\x04"
_SAMPLES = "samples/"
_WANTED_FILE = "wanted JSON, JSON lines, or an archive of Inspect (.eval)"
_ZSTD = 93
"""The number of zstd compression in archives."""


def read_file(
    data: bytes, *, file: str = "the file", shape: str | None = None
) -> tuple[Conversation, ...]:
    """Return the conversations in a file. Raises UsageError, naming the file and the place."""
    wanted_shape(shape)
    documents = _archived(data, file) if data.startswith(_ZIP) else _documents(data, file)
    found: list[Conversation] = []
    for index, (place, document) in enumerate(documents):
        if document is _CUT:
            last = found[-1]
            cut = Notice("cut-off", f"{place}: {NOTICES['cut-off']}", None)
            found[-1] = replace(last, warnings=(*last.warnings, cut))
            continue
        where = f"{file}, {place}" if place else file
        try:
            read = read_conversations(document, shape=shape)
        except UsageError as error:
            raise UsageError(f"{where}: {error}") from error
        if place.startswith("line "):
            read = tuple(within(one, f"/{index}") for one in read)
        found += [one if one.name else replace(one, name=place) for one in read]
    if not found:
        raise UsageError(f"{file}: it contains no transcript; {_WANTED_FILE}")
    return tuple(found)


def read_path(file: str, *, shape: str | None = None) -> tuple[Conversation, ...]:
    """Return the conversations in a file, or in a folder with an event in each file."""
    events = [read_whole(one).replace(b"\n", b" ") for one in event_files(file)]
    return read_file(b"\n".join(events) or read_whole(file), file=file, shape=shape)


def event_files(folder: str) -> list[str]:
    """Return the files of a folder that has an event of OpenHands in each, in order, else none."""
    if not is_directory(folder):
        return []
    paths = sorted(Path(folder).glob("*[0-9]*.json"), key=lambda one: (len(one.name), one.name))
    try:
        is_event = bool(paths) and logs.claims_openhands(json.loads(read_whole(str(paths[0]))))
    except (UsageError, ValueError, RecursionError):
        return []
    return [str(path) for path in paths if is_event]


def _documents(data: bytes, file: str) -> list[tuple[str, JsonValue]]:
    """Return the documents in a file, each with its line: one in all, or one on each line."""
    text = _decoded_text(data, file)
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _json_lines(text, file, error)
    if isinstance(document, dict) and not holds_transcript(document):
        document = [document]
    return [("", document)]


def _json_lines(text: str, file: str, whole: Exception) -> list[tuple[str, JsonValue]]:
    values: list[tuple[str, JsonValue]] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values.append((f"line {number}", json.loads(line)))
        except (ValueError, RecursionError) as error:
            if values and number == len(lines):  # its writer was ended in the middle of it
                return [*_joined_lines(values), (f"line {number}", _CUT)]
            if values:
                raise _not_json(f"{file}, line {number}", error, line) from error
            raise _not_json(file, whole, text.lstrip()) from whole  # it is not JSON lines either
    if not values:
        raise UsageError(f"{file}: it is empty; {_WANTED_FILE}")
    return _joined_lines(values)


def _joined_lines(values: list[tuple[str, JsonValue]]) -> list[tuple[str, JsonValue]]:
    """Return the documents on the lines: one on each, or all lines together as one."""
    spans = [row.fits for row in _DOCUMENTS if row.shape in _SPANS]
    if all(holds_transcript(one) and not any(fits(one) for fits in spans) for _, one in values):
        return values
    return [("", [value for _, value in values])]


def _not_json(where: str, error: Exception, text: str) -> UsageError:
    # What is cut ends in a string, or where the next value should begin.
    is_cut = str(error).startswith("Unterminated") or getattr(error, "pos", 0) >= len(text.rstrip())
    cut = "; it seems to be cut off" if is_cut else ""
    return UsageError(f"{where}: not JSON ({error}), found {text[:60]!r}{cut}; {_WANTED_FILE}")


def _decoded_text(data: bytes, file: str) -> str:
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        place = f"byte 0x{data[error.start]:02x} at {error.start}"
        raise UsageError(
            f"{file}: {place} is not {encoding}, so it is no text; {_WANTED_FILE}"
        ) from error


def _archived(data: bytes, file: str) -> Iterator[tuple[str, JsonValue]]:
    """Yield the samples of an archive of Inspect, one at a time."""
    budget = max(LEAST_ARCHIVE_BYTES, MAX_RATIO * len(data))
    count = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                is_sample = name.startswith(_SAMPLES) and name.endswith(".json")
                if not is_sample or name.count("/") != 1:
                    continue
                packed = _unpacked(archive, name, file, min(budget, MAX_SAMPLE_BYTES))
                budget -= len(packed)
                count += 1
                sample = json.loads(packed)
                del packed
                yield name, sample
    except UsageError:
        raise
    except Exception as error:  # zipfile and its decompressors raise many kinds
        raise UsageError(
            f"{file}: the archive cannot be read: {brief(error, 200)}; {_WANTED_FILE}"
        ) from error
    if not count:
        raise UsageError(_TEXTS["pieces"].format(file=file))


def _unpacked(archive: zipfile.ZipFile, name: str, file: str, most: int) -> bytes:
    """Return at most `most` bytes, no matter which size the archive declares."""
    if archive.getinfo(name).compress_type == _ZSTD and not hasattr(zipfile, "ZIP_ZSTANDARD"):
        try:
            import_module("zipfile_zstd")  # registers itself with zipfile; inspect-ai depends on it
        except ImportError as error:
            raise UsageError(_TEXTS["no-zstd"].format(file=file)) from error
    with archive.open(name) as packed:
        text = packed.read(most + 1)
    if len(text) > most:
        raise UsageError(
            f"{file}, {name}: unpacks to more than {most:,} bytes; write the log as JSON, or split "
            "it: inspect log convert --to json"
        )
    return text
