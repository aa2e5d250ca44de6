r"""Read a judge's reply: one JSON object with exactly the wanted keys and a number on the scale.

    one category     {"reason": "...", "score": 7}
    several          {"goal-completion": {"reason": "...", "score": 7}, ...}

A code fence may surround it, and reasoning may precede it. Everything else is no verdict: prose,
another key, a score off the scale, two answers that differ. If the server had a schema of the
reply, only the whole numbers in the schema are scores; otherwise 7.5 and "7/10" are scores, too,
and a bare 7/10 is a reply. Numbers elsewhere in a text are never searched for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.json_text import RepeatedKeyError, decoded_at

MAX_CHARACTERS = 100_000
"""The most characters of a reply; a longer one is no verdict."""

_MAX_OBJECTS = 8  # equal answers in one reply
_KEYS = ("reason", "score")
_SHOWN = 80  # characters of a value in an error
_SPACE = re.compile(r"[ \t\r\n]*+")
_FRACTION = re.compile(
    r"([0-9]{1,6}(?:\.[0-9]{1,6})?)[ ]{0,3}(?:/|of|out of)[ ]{0,3}([0-9]{1,6})\.?"
)


class JudgedScore(NamedTuple):
    """A judge's score of a category, from 0 to 1, with its reason; or None, and what was wrong."""

    value: float | None
    words: str


class _NoVerdictError(ValueError):
    """The reason why a judge's reply, or a part of it, cannot be used."""


def reply_schema(names: Sequence[str], scale: int) -> JsonObject:
    """Return the JSON schema of a judge's reply on these categories, scored from 0 to `scale`."""
    one = _object({"reason": {"type": "string"}, "score": {"enum": list(range(scale + 1))}})
    return one if len(names) == 1 else _object(dict.fromkeys(names, one))


def reply_shape(names: Sequence[str], scale: int) -> str:
    """Return an example of a judge's reply on these categories, to show in the prompt."""
    one = f'{{"reason": "<one or two sentences>", "score": <number from 0 to {scale}>}}'
    several = ", ".join(f'"{name}": {one}' for name in names)
    return one if len(names) == 1 else f"{{{several}}}"


def read_answers(
    text: str, names: Sequence[str], scale: int, *, by_schema: bool = False
) -> dict[str, JudgedScore]:
    """Read the score of each named category in a judge's reply. Never raises: a bad score is None.

    `by_schema` says that the server was given the `reply_schema`.
    """
    try:
        found = _found(_bare(text), names, scale, by_schema=by_schema)
    except _NoVerdictError as why:
        return dict.fromkeys(names, JudgedScore(None, str(why)))
    return {name: _judged_score(found[name], scale, by_schema=by_schema) for name in names}


def _found(
    text: str, names: Sequence[str], scale: int, *, by_schema: bool
) -> Mapping[str, JsonValue]:
    """Return a reply's part on each category, not validated yet. Raises _NoVerdictError."""
    if len(names) == 1:
        fraction = None if by_schema else _FRACTION.fullmatch(text)
        if fraction:
            return {names[0]: _of_fraction(fraction, scale)}
        return {names[0]: _one_object(text)}
    found = _one_object(text)
    _check_keys(found, names)
    return found


def _judged_score(found: JsonValue, scale: int, *, by_schema: bool) -> JudgedScore:
    try:
        _check_keys(found, _KEYS)
        share = _whole_share if by_schema else _share
        return JudgedScore(share(found["score"], scale), _reason(found["reason"]))
    except _NoVerdictError as why:
        return JudgedScore(None, str(why))


def _reason(reason: JsonValue) -> str:
    if not isinstance(reason, str):
        raise _NoVerdictError(f"the reason is {brief(reason)}; wanted a text")
    return reason.strip() or "no reason given"


def _whole_share(score: JsonValue, scale: int) -> float:
    """Return a whole score (8.0 is one, too) divided by the scale. Raises _NoVerdictError."""
    known = isinstance(score, int | float) and not isinstance(score, bool)
    if not known or score not in range(scale + 1):
        raise _NoVerdictError(
            f"the score is {brief(score)}; wanted a whole number from 0 to {scale}, as the "
            "schema says that the server was given"
        )
    return float(score) / scale


def _share(score: JsonValue, scale: int) -> float:
    if isinstance(score, str):
        fraction = _FRACTION.fullmatch(score.strip())
        score = _of_fraction(fraction, scale)["score"] if fraction else score
    if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= scale:
        raise _NoVerdictError(f"the score is {brief(score)}; wanted a number from 0 to {scale}")
    return score / scale


def _of_fraction(fraction: re.Match[str], scale: int) -> JsonObject:
    """Return {"reason": "", "score": 8.0} for the reply "8/10". Raises _NoVerdictError."""
    if int(fraction[2]) != scale:
        raise _NoVerdictError(f"found {fraction[0]!r}; wanted a score of {scale}")
    return {"reason": "", "score": float(fraction[1])}


def _bare(text: str) -> str:
    """Return the reply without reasoning before it and without a fence around it."""
    if len(text) > MAX_CHARACTERS:
        raise _NoVerdictError(f"the reply has {len(text)} characters; read are {MAX_CHARACTERS}")
    bare = text.strip()
    if not bare.startswith("{"):
        bare = bare.rpartition("</think>")[2].strip()
    if bare.startswith("```") and bare.endswith("```") and len(bare) > 6:
        bare = bare[3:-3].removeprefix("json").strip()
    if not bare:
        raise _NoVerdictError("the reply is empty")
    return bare


def _one_object(text: str) -> JsonObject:
    """Return the JSON object in a text. Raises _NoVerdictError for none, or for different ones."""
    try:
        first, *others = _objects(text)
    except json.JSONDecodeError:
        raise _NoVerdictError(f"found {brief(text)}; wanted one JSON object and no more") from None
    except RepeatedKeyError:
        words = "a key is in the reply twice, so there are several answers"
        raise _NoVerdictError(words) from None
    except ValueError as error:
        if isinstance(error, _NoVerdictError):
            raise
        raise _NoVerdictError(f"{error}; wanted one JSON object and no more") from None
    if not isinstance(first, dict):
        raise _NoVerdictError(f"found {brief(text)}; wanted one JSON object")
    if any(other != first for other in others):
        raise _NoVerdictError("the reply has several different answers")
    return first


def _objects(text: str) -> Iterator[JsonValue]:
    at = count = 0
    while at < len(text):
        count += 1
        if count > _MAX_OBJECTS:
            raise _NoVerdictError(f"the reply has more than {_MAX_OBJECTS} answers")
        value, at = decoded_at(text, at, duplicates="refuse")
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        yield value


def _check_keys(found: JsonValue, wanted: Sequence[str]) -> None:
    if not isinstance(found, dict):
        raise _NoVerdictError(f"found {brief(found)}; wanted an object")
    if set(found) != set(wanted):
        keys = ", ".join(sorted(found)) or "no keys"
        raise _NoVerdictError(f"found {brief(keys)}; wanted exactly {', '.join(wanted)}")


def _object(properties: JsonObject) -> JsonObject:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
