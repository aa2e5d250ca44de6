"""JSON, and all that models write instead of it."""

from __future__ import annotations

import re

from tunaeval.window import Window

from .atoms import BARE_KEY, BARE_WORD, read_number, read_word
from .dialect import Dialect
from .escapes import SOUND_ESCAPE
from .members import (
    BARE_KEY as BARE,
)
from .members import (
    NUMBER,
    RAW,
    SINGLE,
    SINGLE_KEY,
    SPACE,
    WORD,
    WORDS,
    Elements,
    Members,
    patterns_of_elements,
    patterns_of_members,
)
from .quotes import SURELY
from .reader import Reader
from .strings import JSON_STYLES

_INNER = rf"[^\"'\\\x00-\x1f]*+(?:{SOUND_ESCAPE}[^\"'\\\x00-\x1f]*+)*+"
_STRING = rf'"[^"\\\x00-\x1f]*+(?:{SOUND_ESCAPE}[^"\\\x00-\x1f]*+)*+"'
_RAW = rf'[^"\\]*+(?:{SOUND_ESCAPE}[^"\\]*+)*+'
_BEHIND_ATOM = r"(?=[ \t\r\n,}\]])"
_ATOM = rf"(?:{NUMBER}|true|false|null){_BEHIND_ATOM}"
_KEY = rf"""(?:"([^"\\\x00-\x1f]*+)"|'([^"'\\\x00-\x1f]*+)'|({BARE_WORD}))"""
_VALUE = (
    rf"(?:({_STRING}{SURELY['value']}|{_ATOM})|([{{\[])"
    rf"|'({_INNER})'{SURELY['value']}|({'|'.join(WORDS)}){_BEHIND_ATOM}"
    rf'|"({_RAW})"{SURELY["value"]})'
)
_SOUND = rf'"[^"\\\x00-\x1f]*+"{SPACE}:{SPACE}(?:{_STRING}{SURELY["value"]}|{_ATOM})'
_ONE_MEMBER = re.compile(
    rf'"([^"\\\x00-\x1f]*+)"{SPACE}:{SPACE}({_STRING}|[^ \t\r\n,"}}\]]++)'
)
_REPAIRS = {
    SINGLE_KEY: "single-quotes",
    BARE: "bare-key",
    SINGLE: "single-quotes",
    WORD: "python-literal",
    RAW: "control-character",
}
_ELEMENT = rf"(?:{_STRING}{SURELY['element']}|{_ATOM})"
_ONE_ELEMENT = re.compile(rf'{_STRING}|[^ \t\r\n,"]++')

JSON = Dialect(
    brackets={"{": "{", "[": "["},
    closers="}]",
    styles=JSON_STYLES,
    bare_key=BARE_KEY,
    bare_key_repair="bare-key",
    signs={":": "", "=": "separator"},
    signs_may_lack=True,
    numbers="-",
    number=read_number,
    word=read_word,
    members={
        "{": Members(
            *patterns_of_members(_SOUND, _KEY, f"{SPACE}:{SPACE}", _VALUE, "}"), _ONE_MEMBER.findall, _REPAIRS
        )
    },
    elements=Elements(
        *patterns_of_elements(_ELEMENT), lambda text: ",".join(_ONE_ELEMENT.findall(text))
    ),
    comments="/#",
)


class JsonReader(Reader):
    """Reads nearly-JSON; see `Reader`."""

    def __init__(self, window: Window, stops: tuple[str, ...] = ()) -> None:
        super().__init__(window, JSON, stops)
