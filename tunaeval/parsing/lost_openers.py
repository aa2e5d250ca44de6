"""Whether what is before a closer looks like a call, although nothing was met that begins one.

Only what is near decides, so that a stream says the same as a whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from tunaeval.grammar import (
    Arguments,
    CallObject,
    Elements,
    Format,
    Literal,
    Many,
    PythonCalls,
    Space,
    Word,
)
from tunaeval.limits import KEPT
from tunaeval.types import Tools

from .finder import Token

_WORDS = re.compile(r"[\w.-]++")
_IN_OBJECT = re.compile(r"""["']\s*+[:,}\]]|[{,]\s*+\w++\s*+:""")
_KEYS = [re.compile(rf"""["'](?:{key})["']\s*+:""") for key in ("name", "arguments|parameters")]
"""Those of a call as JSON."""
_IN_CALL = re.compile(r"""\w\(\s*+(?:\w++\s*+=|["')])|,\s*+\w++\s*+=""")


class Ending(NamedTuple):
    """What calls of a format end with before their closer, and what is somewhere before that."""

    texts: tuple[str, ...]
    inside: re.Pattern[str]


def ends_call(token: Token, before: str, tools: Tools | None) -> bool:
    """Whether `before`, at most `KEPT` characters, ends as a call does that this closer ends.

    The name of a tool alone is a call, too. A closer of signs alone proves nothing.
    """
    if token.ends is None:
        closes = token.kind in ("close", "end") and any(map(str.isalpha, token.text))
        token.ends = tuple(map(_ending, token.formats if closes else ()))
    body = before.rstrip()
    likely = (ending.inside for ending in token.ends if body.endswith(ending.texts))
    if any(_is_in(body, inside, token, tools) for inside in likely):
        return True
    return bool(token.ends) and ends_in_tool(body, tools)


def ends_in_tool(text: str, tools: Tools | None) -> bool:
    """Whether the last word is the name of a tool."""
    return _any_tool(_WORDS.findall(text)[-1:], tools)


def _is_in(body: str, inside: re.Pattern[str], token: Token, tools: Tools | None) -> bool:
    """Whether a call is in there: an object with keys or strings, or tags of arguments.

    An object in an element that has the closer's name is one only if it names a tool or has the
    keys of a call, and one in quotes is none: that shows in its last line. Tags may be farther away
    than can be seen.
    """
    found, whole = inside.search(body) is not None, len(body) < KEPT
    if inside not in (_IN_OBJECT, _IN_CALL):
        return found or not whole
    _, lines, line = body.rpartition("\n")
    if not found or ((whole or lines) and line.count('"') % 2):
        return False
    element = f"<{token.text[2:-1]}" if token.text.startswith("</") else "\0"
    in_element = f"{element} " in body or f"{element}>" in body
    keyed = all(key.search(body) for key in _KEYS)
    return not in_element or keyed or _any_tool(_WORDS.findall(body), tools)


def _any_tool(words: Iterable[str], tools: Tools | None) -> bool:
    return tools is not None and any(word in tools for word in words)


def _ending(form: Format) -> Ending:
    """How a call of this format ends: what is right before its closer, and what is in it."""
    words = [word for word in form.words if not isinstance(word, Space) and word != form.closer]
    last, inside = words[-1], _IN_OBJECT
    if row := next((word for word in words if isinstance(word, Many)), None):
        inside = re.compile(re.escape(_literals(row.words)[0].text))
        last = _literals(row.words)[-1] if last is row else last
    if isinstance(last, Literal):
        return Ending(tuple(filter(None, map(str.rstrip, last.spellings))), inside)
    return _LAST.get(type(last), Ending((), inside))


def _literals(words: Iterable[Word]) -> list[Literal]:
    return [word for word in words if isinstance(word, Literal)]


_LAST: Mapping[type[Word], Ending] = {
    CallObject: Ending(("}", "]"), _IN_OBJECT),
    Arguments: Ending(("}", "]"), _IN_OBJECT),
    PythonCalls: Ending((")", "]"), _IN_CALL),
    Elements: Ending((">",), re.compile(r"<\w")),
}
"""What comes before the closer; arguments one by one end with their last tag."""
