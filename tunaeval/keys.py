"""Secrets that are known here, so that nothing that is written contains one.

Known are the values of variables of the environment that are named as keys are, what a header
bears, and who a URL is asked as. A secret that is none of these looks like any other text.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping

from tunaeval.types import JsonValue

SHORTEST = 8
"""What is shorter may be a word of every text."""
COVER = "<key>"

_NAMED = re.compile(r"(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)$", re.IGNORECASE)
_HEADERS = ("authorization", "proxy-authorization", "x-api-key", "api-key", "cookie")


def of_environment(environment: Mapping[str, str] | None = None) -> frozenset[str]:
    """The values of variables whose names end in KEY, TOKEN, SECRET or PASSWORD."""
    every = os.environ if environment is None else environment
    return long_enough(value.strip() for name, value in every.items() if _NAMED.search(name))


def of_headers(headers: Mapping[str, str]) -> frozenset[str]:
    """What headers bear (their names in small letters), with and without the word before it."""
    values = [headers[name].strip() for name in _HEADERS if name in headers]
    return long_enough([*values, *(value.partition(" ")[2].strip() for value in values)])


def long_enough(values: Iterable[str]) -> frozenset[str]:
    """Those that no text has by chance, each also as it is written inside of JSON."""
    kept = {value for value in values if len(value) >= SHORTEST}
    return frozenset(kept | {json.dumps(value)[1:-1] for value in kept})


def without(value: JsonValue, secrets: Iterable[str]) -> JsonValue:
    """A value with the secrets covered, the longest first, in names as well as in texts."""
    ordered = sorted(secrets, key=len, reverse=True)
    return _without(value, ordered) if ordered else value


def _without(value: JsonValue, secrets: list[str]) -> JsonValue:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, COVER)
            return value
        case Mapping():
            return {_without(name, secrets): _without(one, secrets) for name, one in value.items()}
        case list() | tuple():
            return [_without(one, secrets) for one in value]
    return value
