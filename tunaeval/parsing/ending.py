"""What the end of a text says of it: whether something was cut off there, or a token ends it."""

from __future__ import annotations

import re

from tunaeval.types import Diagnosis, Span
from tunaeval.window import Window

from .collect import Collector

ELLIPSES = ("...", "…")

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


def tell_end(
    collector: Collector,
    end: int,
    *,
    cut: str,
    announced: int | None,
    in_code: bool,
    trails_off: bool,
) -> None:
    """Diagnose a cut at `end`: in code, behind an announcement, or in an ellipsis.

    `cut` is the beginning of an opener that the text ends in, `announced` where calls were
    announced and have not come yet.
    """
    if in_code:
        collector.truncated = True
        collector.diagnose("unclosed-fence", "a code fence was never closed", end, end)
    elif announced is not None and collector.last == "markup":
        collector.diagnose("truncated", "calls were announced and none came", announced, end)
        collector.attempt(announced, cut=True)
    elif cut:
        collector.diagnose("truncated", f"the text ends inside {cut!r}", end - len(cut), end)
        collector.attempt(end - len(cut), cut=True)
    elif trails_off:
        collector.truncated = True
        collector.note(trailing_ellipsis(end))


def trailing_ellipsis(end: int) -> Diagnosis:
    """What there is to say of a text that ends in dots at `end`."""
    return Diagnosis("trailing-ellipsis", "the text ends in an ellipsis", Span(end, end))
