"""Find calls that make two guesses, by a repeated key or by two keys for one thing.

Like every JSON reader, ours takes the last of equal keys; of several keys for the name, or for the
arguments, it takes its format's own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

import orjson

from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, ToolCall
from tunaeval.types.parsing import Diagnosis


def has_two_keys(text: str) -> bool:
    """Whether the text may have two keys for one thing; a cheap test."""
    inputs = ('"arguments"' in text) + ('"parameters"' in text) + ('"args"' in text)
    if inputs + ('"input"' in text) > 1:
        return True
    names = ('"name"' in text) + ('"function"' in text) + ('"tool"' in text)
    return names + ('"tool_name"' in text) > 1


def two_keys(text: str, calls: Sequence[ToolCall]) -> Iterator[int]:
    """Yield the indices of calls whose object has two keys for one thing, with different values."""
    for index, call in enumerate(calls):
        if call.span is None or text[call.span.start : call.span.start + 1] != "{":
            continue
        try:
            value = orjson.loads(text[call.span.start : call.span.end])
        except orjson.JSONDecodeError:  # the call was repaired, then, which costs as much
            continue
        if two_guesses(value):
            yield index


def two_guesses(value: object) -> bool:
    """Whether an object has two keys for the name, or for the arguments, with different values."""
    if not isinstance(value, Mapping):
        return False
    names = [value[key] for key in NAME_KEYS if isinstance(value.get(key), str)]
    inputs = [value[key] for key in ARGUMENTS_KEYS if key in value]
    return any(name != names[0] for name in names) or any(one != inputs[0] for one in inputs)


def keys_twice(diagnoses: Sequence[Diagnosis], calls: Sequence[ToolCall]) -> Iterator[int]:
    """Yield the indices of calls with a repeated key, of which the first was a guess."""
    twice = sorted(note.span for note in diagnoses if note.code == "duplicate-key" and note.span)
    for index, call in enumerate(calls if twice else ()):
        if call.span is not None:
            at = bisect_left(twice, call.span)
            if at < len(twice) and twice[at].start < call.span.end:
                yield index
