"""The fields of a request: those that an ask adds, and those that the server refused before."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tunaeval.types.calls import JsonObject, JsonValue

from . import asks
from .raw import extras, prompt_extras
from .seen import names_flags
from .values import Answer, Ask

Kind: TypeAlias = Literal["whole", "streamed", "prompt"]

_THOUGHT_TOKENS = 2000
"""Additional `max_tokens` for a model that reasons before it calls."""
_REFUSED = (400, 404, 415, 422, 500, 501)
"""Status codes with which servers refuse a field that they do not know."""
_NEW_LIMIT = "max_completion_tokens"
"""The name that OpenAI's newest models require in place of max_tokens."""


class Fields:
    """The request fields for one server; a field that was accepted once is kept."""

    def __init__(self, kind: str) -> None:
        self._more: dict[Kind, list[JsonObject]] = {
            "whole": list(extras(kind, streamed=False)),
            "streamed": list(extras(kind, streamed=True)),
            "prompt": list(prompt_extras(kind)),
        }
        self._settled: set[Kind] = set()
        self._limit_field = "max_tokens"
        self._temperature: JsonObject = {"temperature": 0}
        self.thinks = False

    def payload(self, ask: Ask, model: str | None) -> dict[str, JsonValue]:
        thinking = self.thinks and ask.max_tokens > asks.CUT_TOKENS
        return {
            **({"model": model} if model else {}),
            "messages": list(ask.messages),
            self._limit_field: ask.max_tokens + (_THOUGHT_TOKENS if thinking else 0),
            **self._temperature,
            **({"tools": list(ask.tools)} if ask.tools else {}),
            **({"stream": True} if ask.streamed else {}),
            **self._of(ask),
            **ask.more,
        }

    def counts(self, ask: Ask) -> bool:
        """Whether the answer to this ask must report usage."""
        return not ask.streamed or "stream_options" in self._of(ask)

    def learn(self, answer: Answer) -> bool:
        """Learn from an answer; return whether to repeat the ask without a refused field."""
        if answer.ok:
            self._settled.add(_kind(answer.ask))
            return False
        if answer.status not in _REFUSED or names_flags(answer):
            return False
        return self._adapt(answer) or self._fewer(answer.ask)

    def _of(self, ask: Ask) -> JsonObject:
        return {} if "model" in ask.more else self._more[_kind(ask)][0]

    def _fewer(self, ask: Ask) -> bool:
        left = self._more[_kind(ask)]
        if _kind(ask) in self._settled or len(left) == 1 or "model" in ask.more:
            return False
        left.pop(0)
        return True

    def _adapt(self, answer: Answer) -> bool:
        """Adapt to a refusal of one field: rename the token limit, or omit the temperature."""
        message = answer.error or ""
        if _NEW_LIMIT in message and self._limit_field != _NEW_LIMIT:
            self._limit_field = _NEW_LIMIT
            return True
        if "temperature" in message and self._temperature:
            self._temperature = {}
            return True
        return False


def _kind(ask: Ask) -> Kind:
    return "prompt" if ask.max_tokens == 1 else ask.mode
