"""A conversation written in steps, which each framework writes in its own way."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tunaeval.testing.strategies import json_values, prose


class Asked(NamedTuple):
    """Somebody asks something."""

    text: str


class Called(NamedTuple):
    """The model says something, and calls: name, arguments, id."""

    text: str
    calls: tuple[tuple[str, dict[str, Any], str], ...]


class Answered(NamedTuple):
    """Tools answer, in any order: the call's id, a text, and whether it is an error."""

    results: tuple[tuple[str, str, bool], ...]


Step = Asked | Called | Answered
Messages = list[dict[str, Any]]

_NAMES = st.sampled_from(["read_file", "bash", "läs", "x"])
# There and back: two lone surrogates side by side are one character to whoever reads JSON.
_ARGUMENTS = st.dictionaries(st.text(max_size=4), json_values(3), max_size=2).map(
    lambda arguments: json.loads(json.dumps(arguments))
)


@st.composite
def conversations(draw: st.DrawFn, most: int = 3) -> list[Step]:
    """A question, then rounds of calls; some are never answered, none has another's id."""
    steps: list[Step] = [Asked(draw(prose()))]
    made = 0
    for _ in range(draw(st.integers(1, most))):
        calls = []
        for _ in range(draw(st.integers(1, 2))):
            calls.append((draw(_NAMES), draw(_ARGUMENTS), f"c{made}"))
            made += 1
        steps.append(Called(draw(prose()), tuple(calls)))
        ids = draw(st.permutations([call_id for _, _, call_id in calls]))
        answers = [
            (call_id, draw(prose()), draw(st.booleans())) for call_id in ids if draw(st.booleans())
        ]
        if answers:
            steps.append(Answered(tuple(answers)))
        if draw(st.booleans()):
            steps.append(Asked(draw(prose())))
    return steps
