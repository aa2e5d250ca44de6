"""A conversation that is being read: the messages so far, the open message, and the notices.

An adapter begins a message and adds what it finds, in order. What is odd about calls and results
as a whole is found at the end, in another pass.

A framework whose messages consist of parts is described by a table, `Kinds`, from a part's kind to
a word such as `Text` or `CallFields`; `read_content` reads its messages.

A call whose arguments are no JSON object was still made, and leaving it out would raise the score
of its model. It is kept without arguments and with the repair `invalid-arguments`, and its result
counts as an error unless the result says otherwise.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

import orjson

from tunaeval.limits import MAX_FAST
from tunaeval.parsing.message import read_message
from tunaeval.parsing.repair.values import not_json
from tunaeval.showing import brief
from tunaeval.types.calls import (
    INVALID_ARGUMENTS,
    STRUCTURED,
    JsonObject,
    JsonValue,
    ToolCall,
)
from tunaeval.types.conversations import Conversation, Notice, Results, asked, results_of
from tunaeval.types.json_text import decoded
from tunaeval.types.messages import Message, Usage
from tunaeval.types.parsing import ParseResult

from .fields import KNOWN, declared, first, get, identifier, json_words, listed, word

_SHOWN = 60
_LONGEST_FAILURE = 300
_LARGE = float(2**63)
_ATOMS = frozenset({str, int, bool, type(None)})


def call_of(name: JsonValue, arguments: JsonValue, call_id: JsonValue) -> ToolCall:
    """Return the call; `arguments` is an object, the JSON text of one, or nothing."""
    called = name if isinstance(name, str) else ""
    known = identifier(call_id)
    read = _arguments(arguments)
    if read is not None:
        return ToolCall(called, read, known, STRUCTURED)
    if isinstance(arguments, str):
        item = {"function": {"name": "_", "arguments": arguments}}
        repaired = read_message({"tool_calls": [item]}, lambda _: ParseResult(), None, "standard")
        for call in repaired.calls:
            return replace(call, name=called, id=known)
    return invalid_call(called, arguments, known)


def invalid_call(
    name: str, arguments: JsonValue, call_id: str | None, why: JsonValue = None
) -> ToolCall:
    """Return a call with unusable arguments; `why` is the framework's reason, if it has one."""
    shown = arguments if isinstance(arguments, str) else json_words(arguments)
    words = f"its arguments are no JSON object: {shown[:_SHOWN]!r}"
    if isinstance(why, str) and why:
        words = f"its arguments could not be read: {why[:_SHOWN]}"
    return ToolCall.unread(name, words, call_id)


def _arguments(arguments: JsonValue) -> JsonObject | None:
    """Return the arguments if they need no repair, else None."""
    if (plain := plain_arguments(arguments)) is not None:
        return plain
    if arguments is None or arguments == "":
        return {}
    if isinstance(arguments, str):
        try:
            arguments = decoded(arguments)
        except ValueError:
            return None
    if not isinstance(arguments, dict) or not_json(arguments):
        return None
    return arguments if all(isinstance(key, str) for key in arguments) else None


def plain_arguments(arguments: JsonValue) -> JsonObject | None:
    """Return arguments in JSON text whose values are all strings, numbers, booleans or null.

    Most are, and orjson reads them faster. It turns integers beyond 64 bits into floats, so texts
    with large floats give None and are left to `json`.
    """
    if type(arguments) is not str or len(arguments) > MAX_FAST:
        return None
    try:
        read = orjson.loads(arguments)
    except ValueError:
        return None
    if type(read) is not dict:
        return None
    for value in read.values():
        kind = type(value)
        if kind not in _ATOMS and not (kind is float and -_LARGE < value < _LARGE):
            return None
    return read


NOTICES: Mapping[str, str] = KNOWN["notices"]
"""Every code of a `Notice` with its meaning."""


@dataclass(slots=True)
class _OpenMessage:
    """A message that is being read, `head` without its content; `before` is the number of messages
    before it.
    """

    source: int
    before: int
    head: Message
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


class Reading:
    """Builds a conversation in order; `source` is the index of the message that is being read."""

    def __init__(self) -> None:
        self.source = 0
        self.reply: str | None = None
        """The id of the open reply, if its parts arrive one by one."""
        self.at: float | None = None
        """The time of a message that is begun without one."""
        self.failure: str | None = None
        """The error that ended the run; a later reply takes it back."""
        self.usage: Usage | None = None
        self.tools: tuple[JsonValue, ...] = ()
        self._waiting: dict[str, deque[str]] = {}
        self._named = 0
        self._called: set[str | None] = set()
        self._messages: list[Message] = []
        self._sources: list[int] = []
        self._notices: list[Notice] = []
        self._open: _OpenMessage | None = None

    def begin(
        self,
        role: str,
        *,
        usage: Usage | None = None,
        at: float | None = None,
        tool_call_id: str | None = None,
        is_error: bool | None = None,
    ) -> None:
        """Begin a message; it is in the conversation even if nothing is added to it."""
        self.close()
        self.reply = None
        if role == "assistant":
            self.failure = None
        at = self.at if at is None else at
        head = Message(role, "", (), tool_call_id, None, is_error, usage, at)
        self._open = _OpenMessage(self.source, len(self._messages), head)

    @property
    def thinking(self) -> bool:
        """Whether the open message contains only reasoning so far."""
        one = self._open
        return one is not None and bool(one.thoughts) and not (one.texts or one.calls)

    @property
    def calling(self) -> bool:
        """Whether the open message contains calls and no text."""
        return self._open is not None and bool(self._open.calls) and not self._open.texts

    @property
    def is_reply(self) -> bool:
        """Whether the open message is the assistant's and has no calls yet."""
        one = self._open
        return one is not None and one.head.role == "assistant" and not one.calls

    @property
    def calls(self) -> list[str | None]:
        """The ids of the calls of the open message if it has calls, else of the last message."""
        one = self._open
        if one is not None and one.calls:
            return [call.id for call in one.calls]
        return [call.id for call in self._messages[-1].tool_calls] if self._messages else []

    @property
    def is_silent(self) -> bool:
        """Whether nothing was added to the open message, and no message was made from it."""
        one = self._open
        return (
            one is not None
            and not (one.texts or one.thoughts or one.calls)
            and one.before == len(self._messages)
        )

    def proceed(self) -> None:
        """Set the open message's source to the current one, because its content is here."""
        if self._open is not None:
            self._open.source = self.source

    def text(self, text: str, role: str | None = None) -> None:
        """Add text to the open message; another `role` makes a new message of it."""
        one = self._opened()
        if role is not None and role != one.head.role:
            self._flush(one)
            one.head = replace(one.head, role=role)
        if text:
            one.texts.append(text)

    def think(self, text: str) -> None:
        """Add reasoning to the open message if that has nothing else so far, else to a new one."""
        if not self.thinking:
            self.begin("assistant")
        self.thought(text)

    def thought(self, text: str) -> None:
        if text:
            self._opened().thoughts.append(text)

    def call(self, name: JsonValue, arguments: JsonValue, call_id: JsonValue) -> None:
        self.made(call_of(name, arguments, call_id))

    def waiting_id(self, name: str) -> str:
        """Return a new id for a call that has none, by which its result will find it."""
        self._named += 1
        made = f"{name}-{self._named}"
        self._waiting.setdefault(name, deque()).append(made)
        return made

    def answered_id(self, name: str) -> str | None:
        """Return the id of the first call of this name without a result, or None."""
        waiting = self._waiting.get(name)
        return waiting.popleft() if waiting else None

    def made(self, call: ToolCall) -> None:
        """Add a call to the open message, with a notice if it is faulty."""
        if not call.name:
            self.notice("unnamed-call", "a call has no name")
        if call.invalid is not None:
            self.notice(INVALID_ARGUMENTS, f"a call of {call.name!r}: {call.invalid}")
        self._called.add(call.id)
        self._opened().calls.append(call)

    def result(self, call_id: str | None, content: str, is_error: bool | None) -> None:
        """Add a result, which is always a message of its own."""
        one = self._opened()
        self._flush(one)
        answer = Message("tool", content, tool_call_id=call_id, is_error=is_error, at=one.head.at)
        self._append(one.source, answer)

    def spent(self, usage: Usage | None) -> None:
        """Set the usage of the last reply. In some logs a later line has it."""
        one = self._open
        replies = (at for at, one in enumerate(self._messages) if one.role == "assistant")
        said = one is not None and (one.texts or one.thoughts or one.calls)
        if one is not None and said and one.head.role == "assistant":
            one.head = replace(one.head, usage=usage or one.head.usage)
        elif usage is not None and (last := max(replies, default=None)) is not None:
            self._messages[last] = replace(self._messages[last], usage=usage)

    def summary(self, text: str) -> None:
        """Add the summary that replaced earlier messages, as a system message of its own."""
        self.notice("compacted", "earlier messages were replaced by a summary")
        if self._open is not None:
            self._flush(self._open)
        if text:
            self._append(self.source, Message("system", text, at=self.at))

    def failed(self, words: str) -> None:
        """Record an error that ends the run, unless a reply follows."""
        self.failure = words[:_LONGEST_FAILURE] or "an unknown error"
        self.notice("failed-reply", f"the run failed here: {self.failure}")

    def has_called(self, call_id: str | None) -> bool:
        return call_id in self._called

    def say(self, role: str, text: str) -> None:
        """Begin a message with this text."""
        self.begin(role)
        self.text(text)

    def answer(self, call_id: str | None, content: str, is_error: bool | None) -> None:
        """Begin a message of a tool with this result."""
        self.begin("tool")
        self.result(call_id, content, is_error)

    def add(self, message: Message) -> None:
        """Add a message that was read already."""
        self.close()
        self._append(self.source, message)

    def notice(self, code: str, words: str, *, anywhere: bool = False) -> None:
        self._notices.append(Notice(code, words, None if anywhere else self.source))

    def close(self) -> None:
        """End the open message."""
        one, self._open = self._open, None
        if one is not None and (not self._flush(one) and one.before == len(self._messages)):
            self._append(one.source, _message(one))

    def conversation(self, shape: str, length: int) -> Conversation:
        """Return the conversation, with notices about its calls and results."""
        self.close()
        if self.failure is not None:
            self.notice("failed-run", f"the run ended in an error: {self.failure}", anywhere=True)
        read = joined(self._messages, self._sources, length, shape, self._notices)
        return replace(read, failure=self.failure, usage=self.usage, tools=self.tools)

    def _opened(self) -> _OpenMessage:
        if self._open is None:
            self.begin("assistant")
        assert self._open is not None  # noqa: S101 - `begin` has just set it
        return self._open

    def _flush(self, one: _OpenMessage) -> bool:
        """Append the content of the open message as a message; False if there is none."""
        if not (one.texts or one.thoughts or one.calls):
            return False
        self._append(one.source, _message(one))
        one.head = replace(one.head, usage=None)  # so that it counts once
        one.texts, one.thoughts, one.calls = [], [], []
        return True

    def _append(self, source: int, message: Message) -> None:
        self._messages.append(message)
        self._sources.append(source)


def _message(one: _OpenMessage) -> Message:
    return replace(
        one.head,
        content="".join(one.texts),
        tool_calls=tuple(one.calls),
        reasoning="".join(one.thoughts) or None,
    )


def joined(
    messages: Sequence[Message],
    sources: Sequence[int],
    length: int,
    shape: str,
    notices: Sequence[Notice] = (),
) -> Conversation:
    """Return a conversation of these messages, with notices about its calls and results added:
    results are matched to calls by id, in order. The result of an invalid call is an error.
    """
    found = [*notices]
    results = results_of(messages)
    seen: set[str] = set()
    kept = list(messages)
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            waiting = results.get(call.id)
            result = waiting.popleft() if waiting else None
            if result is None or result < index or call.id in seen:
                found += _oddities(call, index, result, seen, sources[index])
            if call.id is not None:
                seen.add(call.id)
            if not call.repairs or call.invalid is None or result is None:
                continue
            if kept[result].is_error is None:
                kept[result] = replace(kept[result], is_error=True)
    found += _orphans(messages, results, sources)
    whole = tuple(kept)
    return Conversation(whole, tuple(sources), length, shape, tuple(found), asked(whole))


def _oddities(
    call: ToolCall, index: int, result: int | None, seen: set[str], source: int
) -> Iterator[Notice]:
    named = f"the call {call.id!r} of {call.name!r}"
    if call.id in seen:
        yield Notice("duplicate-id", f"{named} has the id of an earlier one", source)
    if result is None:
        yield Notice("dangling-call", f"{named} has no result", source)
    elif result < index:
        yield Notice("early-result", f"{named} has its result before it", source)


def _orphans(
    messages: Sequence[Message], results: Results, sources: Sequence[int]
) -> Iterator[Notice]:
    for left in results.values():
        for index in left:
            answered = messages[index].tool_call_id
            words = f"a result for {answered!r}, which is no call's id"
            yield Notice("orphan-result", words, sources[index])


class Text(NamedTuple):
    """Text, in the first of `fields` that is there; `role` overrides the role of the message."""

    fields: tuple[str, ...]
    role: str | None = None


class Thought(NamedTuple):
    """Reasoning, in the first of `fields` that is there."""

    fields: tuple[str, ...]


class CallFields(NamedTuple):
    """A call; the values are the names of the fields for its name, arguments and id."""

    name: str
    arguments: str
    id: str


class ResultFields(NamedTuple):
    """A result; `id` and `content` name the part's fields, and `is_error` overrides the part's."""

    id: str
    content: tuple[str, ...]
    is_error: bool | None = None


class Media(NamedTuple):
    """Media, of which the message contains only the kind, in brackets."""


class Silent(NamedTuple):
    """A part that adds nothing to the message."""


Word: TypeAlias = Text | Thought | CallFields | ResultFields | Media | Silent
Kinds: TypeAlias = Mapping[str, Word]


_WORDS: Mapping[str, Callable[..., Word]] = {
    "text": lambda *fields: Text(fields),
    "thought": lambda *fields: Thought(fields),
    "call": CallFields,
    "result": lambda id_, *content: ResultFields(id_, content),
    "media": Media,
    "silent": Silent,
}


def kinds_of(framework: str) -> Kinds:
    """Return the words of a framework's parts by kind, as `kinds.toml` lists them."""
    return {
        kind: _WORDS[word](*(kinds[kind] if isinstance(kinds, dict) else ()))
        for word, kinds in KNOWN["parts"][framework].items()
        for kind in kinds
    }


KIND_KEYS = ("type", "part_kind", "kind", "block_type")
"""The fields that may contain a part's kind."""


def read_content(content: JsonValue, kinds: Kinds, reading: Reading) -> None:
    """Add content to the open message: text, a list of parts, or any other value as JSON."""
    if isinstance(content, str):
        reading.text(content)
    elif isinstance(content, list | tuple):
        read_parts(content, kinds, reading)
    elif content is not None:
        reading.text(json_words(content))


def read_parts(parts: Iterable[object], kinds: Kinds, reading: Reading) -> None:
    """Add parts to the open message, in order."""
    for part in parts:
        if isinstance(part, str):
            reading.text(part)
        elif part is not None:
            kind = word(first(part, KIND_KEYS))
            read_part(part, kind, kinds.get(kind), kinds, reading)


def read_part(part: object, kind: str, meant: Word | None, kinds: Kinds, reading: Reading) -> None:
    """Add one part to the open message; `meant` is its word in the table, None if unknown."""
    if kind == "compaction":
        reading.summary(words_of(first(part, ("content", "summary")), kinds))
        return
    match meant:
        case Text(fields, role):
            reading.text(words_of(first(part, fields), kinds), role)
        case Thought(fields):
            reading.thought(words_of(first(part, fields), kinds))
        case CallFields(name, arguments, call_id):
            reading.call(get(part, name), get(part, arguments), get(part, call_id))
        case ResultFields(call_id, content, is_error):
            failed = declared(part) if is_error is None else is_error
            text = result_words(first(part, content), kinds)
            reading.result(identifier(get(part, call_id)), text, failed)
        case Media():
            reading.text(f"[{kind}]")
        case None:
            _read_unknown(part, kind, reading)


def _read_unknown(part: object, kind: str, reading: Reading) -> None:
    text = get(part, "text")
    if kind or not isinstance(text, str):
        named = f"of kind {brief(kind)}" if kind else brief(part)
        reading.notice("unknown-part", f"a part {named} is kept as content")
    reading.text(text if isinstance(text, str) else json_words(part))


def words_of(value: JsonValue, kinds: Kinds) -> str:
    """Return a value as text: the texts of its parts, or JSON if it has no parts."""
    if value is None or isinstance(value, str):
        return value or ""
    texts = [_text_of(part, kinds) for part in listed(value)]
    if isinstance(value, list | tuple) and None not in texts:
        return "".join(text for text in texts if text)
    return json_words(value)


def result_words(value: JsonValue, kinds: Kinds) -> str:
    """Return a tool's result as text; a list with strings is its value as JSON, not its parts."""
    if any(isinstance(item, str) for item in listed(value)):
        return json_words(value)
    return words_of(value, kinds)


def _text_of(part: object, kinds: Kinds) -> str | None:
    """Return the text of a part, or None if the part is not text."""
    if isinstance(part, str):
        return part
    kind = word(first(part, KIND_KEYS))
    match kinds.get(kind):
        case Text(fields):
            text = first(part, fields)
            return text if isinstance(text, str) else None
        case Media():
            return f"[{kind}]"
    return None
