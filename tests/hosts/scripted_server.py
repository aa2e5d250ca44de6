"""A model endpoint for the programs of hosts: its turns are set for each case, its exchanges kept.

It is the one of the library, `tunaeval.model_endpoint`, so every host that is tried here is also
driven by that, untouched.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import tunaeval
from tunaeval import ModelRequest

MODEL = "gpt-4o-scripted"


class Call(NamedTuple):
    """A call that the model makes."""

    id: str
    name: str
    arguments: dict[str, Any]


Turn = str | tuple[Call, ...]
"""What the model says once: a text, or calls."""


class Exchange(NamedTuple):
    """What the model was asked, and what it said."""

    request: dict[str, Any]
    reply: dict[str, Any]


class ScriptedModel:
    """The model: its turns still to come, and the exchanges until now."""

    def __init__(self) -> None:
        self.url = ""
        self.turns: deque[Turn] = deque()
        self.exchanges: list[Exchange] = []

    def plays(self, *turns: Turn) -> None:
        """Say these next, and forget what was said before."""
        self.turns = deque(turns)
        self.exchanges = []

    def answer(self, request: ModelRequest) -> dict[str, Any]:
        """Its next message; once the script is over it has nothing to say."""
        turn = self.turns.popleft() if self.turns else "The script is over."
        reply: dict[str, Any] = {"role": "assistant", "content": turn}
        if isinstance(turn, tuple):
            calls = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in turn
            ]
            reply = {"role": "assistant", "content": None, "tool_calls": calls}
        self.exchanges.append(Exchange(request.body, reply))
        return reply


@contextmanager
def scripted_model() -> Iterator[ScriptedModel]:
    """The model, served at its `url` until the block ends."""
    model = ScriptedModel()
    with tunaeval.model_endpoint(model.answer, model=MODEL) as served:
        model.url = served.url
        yield model
