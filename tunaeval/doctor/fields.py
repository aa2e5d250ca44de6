"""The fields of a request: what is sent beside an ask, and what one server was seen to refuse."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tunaeval.types.calls import JsonObject, JsonValue

from . import asks
from .raw import extras, prompt_extras
from .seen import names_flags
from .values import Answer, Ask

Kind: TypeAlias = Literal["whole", "streamed", "prompt"]

_THOUGHT_TOKENS = 2000
"""What a model that thinks has to think with, beside what its call needs."""
_REFUSED = (400, 404, 415, 422, 500, 501)
"""What a server may answer to a field that it does not know."""
_ROOM = "max_completion_tokens"
"""What the newest models of one vendor want in place of max_tokens."""


class Fields:
    """The fields for one server. Once an answer came with some, they are no longer in doubt."""

    def __init__(self, kind: str) -> None:
        self._more: dict[Kind, list[JsonObject]] = {
            "whole": list(extras(kind, streamed=False)),
            "streamed": list(extras(kind, streamed=True)),
            "prompt": list(prompt_extras(kind)),
        }
        self._settled: set[Kind] = set()
        self._room = "max_tokens"
        self._temperature: JsonObject = {"temperature": 0}
        self.thinks = False

    def payload(self, ask: Ask, model: str | None) -> dict[str, JsonValue]:
        thinking = self.thinks and ask.max_tokens > asks.CUT_TOKENS
        return {
            **({"model": model} if model else {}),
            "messages": list(ask.messages),
            self._room: ask.max_tokens + (_THOUGHT_TOKENS if thinking else 0),
            **self._temperature,
            **({"tools": list(ask.tools)} if ask.tools else {}),
            **({"stream": True} if ask.streamed else {}),
            **self._of(ask),
            **ask.more,
        }

    def counts(self, ask: Ask) -> bool:
        """Whether the answer to this ask has to have a usage."""
        return not ask.streamed or "stream_options" in self._of(ask)

    def learn(self, answer: Answer) -> bool:
        """Keep what this answer shows; True where the ask is worth another try without a field."""
        if answer.ok:
            self._settled.add(_kind(answer.ask))
            return False
        if answer.status not in _REFUSED or names_flags(answer):
            return False
        return self._other_words(answer) or self._fewer(answer.ask)

    def _of(self, ask: Ask) -> JsonObject:
        return {} if "model" in ask.more else self._more[_kind(ask)][0]

    def _fewer(self, ask: Ask) -> bool:
        left = self._more[_kind(ask)]
        if _kind(ask) in self._settled or len(left) == 1 or "model" in ask.more:
            return False
        left.pop(0)
        return True

    def _other_words(self, answer: Answer) -> bool:
        """A refusal that names its field: the limit has another name, or zero is no temperature."""
        said = answer.error or ""
        if _ROOM in said and self._room != _ROOM:
            self._room = _ROOM
            return True
        if "temperature" in said and self._temperature:
            self._temperature = {}
            return True
        return False


def _kind(ask: Ask) -> Kind:
    return "prompt" if ask.max_tokens == 1 else ask.mode
