"""JSON, and all that models write instead of it."""

from __future__ import annotations

from .atoms import BARE_WORD, KEY_WORD, read_number, read_word
from .dialect import Dialect
from .escapes import SOUND_ESCAPE
from .members import (
    BARE_KEY,
    NUMBER,
    RAW,
    SINGLE,
    SINGLE_KEY,
    SPACE,
    WORD,
    WORDS,
    elements_of,
    members_of,
)
from .quotes import SURELY
from .reader import Reader
from .strings import JSON_STYLES

_INNER = rf"[^\"'\\\x00-\x1f]*+(?:{SOUND_ESCAPE}[^\"'\\\x00-\x1f]*+)*+"
_STRING = rf'"[^"\\\x00-\x1f]*+(?:{SOUND_ESCAPE}[^"\\\x00-\x1f]*+)*+"'
_RAW = rf'[^"\\]*+(?:{SOUND_ESCAPE}[^"\\]*+)*+'
_BEHIND_ATOM = r"(?=[ \t\r\n,}\]])"
_ATOM = rf"(?:{NUMBER}|true|false|null){_BEHIND_ATOM}"
_KEYS = (
    rf"""(?:"([^"\\\x00-\x1f]*+)"|'([^"'\\\x00-\x1f]*+)'|({BARE_WORD}))""",
    r'"[^"\\\x00-\x1f]*+"',
    r'"([^"\\\x00-\x1f]*+)"',
)
_OTHERWISE = (
    rf"([{{\[])|'({_INNER})'{SURELY['value']}|({'|'.join(WORDS)}){_BEHIND_ATOM}"
    rf'|"({_RAW})"{SURELY["value"]}'
)
_ONE = rf'{_STRING}|[^ \t\r\n,"}}\]]++'
_REPAIRS = {
    SINGLE_KEY: "single-quotes",
    BARE_KEY: "bare-key",
    SINGLE: "single-quotes",
    WORD: "python-literal",
    RAW: "control-character",
}


def _scalar(role: str) -> tuple[str, str]:
    return rf"(?:{_STRING}{SURELY[role]}|{_ATOM})", _ONE


JSON = Dialect(
    brackets={"{": "{", "[": "["},
    closers="}]",
    styles=JSON_STYLES,
    bare_key=KEY_WORD,
    bare_key_repair="bare-key",
    signs={":": "", "=": "separator"},
    signs_may_lack=True,
    numbers="-",
    number=read_number,
    word=read_word,
    members={
        "{": members_of(
            _KEYS, f"{SPACE}:{SPACE}", _scalar("value"), _OTHERWISE, "}", repairs=_REPAIRS
        )
    },
    elements=elements_of(_scalar("element")),
    comments="/#",
)


class JsonReader(Reader):
    """Reads nearly-JSON; see `Reader`."""

    dialect = JSON
