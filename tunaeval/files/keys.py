"""Secrets that are known here, so that nothing that is written contains one.

Known are the values of variables of the environment that are named as keys are, what this process
was given beside them (`remember`), what a header bears, who a URL is asked as, and whatever looks
as keys do. A secret that is none of these looks
like any other text.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from typing import SupportsIndex

from tunaeval.types.calls import JsonValue

SHORTEST = 8
"""What is shorter may be a word of every text."""
COVER = "<key>"

_VARIABLE = re.compile(
    r"(?:^|_)(?:(?:API|ACCESS|SECRET|PRIVATE)?KEY(?:_ID|_BASE)?|(?:API|AUTH|ACCESS)?TOKEN"
    r"|SECRET(?:_ID)?|PASS|PASSWD|PASSPHRASE|PAT|DSN|COOKIE|JWT)$|PASSWORD$|_PWD?$|_PW$",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"auth(?!or(?:s|$|[-_]))|key(?:$|[-_])|token(?!s)|secret|passw|cookie|credential", re.IGNORECASE
)
_SCHEMES = ("bearer ", "basic ", "token ")


class Secret(str):
    """A text that is not shown where objects and the locals of a traceback are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(COVER)

    def __getitem__(self, at: SupportsIndex | slice) -> Secret:
        """A part is a secret too: those that show locals shorten a long text before its repr."""
        return Secret(super().__getitem__(at))


class SecretBytes(bytes):
    """A `Secret` as it is sent."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(COVER)


def shown_safely(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers, those that bear a secret as `Secret`."""
    return {name: Secret(one) if _bears(name, one) else one for name, one in headers.items()}


def of_environment(environment: Mapping[str, str] | None = None) -> frozenset[str]:
    """The values of variables that are named as keys are (OPENAI_API_KEY, DB_PASS, GITHUB_PAT), and
    passwords of addresses in any (DATABASE_URL); of this process, what it was given beside them.
    """
    every = os.environ if environment is None else environment
    named = (value.strip() for name, value in every.items() if _VARIABLE.search(name))
    asked_as = (
        found for value in every.values() if "://" in value for found in _USER.findall(value)
    )
    found = long_enough([*named, *asked_as])
    return found | _GIVEN if environment is None else found


_GIVEN: set[str] = set()


def remember(secrets: Iterable[str]) -> None:
    """Know these as secrets of this process from now on, as if its environment had them."""
    _GIVEN.update(secrets)


def of_headers(headers: Mapping[str, str]) -> frozenset[str]:
    """What headers bear: each value whole and behind its first word, its cookies, its password."""
    found: list[str] = []
    for value in (one.strip() for name, one in headers.items() if _bears(name, one)):
        scheme, _, rest = value.partition(" ")
        found += [value, *(one.partition("=")[2].strip() for one in value.split(";"))]
        if "=" not in scheme:
            found.append(rest.strip())
        if scheme.lower() == "basic":
            found += _pair(rest)
    return long_enough(found)


def _bears(name: str, value: str) -> bool:
    return _HEADER.search(name) is not None or value.lower().startswith(_SCHEMES)


def _pair(encoded: str) -> list[str]:
    """User and password, together and the password alone."""
    try:
        both = base64.b64decode(encoded, validate=True).decode()
    except ValueError:  # binascii.Error and UnicodeDecodeError are
        return []
    return [both, both.partition(":")[2]]


def long_enough(values: Iterable[str]) -> frozenset[str]:
    """Those that no text has by chance, each also as it is written inside of JSON."""
    kept = {value for value in values if len(value) >= SHORTEST}
    return frozenset(map(Secret, kept | {json.dumps(value)[1:-1] for value in kept}))


def without(value: JsonValue, secrets: Iterable[str]) -> JsonValue:
    """A value with the secrets covered, the longest first, in names as well as in texts, and with
    them whatever looks like a key. Beginnings and ends of those that are there as a whole are
    covered too, as messages quote a part of what is long.
    """
    ordered = sorted(secrets, key=len, reverse=True)
    seen: set[Secret] = set()

    def whole(text: str) -> str:
        for secret in ordered:
            if secret in text:
                seen.add(Secret(secret))
                text = text.replace(secret, COVER)
        return with_keys_covered(text, noted)

    def noted(key: str) -> str:
        seen.add(Secret(key))
        return COVER

    covered = _changed(value, whole)
    return _changed(covered, _Parts(seen).covered) if seen else covered


_DEEPEST = 256
"""Containers in containers that are gone into; records are cut before that."""


def _changed(value: JsonValue, change: Callable[[str], str], depth: int = 0) -> JsonValue:
    inner = depth + 1
    if inner > _DEEPEST:
        return value
    match value:
        case str():
            return change(value)
        case Mapping():
            return {
                _changed(name, change): _changed(one, change, inner) for name, one in value.items()
            }
        case list():
            return [_changed(one, change, inner) for one in value]
        case tuple():
            return tuple(_changed(one, change, inner) for one in value)
    return value


class _Parts:
    """Beginnings and ends of secrets, by their first and last characters, line by line."""

    _LENGTH = 12
    """What is shorter may be the beginning of many keys."""
    _RUN = re.compile(r"[A-Za-z0-9_+=-]{12,}+")

    def __init__(self, secrets: Iterable[str]) -> None:
        runs = [run for secret in secrets for run in self._RUN.findall(secret)]
        self._first = {run[: self._LENGTH] for run in runs}
        self._last = {run[-self._LENGTH :] for run in runs}

    def covered(self, text: str) -> str:
        return self._RUN.sub(self._without, text)

    def _without(self, found: re.Match[str]) -> str:
        run, length = found[0], self._LENGTH
        for at in range(len(run) - length + 1):
            if run[at : at + length] in self._first:
                return run[:at] + COVER
        for at in range(len(run), length - 1, -1):
            if run[at - length : at] in self._last:
                return COVER + run[at:]
        return run


def with_keys_covered(text: str, cover: Callable[[str], str] = lambda _: COVER) -> str:
    """`text` with `cover(key)` for each part that looks like a key; linear in its length."""

    def covered(found: re.Match[str]) -> str:
        if not found.re.groups:
            return cover(found[0])
        first, last = (place - found.start() for place in found.span(1))
        return found[0][:first] + cover(found[1]) + found[0][last:]

    if len(text) < _SHORTEST_SHAPE and "://" not in text:
        return text
    for sign, pattern in _SHAPES:
        if sign in text:
            text = pattern.sub(covered, text)
    return text


_SHORTEST_SHAPE = 15
"""Of all but addresses: that of Slack. Most of what is looked at is a word."""
_WORD = "[A-Za-z0-9_-]"
_MIXED = rf"(?={_WORD}{{0,40}}?(?=[A-Za-z_]{{0,11}}[0-9])[A-Za-z0-9_]{{12}})"
"""Somewhere near are twelve characters without a hyphen, a digit among them: no name of words."""
_PLAIN = "[A-Za-z0-9]{20,}+"
_BREAK = r"(?:\s|\\+[nr])"
_BASE64 = "[A-Za-z0-9+/=]"
_MARK = r"[A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
_PEM = (
    rf"-----BEGIN {_MARK}(?={_BREAK}{{0,8}}+(?:{_BASE64}{{16}}|[A-Z][A-Za-z-]{{2,20}}:))"
    rf"(?:(?:[^-]|-(?!----))*+-----END {_MARK}|(?:{_BREAK}*+{_BASE64}{{16,}}+)++)"
)
"""With something behind the marker that may be a key: whole, or as many lines as there are."""
_ASKED_AS = r"""[^\s/?#@"'<>\\]"""
_USER = re.compile(
    rf"(?<=://)(?:(?!:){_ASKED_AS}){{0,256}}:((?!%[sd(]|[$*{{\[]){_ASKED_AS}{{1,256}})(?=@)"
)
"""A password in an address, if it is none that is still to be filled in."""

_SIGNS = {
    **dict.fromkeys(("sk-", "pk-", "rk-"), rf"{_MIXED}{_WORD}{{16,}}+"),  # OpenAI, Anthropic
    **dict.fromkeys(("sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"), _PLAIN),  # Stripe
    **dict.fromkeys(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _PLAIN),  # GitHub
    "github_pat_": r"[A-Za-z0-9_]{20,}+",
    "glpat-": rf"{_WORD}{{16,}}+",  # GitLab
    **dict.fromkeys(("gsk_", "xai-", "hf_", "npm_"), _PLAIN),  # Groq, xAI, Hugging Face, npm
    **dict.fromkeys(("xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxr-", "xoxs-", "xapp-"),
                    r"[A-Za-z0-9-]{10,}+"),  # Slack
    **dict.fromkeys(("AKIA", "ASIA"), r"[A-Z0-9]{16}(?![A-Za-z0-9])"),  # AWS
    "AIza": rf"{_WORD}{{30,}}+",  # Google
    "ya29.": rf"{_WORD}{{20,}}+",
    "eyJ": rf"{_WORD}{{8,}}+\.{_WORD}{{8,}}+(?:\.{_WORD}*+){{1,3}}+",  # a JSON web token
}  # fmt: skip
"""How keys begin, and how they go on. No word goes on before them; an escape of JSON may."""


def _shape(sign: str, rest: str) -> re.Pattern[str]:
    this = re.escape(sign)
    return re.compile(rf"{this}(?:(?<!{_WORD}{this})|(?<=\\[bfnrt]{this})){rest}")


_SHAPES = [
    ("PRIVATE KEY", re.compile(_PEM)),
    ("://", _USER),
    ("://", re.compile(r"(?<=://)([A-Za-z0-9_-]{20,256})(?=@)")),
    *((sign, _shape(sign, rest)) for sign, rest in _SIGNS.items()),
]
"""Each with a fixed part that is looked for first, which takes next to no time."""
