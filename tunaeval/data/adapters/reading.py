"""A conversation that is being read: the messages so far, the open message, and the notices.

An adapter begins a message and adds what it finds, in order. What is odd about calls and results
as a whole is found at the end, in another pass.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from tunaeval.types.calls import INVALID_ARGUMENTS, JsonValue, ToolCall
from tunaeval.types.conversations import Conversation, Notice, Results, asked, results_of
from tunaeval.types.messages import Message, Usage

from .calls import call_of

NOTICES = {
    "call-of-user": "a call that the user makes, which is none of the agent's; it is kept as text",
    "compacted": "earlier messages were replaced by a summary",
    "dangling-call": "a call without a result",
    "duplicate-id": "an id that more than one call has; results are joined in order",
    "early-result": "a result that comes before its call",
    "empty-item": "nothing is where a message belongs",
    "failed-reply": "a reply that ended in an error or was aborted",
    "failed-run": "the run itself ended in an error, so nothing is known of the agent",
    INVALID_ARGUMENTS: "a call whose arguments are no JSON object; it has none here",
    "missing-attachment": "a text that was put elsewhere and is not there",
    "orphan-result": "a result that answers no call",
    "removed-message": "a note that a message was removed; it is empty",
    "side-conversation": "messages of a sub-agent, which are no part of this conversation",
    "unknown-part": "a part whose kind is not known; it is kept as content, an item as no message",
    "unknown-role": "a role that is not known; what it says is neither asked nor answered",
    "unnamed-call": "a call without a name",
    "unread-message": "a message of which nothing was read, though it has fields of another shape",
}
"""Every code of a `Notice` with its meaning."""


@dataclass(slots=True)
class _Open:
    """A message that is being read; `before` is the number of messages before it."""

    source: int
    role: str
    before: int
    usage: Usage | None = None
    at: float | None = None
    tool_call_id: str | None = None
    is_error: bool | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


class Reading:
    """Builds a conversation in order; `source` is the index of the message that is being read."""

    def __init__(self) -> None:
        self.source = 0
        self.reply: str | None = None
        """The id of the open reply, if its parts arrive one by one."""
        self._waiting: dict[str, deque[str]] = {}
        self._named = 0
        self._messages: list[Message] = []
        self._sources: list[int] = []
        self._notices: list[Notice] = []
        self._open: _Open | None = None

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
        before = len(self._messages)
        self._open = _Open(self.source, role, before, usage, at, tool_call_id, is_error)

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
        return one is not None and one.role == "assistant" and not one.calls

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
        if role is not None and role != one.role:
            self._flush(one)
            one.role = role
        if text:
            one.texts.append(text)

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
        self._opened().calls.append(call)

    def result(self, call_id: str | None, content: str, is_error: bool | None) -> None:
        """Add a result, which is always a message of its own."""
        one = self._opened()
        self._flush(one)
        self._append(
            one.source,
            Message("tool", content, tool_call_id=call_id, is_error=is_error, at=one.at),
        )

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
        return joined(self._messages, self._sources, length, shape, self._notices)

    def _opened(self) -> _Open:
        if self._open is None:
            self.begin("assistant")
        assert self._open is not None  # noqa: S101 - `begin` has just set it
        return self._open

    def _flush(self, one: _Open) -> bool:
        """Append the content of the open message as a message; False if there is none."""
        if not (one.texts or one.thoughts or one.calls):
            return False
        self._append(one.source, _message(one))
        one.usage = None  # so that it counts once
        one.texts, one.thoughts, one.calls = [], [], []
        return True

    def _append(self, source: int, message: Message) -> None:
        self._messages.append(message)
        self._sources.append(source)


def _message(one: _Open) -> Message:
    return Message(
        role=one.role,
        content="".join(one.texts),
        tool_calls=tuple(one.calls),
        tool_call_id=one.tool_call_id,
        reasoning="".join(one.thoughts) or None,
        is_error=one.is_error,
        usage=one.usage,
        at=one.at,
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
    failed: list[int] = []
    for index, message in enumerate(messages):
        for call in message.tool_calls:
            waiting = results.get(call.id)
            result = waiting.popleft() if waiting else None
            if result is None or result < index or call.id in seen:
                found += _oddities(call, index, result, seen, sources[index])
            if call.id is not None:
                seen.add(call.id)
            if result is not None and call.repairs and call.invalid is not None:
                failed.append(result)
    found += _orphans(messages, results, sources)
    kept = tuple(_failing(messages, failed) if failed else messages)
    return Conversation(kept, tuple(sources), length, shape, tuple(found), asked(kept))


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


def _failing(messages: Sequence[Message], failed: Sequence[int]) -> list[Message]:
    """Return the messages; those at `failed` are errors unless they say otherwise."""
    found = list(messages)
    for index in failed:
        if found[index].is_error is None:
            found[index] = replace(found[index], is_error=True)
    return found
