"""A conversation as an adapter read it, with the way back to the messages of whoever gave it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self, TypeAlias

from .messages import Message, Usage


class Notice(NamedTuple):
    """Something in a transcript that is not as it should be: what (`code`), in words, and where.

    `source` is the index of the caller's message, None for the conversation as a whole.
    """

    code: str
    message: str
    source: int | None = None


class Checked(NamedTuple):
    """What a check of the outcome came to: whether it passed, and its words.

    `ok` is None where the check itself failed; then the words say how.
    """

    ok: bool | None
    words: str

    def __str__(self) -> str:
        said = "failed" if self.ok is None else "passed" if self.ok else "says no"
        return f"the check {said}" + (f": {self.words}" if self.words else "")


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages of ours, read from those of a framework.

    One of the caller's messages may have become several, or none: `sources[i]` is the index of the
    caller's message that `messages[i]` was read from, and `length` is how many the caller has.
    `shape` names the adapter. `query` is what was asked, where it is given or a user says it;
    `usage` is what a whole session reports of itself; `name` is what its file calls it; `failure`
    is what it says of an error that ended the run itself.

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

    def since(self, start: int) -> Self:
        """The task that begins at the caller's message `start`; another task, another query."""
        if start == 0:
            return self
        kept = [i for i, source in enumerate(self.sources) if source >= start]
        messages = tuple(self.messages[i] for i in kept)
        return replace(
            self,
            messages=messages,
            sources=tuple(self.sources[i] for i in kept),
            query=asked(messages),
            usage=None,  # is of the whole session
        )


Results: TypeAlias = dict[str | None, deque[int]]


def results_of(messages: Sequence[Message]) -> Results:
    """The indices of the results for each call's id, in order; None stands for those without."""
    results: Results = {}
    for index, message in enumerate(messages):
        if message.is_result:
            answered = message.tool_call_id
            if answered in results:
                results[answered].append(index)
            else:
                results[answered] = deque((index,))
    return results


def asked(messages: tuple[Message, ...]) -> str | None:
    """What the first user who says anything says."""
    said = (message.content for message in messages if message.role == "user")
    return next((text for text in said if text.strip()), None)
