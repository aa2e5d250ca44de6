"""Finds secrets in data, so that no file that tunaeval writes contains one.

Secrets are the values of environment variables with names such as OPENAI_API_KEY, what was passed
to `remember`, the values of headers such as Authorization, and of fields of bodies with such names,
passwords in URLs, and texts in the shape of a provider's keys. Any other secret looks like ordinary
text, and is not found.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import SupportsIndex

from tunaeval.errors import UsageError
from tunaeval.types.calls import JsonValue

from .plain_files import table_of

SHORTEST = 8
"""Shorter values are not covered, as they may be ordinary words."""
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
    """A string whose repr is `COVER`, so that no repr of an object and no traceback shows it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(COVER)

    def __getitem__(self, at: SupportsIndex | slice) -> Secret:
        """Return a part as a `Secret`: tools that show locals cut long texts before the repr."""
        return Secret(super().__getitem__(at))


class SecretBytes(bytes):
    """A `Secret` as bytes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return repr(COVER)


def variable_name(text: str) -> str:
    """Return `text` if it can be the name of an environment variable. Otherwise raise UsageError,
    which does not quote the text, as it may be the key itself.
    """
    if text.isascii() and text.isidentifier():
        return text
    raise UsageError(
        "found what can be no name of a variable, and is not shown as it may be a key; wanted the "
        "name of the environment variable that has the key, such as TUNAEVAL_API_KEY"
    )


def shown_safely(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers, with values that may be secrets as `Secret`."""
    return {name: Secret(one) if _bears(name, one) else one for name, one in headers.items()}


def of_environment(environment: Mapping[str, str] | None = None) -> frozenset[str]:
    """Return the secrets in environment variables: values of those named like OPENAI_API_KEY or
    DB_PASS, and passwords in addresses. Without `environment`: this process's, and what `remember`
    was given.
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
    """Treat these texts as secrets from now on, like those in this process's environment."""
    _GIVEN.update(secrets)


def of_headers(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the secrets in headers: whole values, the part after "Bearer", cookies, passwords."""
    return _in_values(one for name, one in headers.items() if _bears(name, one))


_OF_CALLS = ("args", "arguments", "input", "response")
"""Fields with the arguments or the results of calls, which are data whatever their names are."""
_NO_SECRET = re.compile(r"cache[-_]?key|tokenizer|(?:bos|eos|pad|stop)[-_]token", re.IGNORECASE)


def of_fields(body: JsonValue) -> frozenset[str]:
    """Return the secrets in a request's body: texts in fields with the names of such headers, as
    `api_key`, at any depth, but for the arguments and results of calls.
    """
    found, rest = list[str](), [body]
    while rest:
        match rest.pop():
            case Mapping() as fields:
                for name, one in fields.items():
                    if not isinstance(one, str):
                        rest += [] if name in _OF_CALLS and isinstance(one, Mapping) else [one]
                    elif _HEADER.search(name) and not _NO_SECRET.search(name):
                        found.append(one)
            case list() | tuple() as items:
                rest += items
    return _in_values(found)


def _in_values(values: Iterable[str]) -> frozenset[str]:
    found: list[str] = []
    for value in map(str.strip, values):
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
    """Return "user:password" and "password" of basic authentication; nothing if it is invalid."""
    try:
        both = base64.b64decode(encoded, validate=True).decode()
    except ValueError:  # also binascii.Error and UnicodeDecodeError
        return []
    return [both, both.partition(":")[2]]


def long_enough(values: Iterable[str]) -> frozenset[str]:
    """Return the values that have `SHORTEST` characters or more, each also as JSON escapes it."""
    kept = {value for value in values if len(value) >= SHORTEST}
    return frozenset(map(Secret, kept | {json.dumps(value)[1:-1] for value in kept}))


def without(value: JsonValue, secrets: Iterable[str]) -> JsonValue:
    """Return the value with `COVER` in place of each secret, also in keys of objects, the longest
    first, and in place of any part of one that is long enough, as messages quote parts of long
    texts. Texts in the shape of a key are covered, too, whole and in parts.
    """
    return _without(value, _known(frozenset(secrets)))


def _without(value: JsonValue, known: _Parts) -> JsonValue:
    if _is_clean(value, known):
        return value
    seen: set[Secret] = set()

    def whole(text: str) -> str:
        for secret in known.ordered:
            if secret in text:
                seen.add(Secret(secret))
                text = text.replace(secret, COVER)
        return with_keys_covered(text, noted)

    def noted(key: str) -> str:
        seen.add(Secret(key))
        return COVER

    covered = mapped(value, whole)
    return mapped(covered, known.with_runs_of(seen).covered)


def covered(text: str, secrets: Iterable[str]) -> str:
    """Return a message without the secrets, as `without` does, and without any of their parts; they
    may be quoted by `repr` in it.
    """
    quoted = (Secret(str.__repr__(one)[1:-1]) for one in secrets)
    words = _without(text, _known_in_words(frozenset({*secrets, *quoted})))
    assert isinstance(words, str)  # noqa: S101 - as it was
    return words


def _is_clean(value: JsonValue, known: _Parts) -> bool:
    """Whether a value surely has no secret: its JSON has no part of one, and nothing that begins
    like a key.

    Nearly all results are clean, and one text is searched in a third of the time of its parts.
    """
    import orjson  # noqa: PLC0415 - --help, which reads the options of keys, needs none

    try:
        text = orjson.dumps(value).decode()
        return not any(sign in text for sign in known.signs)
    except TypeError:  # a lone surrogate, a wide integer or a deep value, which orjson refuses
        return False


_DEEPEST = 256
"""The depth of nesting that is searched; records are cut before that."""


def mapped(
    value: JsonValue, change: Callable[[str], str], depth: int = 0, *, keys: bool = True
) -> JsonValue:
    """Return the value with `change` applied to all its texts, and with `keys` to those of objects,
    too.
    """
    inner = depth + 1
    if inner > _DEEPEST:
        return value
    match value:
        case str():
            return change(value)
        case Mapping():
            return {
                mapped(name, change) if keys else name: mapped(one, change, inner, keys=keys)
                for name, one in value.items()
            }
        case list():
            return [mapped(one, change, inner, keys=keys) for one in value]
        case tuple():
            return tuple(mapped(one, change, inner, keys=keys) for one in value)
    return value


class _Parts:
    """Finds parts of secrets: the parts of `_LENGTH` characters or more of their runs."""

    _LENGTH = 12
    """A shorter part may be common to many keys."""
    _SIGN = 6
    """In any part of `_LENGTH` characters there is a sign: one of the pieces of a run of so many
    characters, side by side."""
    _RUN = re.compile(r"[A-Za-z0-9_+=-]{12,}+")
    _ALONE = re.compile(r"(?<!\S)(?=\S*\d)[A-Za-z0-9_+=-][A-Za-z0-9_+=./-]*(?!\S)")
    """What may be a key by itself. Parts of a path, an address, a sentence or of mere words are in
    ordinary texts, too, and are covered in those only beside the whole."""

    def __init__(self, secrets: Iterable[str], seen: Iterable[str] = ()) -> None:
        self.ordered, self._seen = sorted(secrets, key=len, reverse=True), [*seen]
        """All of the secrets, the longest first."""
        alone = (word for secret in self.ordered for word in self._ALONE.findall(secret))
        runs = {run for text in (*alone, *self._seen) for run in self._RUN.findall(text)}
        size, sign = self._LENGTH, self._SIGN
        self._grams = {run[at : at + size] for run in runs for at in range(len(run) - size + 1)}
        pieces = (run[at : at + sign] for run in runs for at in range(0, len(run) - sign + 1, sign))
        others = (one for one in self.ordered if not any(run in one for run in runs))
        escaped = (json.dumps(one, ensure_ascii=False)[1:-1] for one in others)
        self.signs = (*_ANY_SIGN, *{*pieces}, *escaped)
        """Texts of which one is in the JSON of whatever has a secret, a part of one, or a key."""

    def with_runs_of(self, seen: Iterable[str]) -> _Parts:
        return _Parts(self.ordered, [*self._seen, *seen]) if seen else self

    def covered(self, text: str) -> str:
        """Return the text with each part of a secret covered."""
        return self._RUN.sub(self._without, text)

    def _without(self, found: re.Match[str]) -> str:
        run, kept, done = found[0], list[str](), 0
        for at in range(len(run) - self._LENGTH + 1):
            if run[at : at + self._LENGTH] in self._grams:
                kept += [run[done:at], COVER] if at >= done else []
                done = at + self._LENGTH
        return "".join([*kept, run[done:]])


@lru_cache(maxsize=8)
def _known(secrets: frozenset[str]) -> _Parts:
    return _Parts(secrets)


@lru_cache(maxsize=8)
def _known_in_words(secrets: frozenset[str]) -> _Parts:
    return _Parts(secrets, secrets)


def with_keys_covered(text: str, cover: Callable[[str], str] = lambda _: COVER) -> str:
    """Return `text` with `cover(key)` in place of all that looks like a key, in linear time."""

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
"""The length of the shortest pattern but for addresses (Slack's). Most texts are shorter words."""
_BREAK = r"(?:\s|\\+[nr])"
_BASE64 = "[A-Za-z0-9+/=]"
_MARK = r"[A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----"
_PEM = (
    rf"-----BEGIN {_MARK}(?={_BREAK}{{0,8}}+(?:{_BASE64}{{16}}|[A-Z][A-Za-z-]{{2,20}}:))"
    rf"(?:(?:[^-]|-(?!----))*+-----END {_MARK}|(?:{_BREAK}*+{_BASE64}{{16,}}+)++)"
)
"""A private key in PEM: whole, or as many of its lines as follow the marker."""
_ASKED_AS = r"""[^\s/?#@"'<>\\]"""
_USER = re.compile(
    rf"(?<=://)(?:(?!:){_ASKED_AS}){{0,256}}:((?!%[sd(]|[$*{{\[]){_ASKED_AS}{{1,256}})(?=@)"
)
"""A password in an address, unless it is a placeholder such as `%s`, `$NAME` or `{name}`."""


def _shape(prefix: str, rest: str) -> re.Pattern[str]:
    # A word may not run into the prefix, but an escape of JSON may.
    this = re.escape(prefix)
    return re.compile(rf"{this}(?:(?<![A-Za-z0-9_-]{this})|(?<=\\[bfnrt]{this})){rest}")


_SHAPES = [
    ("PRIVATE KEY", re.compile(_PEM)),
    ("://", _USER),
    ("://", re.compile(r"(?<=://)([A-Za-z0-9_-]{20,256})(?=@)")),
    *(
        (prefix, _shape(prefix, shape["rest"]))
        for shape in table_of(__package__, "keys.toml")["keys"]
        for prefix in shape["prefixes"]
    ),
]
"""Patterns, each with a fixed part of it; searching for that first takes almost no time."""
_ANY_SIGN = tuple(dict.fromkeys(sign for sign, _ in _SHAPES))
