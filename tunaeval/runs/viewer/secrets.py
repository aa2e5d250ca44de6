"""Cover keys and passwords in a text, which may be shown to others.

A cover is as long as what it covers, so that positions in the text stay the same.
"""

from __future__ import annotations

import re

from tunaeval.files.keys import with_keys_covered

COVER = "•"

_NAMED = re.compile(
    r"""
    (?:\b(?:bearer|basic)[ ]{1,4}
     | \b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|password|passwd)
       ["']?[ ]{0,4}[=:][ ]{0,4}["']?)
    ([A-Za-z0-9_.~+/=-]{8,}+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Matches the value after a word such as "password" or "bearer"."""


def hidden(text: str) -> str:
    """Return the text with everything that looks like a secret covered, in linear time."""
    return _NAMED.sub(_covered, with_keys_covered(text, lambda key: COVER * len(key)))


def hidden_shortened(text: str) -> str:
    """Cover secrets in a message that quotes values shortened in the middle.

    Half a key matches no known pattern, so every shortened value is covered.
    """
    return _WORD.sub(lambda word: _cover_if_cut(word[0]), hidden(text))


_WORD = re.compile(r"[^\s'\"]++")


def _cover_if_cut(word: str) -> str:
    return COVER * len(word) if "..." in word else word


def _covered(found: re.Match[str]) -> str:
    whole, start = found[0], found.start()
    first, last = found.start(1) - start, found.end(1) - start
    return whole[:first] + COVER * (last - first) + whole[last:]
