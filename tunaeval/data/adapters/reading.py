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

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

import orjson

from tunaeval.limits import MAX_FAST
from tunaeval.parsing.message import read_message
from tunaeval.parsing.repair.values import not_json
from tunaeval.showing import brief
from tunaeval.types.calls import (
    ID_SHARED,
    INVALID_ARGUMENTS,
    STRUCTURED,
    JsonObject,
    JsonValue,
    ToolCall,
    one_each,
)
from tunaeval.types.conversations import (
    Conversation,
    Notice,
    PendingCalls,
    Results,
    asked,
    results_of,
)
from tunaeval.types.json_text import decoded
from tunaeval.types.messages import OTHER_ROLES, Message, Usage
from tunaeval.types.parsing import ParseResult
from tunaeval.wire.parts import Kinds, parts_of, unknown_words
from tunaeval.wire.parts import kinds_of as table_of_kinds
from tunaeval.wire.values import Part

from .fields import KNOWN, first, identifier, json_words, pointer, pointers, word

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


_ROLES = frozenset({"assistant", *OTHER_ROLES})


@dataclass(slots=True)
class _OpenMessage:
    """A message that is being read, `head` without its content; `before` is the number of messages
    before it.
    """

    source: int
    before: int
    head: Message
    name: str = ""
    reply: str | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


class NotedDict(dict[str, JsonValue]):
    """A message that knows which of its fields were read."""

    def __init__(self, given: Mapping[str, JsonValue]) -> None:
        super().__init__(given)
        self.seen: set[str] = set()

    def get(self, key: str, default: JsonValue = None) -> JsonValue:
        self.seen.add(key)
        return super().get(key, default)

    def unread(self) -> list[str]:
        """Return the fields that may have something for a transcript, and were not read."""
        lists, wanted = KNOWN["unread"]["lists"], {*KNOWN["unread"]["any"]} - self.seen
        odd = {key for key in lists if not isinstance(dict.get(self, key), list | tuple)}
        return [key for key, value in self.items() if value and key in wanted | odd]


@dataclass(slots=True)
class _Reply:
    """A reply whose parts arrive one by one: its parts, the indices of its messages, its usage."""

    seen: set[tuple[str, int]] = field(default_factory=set)
    at: list[int] = field(default_factory=list)
    usage: Usage | None = None


class Reading:
    """Builds a conversation in order; `source` is the index of the message that is being read.

    `places` are the paths of the messages in their document; by default they are its items.
    """

    def __init__(self, places: Sequence[str] | None = None) -> None:
        self.source = 0
        self.message: object = None
        """The message that is being read, and the part of it: notices have the path of the part."""
        self.part: object = None
        self.holder: object = None
        """The message or the content that the path of the part begins at."""
        self._places = places
        self._inner: tuple[int, dict[int, str]] = (-1, {})
        self.start = 0
        """Where the run itself begins, behind what was copied from another one."""
        self.has_replied = False
        self.at: float | None = None
        """The time of a message that is begun without one."""
        self.failure: str | None = None
        """The error that ended the run; a later reply takes it back."""
        self.usage: Usage | None = None
        self.tools: tuple[JsonValue, ...] = ()
        self._replies: dict[str, _Reply] = {}
        self._joins: dict[int, int] = {}
        """Messages with later parts of a reply, and the message of it that they belong to."""
        self._pending = PendingCalls()
        self._named = 0
        self._called: set[str | None] = set()
        self._last: int | None = None
        """The index of the last reply."""
        self._messages: list[Message] = []
        self._sources: list[int] = []
        self._notices: list[Notice] = []
        self._open: _OpenMessage | None = None

    def begin(
        self,
        role: JsonValue,
        *,
        usage: Usage | None = None,
        at: float | None = None,
        tool_call_id: str | None = None,
        is_error: bool | None = None,
        name: str = "",
    ) -> None:
        """Begin a message; it is in the conversation even if nothing is added to it.

        The `name` of a result is that of its tool.
        """
        self.close()
        role, given = str.__str__(role) if isinstance(role, str) else "", role
        if role not in _ROLES:
            self.notice("unknown-role", f"the role {brief(given, 40)} is not known")
        if role == "assistant":
            self.failure = None
        at = self.at if at is None else at
        head = Message(role, "", (), tool_call_id, None, is_error, usage, at)
        self._open = _OpenMessage(self.source, len(self._messages), head, name)

    def resume(
        self, reply: JsonValue, role: str, *, usage: Usage | None = None, at: float | None = None
    ) -> None:
        """Begin the reply with this id, or continue it; what it reports last is its usage."""
        known = identifier(reply)
        if known is None:
            self.begin(role, usage=usage, at=at)
            return
        one = self._open
        if one is None or one.reply != known:
            self.begin(role, at=at)
            self._opened().reply = known
        elif not one.calls:  # the message's source is that of its first call
            one.source = self.source
        parts = self._replies.setdefault(known, _Reply())
        parts.usage = usage or parts.usage

    def fresh(self, reply: JsonValue, parts: Iterable[JsonValue]) -> list[JsonValue]:
        """Return those of the parts that the reply with this id does not have yet."""
        known = identifier(reply)
        seen = set[tuple[str, int]]() if known is None else self._replies[known].seen
        counts = Counter[str]()
        new = []
        for part in parts:
            text = json_words(part)
            counts[text] += 1
            if (text, counts[text]) not in seen:
                new.append(part)
                seen.add((text, counts[text]))
        return new

    def each(self, messages: Iterable[object]) -> Iterator[object]:
        """Yield the messages in order; what is not read of one becomes a notice afterwards."""
        for self.source, message in enumerate(messages):
            self.message = message
            if isinstance(message, Mapping):
                with suppress(Exception):  # its own code may raise anything
                    self.message = NotedDict(message)
            yield self.message
            if isinstance(self.message, NotedDict):
                self.part = self.message
                for key in self.message.unread():
                    self.notice("unread-field", f"{key!r} is not read", field=key)

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
        self.made(call_of(name, arguments, self.identified(call_id)))

    def identified(self, value: JsonValue) -> str | None:
        """Return the id of a call, with a notice if the value is none."""
        if (known := identifier(value)) is None and not isinstance(value, str | None):
            self.notice("invalid-id", f"the id {brief(value)} is neither text nor a whole number")
        return known

    def waiting_id(self, name: str) -> str:
        """Return a new id for a call that has none, by which its result will find it."""
        self._named += 1
        return f"{name}-{self._named}"

    def answered_id(self, name: str) -> str | None:
        """Return the id of the call that a result without an id answers, or None."""
        if self._open is not None:
            self._flush(self._open)
        return self._pending.answered(None, name)

    def made(self, call: ToolCall) -> None:
        """Add a call to the open message, with a notice if it is faulty."""
        if not call.name:
            self.notice("unnamed-call", "a call has no name")
        if call.invalid is not None:
            self.notice(INVALID_ARGUMENTS, f"a call of {call.name!r}: {call.invalid}")
        self._called.add(call.id)
        self._opened().calls.append(call)

    def result(
        self, call_id: str | None, content: str, is_error: bool | None, name: str = ""
    ) -> None:
        """Add a result, which is always a message of its own; `name` is its tool's."""
        one = self._opened()
        self._flush(one)
        answer = Message("tool", content, tool_call_id=call_id, is_error=is_error, at=one.head.at)
        self._append(one.source, answer, name)

    def spent(self, usage: Usage | None) -> None:
        """Set the usage of the last reply. In some logs a later line has it."""
        one = self._open
        has_words = one is not None and (one.texts or one.thoughts or one.calls)
        if one is not None and has_words and one.head.role == "assistant":
            one.head = replace(one.head, usage=usage or one.head.usage)
        elif usage is not None and (last := self._last) is not None:
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

    def share(self, ids: Iterable[str | None], content: str, is_error: bool | None) -> None:
        """Add one result of several calls: the first has its content, the others an empty text."""
        for index, call_id in enumerate(dict.fromkeys(ids)):
            self.result(call_id, "" if index else content, is_error)

    def add(self, message: Message) -> None:
        """Add a message that was read already."""
        self.close()
        self._append(self.source, message)

    def notice(
        self, code: str, words: str, *, anywhere: bool = False, field: str | int = ""
    ) -> None:
        """Add a notice about the part that is being read, or about a field of it."""
        if anywhere:
            self._notices.append(Notice(code, words))
            return
        place = self._place(self.source)
        if self._inner[0] != self.source:
            self._inner = self.source, pointers(self.message)
        inner = self._inner[1].get(id(self.part))
        if isinstance(self.part, Part):
            holder = self._inner[1].get(id(self.holder))
            own = None if holder is None else holder + self.part.path
            inner = self._inner[1].get(id(self.part.given), own)
        if inner is not None:
            place += inner if field == "" else pointer(inner, field)
        self._notices.append(Notice(code, words, self.source, place))

    def _place(self, source: int) -> str:
        return self._places[source] if self._places else f"/{source}"

    def close(self) -> None:
        """End the open message."""
        one, self._open = self._open, None
        if one is None or self._flush(one) or one.before != len(self._messages):
            return
        if one.reply is None or not self._replies[one.reply].at:
            self._append(one.source, _message(one), one.name)

    def conversation(self, shape: str, length: int) -> Conversation:
        """Return the conversation, with notices about its calls and results."""
        self.close()
        if self._replies:
            self._gather()
        if self.failure is not None:
            self.notice("failed-run", f"the run ended in an error: {self.failure}", anywhere=True)
        read = joined(
            self._messages, self._sources, length, shape, self._notices, places=self._places
        )
        return replace(
            read, failure=self.failure, usage=self.usage, tools=self.tools, start=self.start
        )

    def _opened(self) -> _OpenMessage:
        if self._open is None:
            self.begin("assistant")
        assert self._open is not None  # noqa: S101 - `begin` has just set it
        return self._open

    def _flush(self, one: _OpenMessage) -> bool:
        """Append the content of the open message as a message; False if there is none."""
        if not (one.texts or one.thoughts or one.calls):
            return False
        self._append(one.source, _message(one), one.name)
        one.head = replace(one.head, usage=None)  # so that it counts once
        one.texts, one.thoughts, one.calls = [], [], []
        if one.reply is not None:
            at = self._replies[one.reply].at
            if at and one.before == len(self._messages) - 1:  # it was left for other messages
                self._joins[one.before] = at[-1]
            else:
                at.append(len(self._messages) - 1)
        return True

    def _gather(self) -> None:
        """Join the messages of each reply that other messages came between, with its usage."""
        for reply in self._replies.values():
            for index in reply.at[:1]:
                self._messages[index] = replace(self._messages[index], usage=reply.usage)
        pieces: dict[int, list[Message]] = {}
        for index, target in self._joins.items():
            pieces.setdefault(target, [self._messages[target]]).append(self._messages[index])
        for target, parts in pieces.items():
            self._messages[target] = replace(
                parts[0],
                content="".join(part.content for part in parts),
                tool_calls=tuple(call for part in parts for call in part.tool_calls),
                reasoning="".join(part.reasoning or "" for part in parts) or None,
            )
        kept = [index for index in range(len(self._messages)) if index not in self._joins]
        self._messages = [self._messages[index] for index in kept]
        self._sources = [self._sources[index] for index in kept]

    def _append(self, source: int, message: Message, name: str = "") -> None:
        """Append a message with each of its calls once, and a result with the id of its call."""
        calls, again, odd = one_each(message.tool_calls)
        made = tuple(call for at, call in enumerate(calls) if call and at not in again)
        message = replace(message, tool_calls=made) if again else message
        if ID_SHARED in odd:
            words = odd[ID_SHARED][1]
            self._notices.append(Notice("id-shared", words, source, self._place(source)))
        for call in message.tool_calls:
            self._pending.add(call.id, call.name)
        if message.is_result:
            answered = self._pending.answered(message.tool_call_id, name)
            message = replace(message, tool_call_id=answered)
        if message.role == "assistant":
            self._last = len(self._messages)
        self._messages.append(message)
        self._sources.append(source)


def _message(one: _OpenMessage) -> Message:
    return replace(
        one.head,
        content="".join(one.texts),
        tool_calls=tuple(one.calls),
        reasoning="".join(one.thoughts) or None,
    )


def is_settled(message: Message) -> bool:
    """Whether a message is kept as it is: its calls have ids of their own, as has a result."""
    ids = [call.id for call in message.tool_calls if call.id]
    return len({*ids}) == len(ids) and not (message.is_result and message.tool_call_id is None)


def joined(
    messages: Sequence[Message],
    sources: Sequence[int],
    length: int,
    shape: str,
    notices: Sequence[Notice] = (),
    *,
    places: Sequence[str] | None = None,
) -> Conversation:
    """Return a conversation of these messages, with notices about its calls and results added:
    results are matched to calls by id, in order. The result of an invalid call is an error.
    """
    found = list[Notice]()
    results = results_of(messages)
    seen: set[str] = set()
    kept = list(messages)
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            waiting = results.get(call.id)
            result = waiting.popleft() if waiting else None
            if result is None or result < index or call.id in seen:
                found += _oddities(call, index, result, seen, sources[index])
            if not call.repairs or call.invalid is None or result is None:
                continue
            if kept[result].is_error is None:
                kept[result] = replace(kept[result], is_error=True)
        seen.update(call.id for call in message.tool_calls if call.id is not None)
    found += _orphans(messages, results, sources)
    whole = tuple(kept)
    placed = [
        one._replace(path=f"/{one.source}" if places is None else places[one.source or 0])
        for one in found
    ]
    warnings = (*notices, *placed)
    return Conversation(whole, tuple(sources), length, shape, warnings, asked(whole))


def within(given: Conversation, path: str) -> Conversation:
    """Return the conversation with the paths that it has in a document with it at `path`."""
    moved = [one if one.path is None else one._replace(path=path + one.path)
             for one in given.warnings]  # fmt: skip
    return replace(given, warnings=tuple(moved)) if moved else given


def ended(given: Conversation, failure: str, path: str | None = None) -> Conversation:
    """Return the conversation with the error that ended its run, if there is one."""
    words = failure[:_LONGEST_FAILURE]
    notice = Notice("failed-run", f"the run ended in an error: {words}", None, path)
    return replace(given, failure=words, warnings=(*given.warnings, notice)) if words else given


def with_usage(given: Conversation, usage: Usage, *, of_reply: bool) -> Conversation:
    """Return the conversation with the usage of its last reply, or of all of it."""
    replies = (at for at, one in enumerate(given.messages) if one.role == "assistant")
    last = max(replies, default=None) if of_reply else None
    if last is None:
        return replace(given, usage=usage)
    reply = given.messages[last]
    paid = replace(reply, usage=reply.usage or usage)
    return replace(given, messages=(*given.messages[:last], paid, *given.messages[last + 1 :]))


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
            words = f"a result for {answered!r}, for which no call waits"
            yield Notice("orphan-result", words, sources[index])


def kinds_of(framework: str) -> Kinds:
    """Return the words of a framework's parts by kind, as `kinds.toml` lists them."""
    return table_of_kinds(KNOWN["parts"][framework])


def read_content(content: JsonValue, kinds: Kinds, reading: Reading) -> None:
    """Add content to the open message: text, a list of parts, or any other value as JSON."""
    for part in parts_of(content, kinds):
        read_part(part, reading, content)


def read_part(
    part: Part, reading: Reading, holder: object = None, *, nameless: str | None = None
) -> None:
    """Add one part to the open message. `holder` is what the part's path begins at, by default the
    message. `nameless` says that ids may be missing: calls without one are given some, by which
    results of the same name find them, or of this one if they have none.
    """
    reading.part, reading.holder = part, reading.message if holder is None else holder
    name = word(part.name) or tool_name(part.given)
    match part.kind:
        case "silent" if part.given is None:
            reading.notice("empty-item", "nothing is where a part belongs")
        case "thought":
            reading.thought(part.text)
        case "summary":
            reading.summary(part.text)
        case "call":
            made = reading.waiting_id(name) if part.id is None and nameless is not None else None
            reading.call(part.name, part.arguments, part.id if made is None else made)
        case "result":
            answered = reading.identified(part.id)
            if answered is None and nameless is not None:
                answered = reading.answered_id(name or nameless)
            reading.result(answered, part.text, part.is_error, name)
        case "unknown":
            reading.notice("unknown-part", f"a part {unknown_words(part)} is kept as content")
    if part.kind in {"text", "refusal", "media", "unknown"}:
        reading.text(part.text, part.role)


def tool_name(result: object) -> str:
    """Return the name of a result's tool, or ""; it is needed where the call's id is missing."""
    return word(first(result, ("name", "tool_name", "toolName")))
