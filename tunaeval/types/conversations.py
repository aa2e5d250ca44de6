"""A conversation as an adapter read it, with the index of each message in the caller's list."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeAlias

from .calls import JsonValue
from .messages import Message, ToolExecution, Usage
from .parsing import ParseResult


class Notice(NamedTuple):
    """A problem in a transcript: its `code`, a message, and where it is. `source` is the index of
    the caller's message, or None for the conversation as a whole. `path` is the JSON Pointer of
    the place in the document or file (`/history/6/content/1`), or None if it is not known.
    """

    code: str
    message: str
    source: int | None = None
    path: str | None = None


class Checked(NamedTuple):
    """The result of a check of the outcome: whether it passed, and why. `ok` is None if the check
    itself failed, and then `words` says how.
    """

    ok: bool | None
    words: str

    def __str__(self) -> str:
        result = "failed" if self.ok is None else "passed" if self.ok else "says no"
        return f"the check {result}" + (f": {self.words}" if self.words else "")


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that was read from a framework's messages.

    One of the caller's messages may become several, or none: `sources[i]` is the index of the
    caller's message from which `messages[i]` was read, and `length` is how many messages the caller
    has. `shape` names the adapter. `query` is what was asked, if it is given or a user's message
    says it. `usage` is the usage of the whole session, `name` its name in its file, and `failure`
    the error that ended the run. `start` is the index of the caller's message at which the run
    begins; those before it were copied from another one, and scores begin behind them.

    Examples:
        >>> conversation = tunaeval.read_conversation([{"role": "user", "content": "Hello"}])
        >>> conversation.shape, conversation.messages[0].content
        ('openai-chat', 'Hello')
    """

    messages: tuple[Message, ...] = ()
    sources: tuple[int, ...] = ()
    length: int = 0
    shape: str = ""
    warnings: tuple[Notice, ...] = ()
    query: str | None = None
    usage: Usage | None = None
    name: str = ""
    failure: str | None = None
    tools: tuple[JsonValue, ...] = ()
    start: int = 0

    def since(self, start: int) -> Self:
        """Return the part from the caller's message `start` on, with a query of its own."""
        if start == 0:
            return self
        kept = [i for i, source in enumerate(self.sources) if source >= start]
        messages = tuple(self.messages[i] for i in kept)
        return replace(
            self,
            messages=messages,
            sources=tuple(self.sources[i] for i in kept),
            query=asked(messages),
            usage=None,  # known only for the whole session
        )


Results: TypeAlias = dict[str | None, deque[int]]


def results_of(messages: Sequence[Message]) -> Results:
    """Return the indices of tool results by their call's id, in order; by None if it is unknown."""
    results: Results = {}
    for index, message in enumerate(messages):
        if message.is_result:
            results.setdefault(message.tool_call_id, deque()).append(index)
    return results


class PendingCalls:
    """The calls of a conversation that wait for their results, in the order of the conversation."""

    def __init__(self) -> None:
        self._waiting: dict[int, str | None] = {}
        self._queues: dict[tuple[str, str | None], deque[int]] = {}
        self._count = 0

    def add(self, call_id: str | None, name: str | None) -> None:
        self._count += 1
        self._waiting[self._count] = call_id
        for key in (("id", call_id), ("name", name)):
            self._queues.setdefault(key, deque()).append(self._count)

    def answered(self, call_id: str | None, name: str | None = None) -> str | None:
        """Return the id of the call that a result answers, which then waits no more.

        A result without an id answers the only call that waits, or else the first of its name. If
        it has neither, it is an orphan, and None is returned.
        """
        queue = self._queues.get(("id", call_id) if call_id else ("name", name or None), deque())
        if not call_id and len(self._waiting) == 1:
            queue = deque(self._waiting)
        while queue:
            if (number := queue.popleft()) in self._waiting:
                return self._waiting.pop(number)
        return call_id or None


def asked(messages: tuple[Message, ...]) -> str | None:
    """Return the first text of a user that is not blank, or None if there is none."""
    texts = (message.content for message in messages if message.role == "user")
    return next((text for text in texts if text.strip()), None)


@dataclass(frozen=True, slots=True)
class Transcript:
    """What an agent did for one task: the query, the messages from its start, and the tools' runs.

    `checked` is the result of a check of the outcome, or None. `failure` is the error that ended
    the run. `written` has messages without structured calls whose text contains a call or an
    attempt at one: the index of each, and its parsed text; it is empty if the texts were not
    parsed.
    """

    query: str
    messages: tuple[Message, ...]
    executions: tuple[ToolExecution, ...] = ()
    checked: Checked | None = None
    failure: str | None = None
    written: tuple[tuple[int, ParseResult], ...] = ()
