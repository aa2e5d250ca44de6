"""Keys and passwords in a text, covered: what is passed around must not contain them.

As long as they were, so that places in the text stay what they are.
"""

from __future__ import annotations

import re

COVER = "•"

_SHAPES = re.compile(
    r"""
    \b(?:sk|pk|rk)-(?:[A-Za-z0-9]{1,12}-){0,3}[A-Za-z0-9_]{16,}+   # OpenAI, Anthropic, Stripe
    | \bgh[pousr]_[A-Za-z0-9]{20,}+ | \bgithub_pat_\w{20,}+      # GitHub
    | \bhf_[A-Za-z0-9]{20,}+ | \bglpat-[\w-]{16,}+               # Hugging Face, GitLab
    | \bAKIA[A-Z0-9]{16}\b | \bAIza[\w-]{30,}+                   # AWS, Google
    | \bxox[abprs]-[\w-]{10,}+                                   # Slack
    | \beyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+                       # a JSON web token
    """,
    re.VERBOSE,
)
"""Keys that are known by how they look."""

_NAMED = re.compile(
    r"""
    (?:\b(?:bearer|basic)[ ]{1,4}
     | \b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|password|passwd)
       ["']?[ ]{0,4}[=:][ ]{0,4}["']?)
    ([A-Za-z0-9_.~+/=-]{8,}+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What is after a word for a secret."""

_USERINFO = re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://([^\s/@\"'<>]{1,256}+)@", re.IGNORECASE)
"""Who a URL is asked as."""


def hidden(text: str) -> str:
    """`text` with everything that looks like a secret covered; linear in its length."""
    text = _SHAPES.sub(lambda found: COVER * len(found[0]), text)
    for pattern in (_NAMED, _USERINFO):
        text = pattern.sub(_covered, text)
    return text


def hidden_shortened(text: str) -> str:
    """As `hidden`, for words about a secret that quote values shortened in the middle.

    Half a key looks like nothing that is known, so whatever was shortened is covered.
    """
    return _WORD.sub(lambda word: _cover_if_cut(word[0]), hidden(text))


_WORD = re.compile(r"[^\s'\"]++")


def _cover_if_cut(word: str) -> str:
    return COVER * len(word) if "..." in word else word


def _covered(found: re.Match[str]) -> str:
    whole, start = found[0], found.start()
    first, last = found.start(1) - start, found.end(1) - start
    return whole[:first] + COVER * (last - first) + whole[last:]
