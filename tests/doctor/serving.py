"""How a loopback server serves, and the tokens that it gives away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.doctor.scripted_model import Written


@dataclass(frozen=True)
class Served:
    """How this server serves: its defect, chance, and the model behind it."""

    defect: str
    chance: Random
    model: Callable[[Sequence[dict[str, Any]]], Written]
    raw: bool
    plain: bool = False
    """Streams have line feeds alone, no comments and no byte order mark."""


def logprobs(tokens: Sequence[str], served: Served) -> dict[str, Any]:
    """The tokens as servers give them; some give no bytes."""
    with_bytes = served.chance.random() < 0.5
    return {
        "content": [
            {"token": token, "logprob": -0.1, "top_logprobs": [],
             "bytes": list(token.encode()) if with_bytes else None}
            for token in tokens
        ]
    }  # fmt: skip
