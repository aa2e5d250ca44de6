"""The differences between two requests, in words: the place, the recorded value, the asked one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest

from tunaeval.types.calls import JsonValue

_SHOWN = 60
_NOTHING = object()


def differences(recorded: JsonValue, asked: JsonValue) -> list[str]:
    """Return one sentence for each place in which the requests differ."""
    return list(_walk(recorded, asked, ""))


def _walk(recorded: object, asked: object, place: str) -> Iterator[str]:
    if isinstance(recorded, Mapping) and isinstance(asked, Mapping):
        for name in dict.fromkeys((*recorded, *asked)):
            inner = f"{place}.{name}" if place else str(name)
            yield from _walk(recorded.get(name, _NOTHING), asked.get(name, _NOTHING), inner)
    elif isinstance(recorded, list) and isinstance(asked, list):
        for index, (old, new) in enumerate(zip_longest(recorded, asked, fillvalue=_NOTHING)):
            yield from _walk(old, new, f"{place}[{index}]")
    elif recorded != asked or type(recorded) is not type(asked):
        yield f"{place}: recorded {_shown(recorded, asked)}, asked {_shown(asked, recorded)}"


def _shown(value: object, other: object) -> str:
    """Return a value as text, or the part of a long text around the first difference."""
    if value is _NOTHING:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) <= _SHOWN:
        return repr(text) if isinstance(value, str) else text
    same = 0
    if isinstance(value, str) and isinstance(other, str):
        pairs = zip(value, other, strict=False)
        same = next((at for at, (one, two) in enumerate(pairs) if one != two), 0)
    start = max(0, same - _SHOWN // 3)
    cut = text[start : start + _SHOWN]
    return f"{'…' if start else ''}{cut!r}{'…' if start + _SHOWN < len(text) else ''}"
