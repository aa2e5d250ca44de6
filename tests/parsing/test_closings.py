"""How bare values end, worked out once for each format and not kept for ever."""

from __future__ import annotations

from dataclasses import replace

from tunaeval.formats import QWEN3_CODER
from tunaeval.grammar import Many, Value
from tunaeval.limits import KEPT_CLOSINGS
from tunaeval.parsing import chains


def test_closings_of_formats_that_are_gone_are_forgotten() -> None:
    many = next(word for word in QWEN3_CODER.words if isinstance(word, Many))
    at = next(i for i, word in enumerate(many.words) if isinstance(word, Value))
    behind = QWEN3_CODER.words[QWEN3_CODER.words.index(many) :]
    value, after = many.words[at], (*many.words[at + 1 :], *behind)
    wanted = chains.closing_of(QWEN3_CODER, value, after)
    assert chains.closing_of(QWEN3_CODER, value, after) is wanted
    for number in range(2 * KEPT_CLOSINGS):
        made = chains.closing_of(replace(QWEN3_CODER, summary=str(number)), value, after)
        assert made == wanted
        assert len(chains._closings) <= KEPT_CLOSINGS
