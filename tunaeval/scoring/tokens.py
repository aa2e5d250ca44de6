"""Count a text's tokens with a named tokenizer, or estimate characters / 4 without one.

Nothing is downloaded: a tokenizer is passed in as a loaded object.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from tunaeval.errors import UsageError

_CHARACTERS_PER_TOKEN = 4  # a rule of thumb for English


@runtime_checkable
class _EncodesOrdinary(Protocol):
    """tiktoken: unlike its `encode`, this accepts text that spells a special token."""

    def encode_ordinary(self, text: str) -> Sized: ...


@runtime_checkable
class _Encodes(Protocol):
    """tokenizers, transformers, sentencepiece."""

    def encode(self, text: str) -> Sized: ...


CountsTokens: TypeAlias = Callable[[str], int] | _EncodesOrdinary | _Encodes


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A counter of a text's tokens; its `name` is given in the reasons of values based on it."""

    name: str
    count: Callable[[str], float]


ESTIMATE = TokenCounter(
    f"characters / {_CHARACTERS_PER_TOKEN}", lambda text: len(text) / _CHARACTERS_PER_TOKEN
)


def counter_of(given: CountsTokens | None) -> TokenCounter:
    """Return the given counter, or the estimate. Raises UsageError for an invalid one."""
    if given is None:
        return ESTIMATE
    if isinstance(given, str | bytes):  # these have an `encode` method, too
        raise _no_counter(given)
    name = _name_of(given)
    # A tokenizer of transformers is also callable, but does not return a number then.
    if isinstance(given, _EncodesOrdinary):
        ordinary = given.encode_ordinary
        return TokenCounter(name, lambda text: len(ordinary(text)))
    if isinstance(given, _Encodes):
        encode = given.encode
        return TokenCounter(name, lambda text: len(encode(text)))
    if callable(given):
        count = given
        return TokenCounter(name, lambda text: _number(name, count(text)))
    raise _no_counter(given)


def _no_counter(given: object) -> UsageError:
    return UsageError(
        f"count_tokens is {given!r:.60}; "
        "wanted count(text) -> int, or a tokenizer with encode(text)"
    )


def _name_of(given: object) -> str:
    for attribute in ("name", "name_or_path", "__name__"):
        name = getattr(given, attribute, None)
        if isinstance(name, str) and name:
            return name
    return f"{type(given).__module__}.{type(given).__qualname__}"


def _number(name: str, count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 0:
        raise UsageError(f"{name} counted {count!r:.60} tokens, wanted a whole number from 0 up")
    return count
