"""Tokens that end a model's turn, which are no content where a text ends with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tunaeval.window import Window

END_TOKENS = (
    "<|im_end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_turn>",
    "<eos>",
    "</s>",
)
"""Of chat templates: what a model ends its turn with, and servers mostly leave out."""

_ENDS = re.compile(rf"(?:(?:{'|'.join(map(re.escape, END_TOKENS))})\s{{0,40}}+){{1,8}}+")


def ends_text(window: Window) -> int | None:
    """How many characters end the text from the token here on; 0: more follows; None to wait."""
    found = _ENDS.match(window.text, window.pos)
    end = found.end() if found else window.pos
    rest = window.text[end : end + max(map(len, END_TOKENS))]
    if not rest and window.final:
        return end - window.pos
    waits = not window.final and any(token.startswith(rest) for token in END_TOKENS)
    return None if waits else 0


def before_end_tokens(text: str) -> int:
    """Where the tokens begin that the text ends with, few of them; its length if there are none."""
    end = len(text)
    for _ in range(8):
        bare = text[:end].rstrip()
        token = next((token for token in END_TOKENS if bare.endswith(token)), "")
        if not token:
            break
        end = len(bare) - len(token)
    return end
