"""Defects of parsing that are the same whole and streamed: how a sound answer is spoilt."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]


@dataclass
class Answered:
    """One answer before it is written to the wire."""

    text: str
    content: str | None
    reasoning: str
    calls: list[dict[str, Any]]
    finish: str
    prompt_tokens: int
    tokens: list[str] = field(default_factory=list)


def unspoilt(made: Answered, body: Body) -> None:
    """Nothing is wrong."""


def _left_in_content(made: Answered, _: Body) -> None:
    if made.calls:
        made.content, made.calls, made.finish = made.text, [], "stop"


def _closer_ends(made: Answered, body: Body) -> None:
    if "write </tool_call>" in made.text:
        _left_in_content(made, body)


def _left_at_none(made: Answered, body: Body) -> None:
    if body.get("tool_choice") == "none":
        _left_in_content(made, body)


def _second_lost(made: Answered, _: Body) -> None:
    made.calls = made.calls[:1]


def _emptied(made: Answered, _: Body) -> None:
    if made.calls:
        made.content, made.calls, made.finish = "", [], "stop"


def _inner_name(made: Answered, _: Body) -> None:
    for call in made.calls:
        call["name"] = json.loads(call["arguments"]).get("name", call["name"])


def _with_values(change: Callable[[Any], Any]) -> Callable[[Answered, Body], None]:
    def spoil(made: Answered, _: Body) -> None:
        for call in made.calls:
            found = json.loads(call["arguments"])
            call["arguments"] = json.dumps({key: change(value) for key, value in found.items()})

    return spoil


def _thought_in_content(made: Answered, _: Body) -> None:
    if made.reasoning:
        made.content = f"<think>{made.reasoning}</think>{made.content or ''}"
        made.reasoning = ""


def _says_stop(made: Answered, _: Body) -> None:
    made.finish = "stop"


def _underscored(made: Answered, _: Body) -> None:
    for call in made.calls:
        call["name"] = call["name"].replace("-", "_")


def _same_ids(made: Answered, _: Body) -> None:
    for at, call in enumerate(made.calls):
        call["id"] = f"call_{at}"


SPOILING: dict[str, Callable[[Answered, Body], None]] = {
    "no-parser": _left_in_content,
    "closer-ends-a-call": _closer_ends,
    "none-leaves-markup": _left_at_none,
    "no-flags-but-none": _left_at_none,
    "second-call-lost": _second_lost,
    "answer-empty": _emptied,
    "inner-name-called": _inner_name,
    "all-values-strings": _with_values(lambda v: v if isinstance(v, str) else json.dumps(v)),
    "blanks-stripped": _with_values(lambda v: v.strip() if isinstance(v, str) else v),
    "reasoning-in-content": _thought_in_content,
    "finish-stop": _says_stop,
    "ids-again": _same_ids,
    "dashes-become-underscores": _underscored,
}
