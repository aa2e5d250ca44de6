"""When a quote ends a string: if what follows, after white space, is legal there.

In JSON it takes a longer look, for JSON is damaged most. In an object a value's string is followed
by a closer, or by a comma and something that looks like a key; in an array by a closer, or by a
comma and the start of a value. Everything else makes the quote one that the writer forgot to
escape. A key ends at its first quote. The look-ahead has a fixed size, so that whole texts and
streams decide alike.

A rule looks at the quote at the window's position and returns None to wait. Behind a quote that
ends nothing another rule looks for what shows that the string ended long ago: it gives up, back
where it should have ended, or returns whether the string goes on, false to wait.
"""

from __future__ import annotations

import re
from functools import lru_cache

from tunaeval.limits import CALL_KEY_AHEAD, KEY_AHEAD, MARGIN, NEAR_SPACE, QUOTE_AHEAD, SPACE_AHEAD
from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS
from tunaeval.window import Window

from .between import ODD_SPACES
from .repairs import UnreadableError

_PLAIN_KEY = r"""(?:"[^"\\\n]{0,70}+"|'[^'\\\n]{0,70}+'|[A-Za-z_$][\w$-]{0,70}+)"""
_START = r"""["'{\[0-9-]"""

SURELY = {
    "value": rf"(?={NEAR_SPACE}(?:[}}\]]|,{NEAR_SPACE}(?:{_PLAIN_KEY}{NEAR_SPACE}:|[}}\],])))",
    "element": rf"(?={NEAR_SPACE}(?:[}}\]]|,{NEAR_SPACE}(?:{_START}|[\],])))",
}
"""What follows nearly every string, for patterns: where it stands, a quote before it is the end.

By the string's role. It says nothing that the rule below does not say, only sooner.
"""

_SURELY = {role: re.compile(pattern) for role, pattern in SURELY.items()}

_SPACE = re.compile(rf"[ \t\r\n{ODD_SPACES}]*+")
_SHORT, _LONG = f"{{0,{KEY_AHEAD}}}+", f"{{{KEY_AHEAD + 1}}}"
_KEY = re.compile(
    rf"""(?:"(?:[^"\\\n]|\\.){_SHORT}"|'(?:[^'\\\n]|\\.){_SHORT}'|“[^”\n]{_SHORT}”|‘[^’\n]{_SHORT}’"""
    rf"""|[A-Za-z_$][\w$-]{_SHORT})"""
    rf"(?:[ \t\r\n{ODD_SPACES}]{{0,{SPACE_AHEAD}}}+[:=]|[ \t\r\n{ODD_SPACES}]{{{SPACE_AHEAD + 1}}})"
)
_CUT_KEY = re.compile(r"""["'“‘]?[^"'“”‘’\n:]{0,70}+\Z""")
_LONG_KEY = re.compile(rf"""(?:"(?:[^"\\\n]|\\.){_LONG}|['“‘](?:[^"'“”‘’\\\n]|\\.){_LONG})""")
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


WITHOUT_RESTART = r"(?:[^\"\\\x00-\x1f<`]++|<(?!/)|`(?!``))*+"
"""Between quotes, for patterns: nothing odd, and nothing that `_RESTART` begins with."""

WITHOUT_BRACE = r"[^\"\\{]*+"
"""The same with new lines, but no bracket that `_RESTART` could end with."""

_NO_KEY = (
    rf"""(?:,{NEAR_SPACE})?"(?:[^"\\\n]|\\.){_SHORT}(?:\n|"{NEAR_SPACE}[^:= \t\r\n{ODD_SPACES}])"""
)


@lru_cache(maxsize=256)
def inner_quotes(role: str, stops: tuple[str, ...], between: str) -> re.Pattern[str]:
    """Quotes in JSON that surely end nothing, and what is between them: for a flood of them.

    It says nothing that `quote_ends` does not say, only sooner: what follows such a quote is no
    closer, comma, comment or stop; or it is one more quote, of what is no key.
    """
    first = "".join(sorted({re.escape(stop[0]) for stop in stops}))
    other = rf"[^{first}{ODD_SPACES}}}\],/\"'“‘ \t\r\n{'' if role == 'value' else '{['}]"
    follows = rf"{other}|{_NO_KEY}" if role == "value" else other
    return re.compile(rf"(?:\"(?={NEAR_SPACE}(?:{follows})){between})++")


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
    space = _SPACE.match(text, index, index + SPACE_AHEAD)
    end = space.end() if space else index
    if end - index >= SPACE_AHEAD:
        return end, None
    return end, text[end : end + 1]


def _key_at(text: str, index: int, *, final: bool) -> bool | None:
    """Whether a key and a colon stand here. A key too long to see is taken for one."""
    if text.startswith(("//", "/*", "#"), index) or _KEY.match(text, index):
        return True
    if _LONG_KEY.match(text, index):
        return True
    char = text[index]
    if not (char in "\"'“‘/_$" or char.isalpha()):
        return False
    if final:
        return bool(_CUT_KEY.match(text, index))
    undecided = len(text) - index < 2 * KEY_AHEAD + SPACE_AHEAD + 30
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


_RESTART = re.compile(
    r"(?:\n[ \t]*+|</[\w:|-]{1,40}>|```)[ \t\r\n]{0,24}(?:<[\w:|-]{1,40}>|```[\w+-]{0,24})?"
    r"[ \t\r\n]{0,24}\[?[ \t\r\n]{0,24}\{[ \t\r\n]{0,24}\Z"
)
"""A new line or a closer, perhaps an opener, and a bracket: what is before a call's first key.

Before a quote that cannot end the string, with a key of calls behind it, they show that the
string ended long ago.
"""
_FIRST_KEY = re.compile(rf"\"(?:{'|'.join((*NAME_KEYS, *ARGUMENTS_KEYS))})\"")
_CLOSER = re.compile(r"</[\w:|-]{1,40}>|```")


def may_restart(window: Window, began: int) -> str:
    """What is before the position of a string that began at offset `began`, if a call may be.

    That takes what `_RESTART` begins with: a new line, a closer or a fence.
    """
    behind = window.text[max(0, window.pos - MARGIN, began - window.base) : window.pos]
    return behind if "\n" in behind or "</" in behind or "```" in behind else ""


def no_call_within(window: Window, began: int, _: tuple[str, ...]) -> bool:
    """Give up a string that began at offset `began` if it ran into a call."""
    behind = may_restart(window, began)
    restart = _RESTART.search(behind) if behind.rstrip()[-1:] == "{" else None
    if restart is None:
        return True
    if len(window.text) - window.pos <= CALL_KEY_AHEAD and not window.final:
        return False
    if _FIRST_KEY.match(window.text, window.pos):
        closer = _CLOSER.search(behind)
        ended = min(restart.start(), closer.start() if closer else len(behind))
        window.pos -= len(behind) - ended
        raise UnreadableError("invalid-json", "a string that never ends")
    return True


# --- Python and its relatives ------------------------------------------------------------------

_SPACE_BEHIND = re.compile(rf"[ \t\r\n{ODD_SPACES}]{{0,80}}+")
_BEHIND_TEXT = ",:)]}#'\""


def text_ends(window: Window, _role: str, stops: tuple[str, ...]) -> bool | None:
    """Whether the quote here ends a text: if what follows may follow one."""
    space = _SPACE_BEHIND.match(window.text, window.pos + 1)
    end = space.end() if space else window.pos + 1
    if end >= len(window.text):
        return True if window.final else None
    char, far = window.text[end], end - window.pos > QUOTE_AHEAD
    return far or char in _BEHIND_TEXT or any(stop[0] == char for stop in stops)


def three_end(window: Window, _role: str, _: tuple[str, ...]) -> bool | None:
    """Whether the quote here is the first of three."""
    rest = window.text[window.pos : window.pos + 3]
    near = not window.final and rest == rest[0] * len(rest)
    return True if rest == rest[0] * 3 else None if near else False


def no_stop_within(window: Window, began: int, stops: tuple[str, ...]) -> bool:
    """Give up a text that began at offset `began`, at the end of the frame, if it ran over that.

    With every quote in its place, a text may hold what it likes.
    """
    first = max(window.pos - MARGIN, began - window.base, 0)
    found = max((window.text.rfind(stop, first, window.pos) for stop in stops), default=-1)
    if found < 0:
        return True
    window.pos = found
    raise UnreadableError("invalid-json", "a text that never ends")
