"""How many tokens a text has, by whoever can count them, named; without anybody, characters / 4.

Nothing is fetched: a tokenizer is passed in as an object that is loaded already.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from tunaeval.errors import UsageError

_CHARACTERS_PER_TOKEN = 4


@runtime_checkable
class _EncodesOrdinary(Protocol):
    """tiktoken: its `encode` refuses texts that spell a special token, this one takes them."""

    def encode_ordinary(self, text: str) -> Sized: ...


@runtime_checkable
class _Encodes(Protocol):
    """tokenizers, transformers, sentencepiece."""

    def encode(self, text: str) -> Sized: ...


CountsTokens: TypeAlias = Callable[[str], int] | _EncodesOrdinary | _Encodes


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts the tokens of a text; `name` is part of the reason of whatever rests on it."""

    name: str
    count: Callable[[str], float]


ESTIMATE = TokenCounter(
    f"characters / {_CHARACTERS_PER_TOKEN}", lambda text: len(text) / _CHARACTERS_PER_TOKEN
)


def counter_of(given: CountsTokens | None) -> TokenCounter:
    """The counter that was passed in, or the estimate. Raises UsageError for what is none."""
    if given is None:
        return ESTIMATE
    if isinstance(given, str | bytes):  # these have an `encode` of their own
        raise _no_counter(given)
    name = _name_of(given)
    # A tokenizer of transformers can be called as well, and gives no number then.
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
