"""Python's literals: its names, numbers, words and texts, and its members that are taken whole."""

from __future__ import annotations

import re
from json.encoder import encode_basestring

from tunaeval.limits import MAX_DIGITS, NEAR_SPACE, WORD_AHEAD
from tunaeval.window import Window

from .atoms import behind, cut_off, longest, refused_value
from .dialect import Dialect
from .escapes import PYTHON_ESCAPES
from .members import NUMBER, SPACE, WORDS, elements_of, members_of, quoted
from .quotes import text_ends, three_end
from .repairs import Draft, UnreadableError
from .strings import text_style

PYTHON_NAME = re.compile(r"[^\W\d][\w-]{0,127}+")
"""What may name an argument. Python knows no hyphens there; models write them."""

PYTHON_WORD = re.compile(r"[^\W\d]\w{0,199}+")
_BEHIND_QUOTE = re.compile(rf"[ \t\r\n]{{1,24}}+{PYTHON_NAME.pattern}(?P<sign>=?+)(?P<more>=?+)")
_NUMBER = re.compile(rf"[+-]?[\w.]{{0,{MAX_DIGITS + 1}}}+(?:(?<=[eE])[+-][0-9]{{0,99}}+)?+")
_KEY_WORD = re.compile(r"[+-]?[\w.]{0,200}+")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+")
_FLOAT = re.compile(r"([+-]?)([0-9_]*+)\.?([0-9_]*+)([eE][+-]?[0-9]++)?")
_ZEROS = re.compile(r"([+-]?)0++([1-9][0-9]*+)")
_JSON_WORDS = {**WORDS, "true": "true", "false": "false", "null": "null"}
_NEVER = frozenset({"NaN", "nan", "Infinity", "inf", "undefined", "lambda", "not", "await"})


def _ends(window: Window, role: str, stops: tuple[str, ...]) -> bool | None:
    """Whether the quote here ends its text; the next argument may only lack its comma."""
    if ends := text_ends(window, role, stops):
        return True
    if ends is None:
        return None
    found = _BEHIND_QUOTE.match(window.text, window.pos + 1)
    if found and found.end() >= len(window.text) and not window.final:
        return None
    return bool(found and found["sign"] and not found["more"])


TEXT_STYLES = {
    (quote, raw): text_style(quote, None if raw else PYTHON_ESCAPES, ends=ends)
    for raw in (False, True)
    for quote, ends in {"'": _ends, '"': _ends, "'''": three_end, '"""': three_end}.items()
}

# --- members that are taken whole ----------------------------------------------------------------

_BEHIND = rf"(?={NEAR_SPACE}[,)\]}}])"
_ATOM = rf"(?:{NUMBER}|true|false|null)(?=[ \t\r\n,)\]}}])"
_WORDS = rf"(?:{'|'.join(WORDS)})(?=[ \t\r\n,)\]}}])"
_SINGLE = r"""[^'\\\n]*+(?:\\['"\\nrt][^'\\\n]*+)*+"""
_DOUBLE = r"""[^"\\\n]*+(?:\\['"\\nrt][^"\\\n]*+)*+"""
_SCALAR = (
    rf"""(?:"{_DOUBLE}"{_BEHIND}|'{_SINGLE}'{_BEHIND}|{_ATOM}|{_WORDS})""",
    rf"""(?:"{_DOUBLE}"|'{_SINGLE}'|[^ \t\r\n,)\]}}]++)""",
)
_OPENER = r"([{\[(])(?:()()()){0}"
_NAME = PYTHON_NAME.pattern
_NAMES = (rf"({_NAME})(?:()()){{0}}", _NAME, f"({_NAME})")
_INSIDE = r"""[^"'\\\x00-\x1f]*+"""
_KEYS = (
    f"""(?:"({_INSIDE})"|'({_INSIDE})')(?:()){{0}}""",
    f"""(?:"{_INSIDE}"|'{_INSIDE}')""",
    f"""["']({_INSIDE})["']""",
)
NAMED_MEMBERS = members_of(_NAMES, rf"{NEAR_SPACE}={SPACE}", _SCALAR, _OPENER, r"\)", repairs={})
_KEYED = members_of(_KEYS, f"{SPACE}:{SPACE}", _SCALAR, _OPENER, "}", repairs={})


def _scalar(value: str) -> str:
    """A text or an atom as JSON."""
    if value[0] not in "'\"":
        return WORDS.get(value, value)
    return quoted(value[1:-1]) if "\\" in value else encode_basestring(value[1:-1])


# --- numbers and words ---------------------------------------------------------------------------


def _number(window: Window, draft: Draft, _: tuple[str, ...]) -> str | None:
    text = longest(window, _NUMBER, MAX_DIGITS)
    if text is None:
        return None
    if len(text) > MAX_DIGITS:
        raise UnreadableError("too-many-digits", f"a number of more than {MAX_DIGITS} digits")
    number = number_as_json(text)
    if number is None and (found := _ZEROS.fullmatch(text)):
        draft.repair("leading-zero")
        number = found[1].strip("+") + found[2]
    if number is None:
        if window.pos + len(text) >= len(window.text):
            cut_off(window)
        code = refused_value(text, "needs-evaluation")
        raise UnreadableError(code, f"{text[:40]!r} is no literal")
    window.pos += len(text)
    return number


def python_word(window: Window, draft: Draft, _: tuple[str, ...]) -> str | None:
    word = longest(window, PYTHON_WORD, WORD_AHEAD)
    after = None if word is None else behind(window, len(word))
    if word is None or after is None:
        return None
    if not word:
        raise UnreadableError(
            "invalid-json", f"{window.text[window.pos]!r} where a value was expected"
        )
    if word in _JSON_WORDS:
        window.pos += len(word)
        return _JSON_WORDS[word]
    if not after:
        cut_off(window)
    if after not in ",)]}" or word in _NEVER:
        raise UnreadableError("needs-evaluation", f"{word[:40]!r} would have to be evaluated")
    draft.repair("unquoted-string")
    window.pos += len(word)
    return f'"{word}"'


def number_as_json(text: str) -> str | None:
    """A number as Python spells it, as JSON spells it; None if it is no number.

    Examples:
        >>> number_as_json("1_000"), number_as_json("0x1F"), number_as_json(".5")
        ('1000', '31', '0.5')
    """
    if _JSON_NUMBER.fullmatch(text):
        return text
    try:
        return str(int(text, 0)) if text.isascii() else None
    except ValueError:
        found = _FLOAT.fullmatch(text)
    if not found or not (found[2] or found[3]) or not ("." in text or found[4]):
        return None
    whole = found[2].replace("_", "").lstrip("0") or "0"
    return f"{found[1].strip('+')}{whole}.{found[3].replace('_', '') or '0'}{found[4] or ''}"


PYTHON = Dialect(
    brackets={"{": "{", "[": "[", "(": "("},
    closers="}])",
    styles={quote: TEXT_STYLES[quote, False] for quote in "'\""},
    bare_key=_KEY_WORD,
    bare_key_repair="bare-key",
    signs={":": ""},
    signs_may_lack=False,
    numbers="+-.",
    number=_number,
    word=python_word,
    members={"f": NAMED_MEMBERS, "{": _KEYED, "**": _KEYED},
    elements=elements_of(_SCALAR),
    scalar=_scalar,
    outer="]",
    trailing_comma="",
)
