"""How large the context became: by what the server reported, else by counting what was said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tunaeval.types.messages import Message

from .history import History

_NOT_OF_THE_TASK = frozenset({"system", "developer"})


class ContextSize(NamedTuple):
    """Tokens, how they are known, and the messages whose requests reported them."""

    tokens: float
    how: str
    reports: tuple[int, ...] = ()


def context_size(history: History) -> ContextSize:
    """The most tokens that were in the context at once.

    A report covers its reply and all before it, the system's text too. What came after the last one
    is counted, without texts of the system and without reasoning, which templates drop.
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
    """Index and tokens of each reply whose request was reported on."""
    for index, message in enumerate(messages):
        usage = message.usage
        if usage is not None and usage.prompt_tokens is not None and usage.prompt_tokens >= 0:
            yield index, usage.prompt_tokens + max(0, usage.completion_tokens or 0)


def _texts(history: History, begin: int) -> list[str]:
    """What was said, called and answered, from a message on; a call by tool and arguments."""
    messages = history.transcript.messages[begin:]
    said = [message.content for message in messages if message.role not in _NOT_OF_THE_TASK]
    return said + [run.key for run in history.runs if run.message >= begin]
