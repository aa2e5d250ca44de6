"""When a quote ends a string: if what follows, after white space, is legal there.

In an object a value's string is followed by a closer, or by a comma and something that looks like
a key; in an array by a closer, or by a comma and the start of a value. Everything else makes the
quote one that the writer forgot to escape. A key ends at its first quote. The look-ahead has a
fixed size, so that whole texts and streams decide alike.
"""

from __future__ import annotations

import re

from tunaeval.window import Window

CLOSING = {'"': '"', "'": "'", "“": '“”"', "‘": "‘’'"}
"""The characters that may end a string, by the (left) quote that began it."""

_MOST_SPACE = 200
_MOST_KEY = 70

_NEAR = r"[ \t\r\n]{0,24}+"
_PLAIN_KEY = r"""(?:"[^"\\\n]{0,70}+"|'[^'\\\n]{0,70}+'|[A-Za-z_$][\w$-]{0,70}+)"""
_START = r"""["'{\[0-9-]"""

SURELY = {
    "value": rf"(?={_NEAR}(?:[}}\]]|,{_NEAR}(?:{_PLAIN_KEY}{_NEAR}:|[}}\],])))",
    "element": rf"(?={_NEAR}(?:[}}\]]|,{_NEAR}(?:{_START}|[\],])))",
}
"""What follows nearly every string, for patterns: where it stands, a quote before it is the end.

By the string's role. It says nothing that the rule below does not say, only sooner.
"""

_SURELY = {role: re.compile(pattern) for role, pattern in SURELY.items()}

_SPACE = re.compile(r"[ \t\r\n]*+")
_KEY = re.compile(
    r"""(?:"(?:[^"\\\n]|\\.){0,70}+"|'(?:[^'\\\n]|\\.){0,70}+'|“[^”\n]{0,70}+”"""
    r"""|[A-Za-z_$][\w$-]{0,70}+)[ \t\r\n]{0,24}+[:=]"""
)
_CUT_KEY = re.compile(r"""["'“]?[^"'“”\n:]{0,70}+\Z""")
_LONG_KEY = re.compile(r"""["'“](?:[^"'“”\\\n]|\\.){71}""")
_ELEMENT = re.compile(r"""["'“‘{\[\]0-9-]|(?:true|false|null|True|False|None)\b|//|/\*|#""")
_WORD_START = re.compile(r"[a-zA-Z]{1,5}\Z")


def quote_ends(window: Window, role: str, stops: tuple[str, ...]) -> bool | None:
    """Whether the quote at the window's position ends its string; None: more text could tell."""
    if role == "key":
        return True
    text, index = window.text, window.pos + 1
    if _SURELY[role].match(text, index):
        return True
    return _ends(text, index, role, stops, final=window.final)


def _ends(text: str, index: int, role: str, stops: tuple[str, ...], *, final: bool) -> bool | None:
    index, char = _skip(text, index)
    if not char:
        return True if final or char is None else None
    if char in "}]":
        return True
    if char == ",":
        index, char = _skip(text, index + 1)
        if not char:
            return True if final or char is None else None
        if char == ",":  # one comma too many
            return True
        if role == "element":
            return _element_at(text, index, final=final)
        return True if char in "}]" else _key_at(text, index, final=final)
    if char == "/":
        return text[index + 1 : index + 2] in ("/", "*") if final or index + 1 < len(text) else None
    if role == "element":
        return char in "\"'“‘{["
    if char in "\"'“‘":
        return _key_at(text, index, final=final)
    return _stop_at(text, index, stops, final=final)


def _skip(text: str, index: int) -> tuple[int, str | None]:
    """The next index that is no white space and its character, "" at the end, None if too far."""
    space = _SPACE.match(text, index, index + _MOST_SPACE)
    end = space.end() if space else index
    if end - index >= _MOST_SPACE:
        return end, None
    return end, text[end : end + 1]


def _key_at(text: str, index: int, *, final: bool) -> bool | None:
    """Whether a key and a colon stand here. A key too long to see is taken for one."""
    if text.startswith(("//", "/*", "#"), index) or _KEY.match(text, index):
        return True
    if _LONG_KEY.match(text, index):
        return True
    char = text[index]
    if not (char in "\"'“/_$" or char.isalpha()):
        return False
    if final:
        return bool(_CUT_KEY.match(text, index))
    undecided = len(text) - index < _MOST_KEY + 30
    return None if undecided else False


def _element_at(text: str, index: int, *, final: bool) -> bool | None:
    if _ELEMENT.match(text, index):
        short = not final and index + 5 >= len(text) and text[index].isalpha()
        return None if short else True
    if not final and (_WORD_START.match(text, index) or text[index:] == "/"):
        return None
    return False


def _stop_at(text: str, index: int, stops: tuple[str, ...], *, final: bool) -> bool | None:
    near = False
    for stop in stops:
        if text.startswith(stop, index):
            return True
        near = near or stop.startswith(text[index : index + len(stop)])
    return None if near and not final else False
