"""Decide whether an answer has words, besides special tokens and invisible characters."""

from __future__ import annotations

import re
from unicodedata import category

_TOKEN = re.compile(
    r"<\|(?:im_start|start_header_id|start|channel)\|>\s*\w{0,24}"  # a turn's head and role
    r"|<\|[^<>|\s]{1,40}\|>"
    r"|<\uff5c[^<>\uff5c\s]{1,40}\uff5c>"
    r"|</?(?:s|think|tools?|tool_calls?|tool_response)>|`{3,}\w*"
    r"|<start_of_turn>\s*(?:model)?|<end_of_turn>|<turn\|>"
    r"|<(?:pad|eos|bos|unk|mask|unused\d{1,5})>|\[(?:PAD|EOS|BOS|UNK|SEP|CLS)\]|\[/?INST\]"
)
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols by their category that are blank in every font."""


def has_words(text: str) -> bool:
    """Whether a text has anything to read.

    Examples:
        >>> has_words("It rains.<|im_end|>"), has_words("<|im_end|>")
        (True, False)
    """
    return any(
        map(_is_seen, _TOKEN.sub("", text) if "<" in text or "[" in text or "`" in text else text)
    )


def _is_seen(character: str) -> bool:
    return category(character)[0] not in "CZM" and character not in _BLANK
