"""The size of the context: as the server reported it, else by counting tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tunaeval.types.messages import Message

from .history import History

_NOT_OF_THE_TASK = frozenset({"system", "developer"})  # roles of the host


class ContextSize(NamedTuple):
    """A number of tokens, how it is known, and the messages whose requests reported it."""

    tokens: float
    how: str
    reports: tuple[int, ...] = ()


def context_size(history: History) -> ContextSize:
    """Return the most tokens that were in the context at once.

    A report covers its reply and everything before it, including system text. Text after the last
    report is counted, without system text and without reasoning, which templates drop.
    """
    counter = history.settings.counter
    reported = list(_reported(history.transcript.messages))
    begin, latest = reported[-1] if reported else (-1, 0)
    rest = sum(map(counter.count, _texts(history, begin + 1)))
    if not reported:
        return ContextSize(rest, counter.name)
    tokens = max(latest + rest, *(tokens for _, tokens in reported))
    how = f"reported, and {rest:.0f} after that by {counter.name}" if rest else "reported"
    return ContextSize(tokens, how, (max(reported, key=lambda report: report[1])[0],))


def _reported(messages: tuple[Message, ...]) -> Iterator[tuple[int, int]]:
    """Yield the index and the reported tokens of each reply that has a report."""
    for index, message in enumerate(messages):
        usage = message.usage
        if usage is not None and usage.prompt_tokens is not None and usage.prompt_tokens >= 0:
            yield index, usage.prompt_tokens + max(0, usage.completion_tokens or 0)


def _texts(history: History, begin: int) -> list[str]:
    """Return the texts, calls and answers from a message on; a call as its tool and arguments."""
    messages = history.transcript.messages[begin:]
    texts = [message.content for message in messages if message.role not in _NOT_OF_THE_TASK]
    return texts + [run.key for run in history.runs if run.message >= begin]
