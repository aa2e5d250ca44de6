"""How bare values end, worked out once for each format and not kept for ever."""

from __future__ import annotations

from dataclasses import replace

from tunaeval.formats import QWEN3_CODER
from tunaeval.grammar import Format, Many, Value
from tunaeval.limits import KEPT_CLOSINGS
from tunaeval.parsing import closings


def test_closings_of_formats_that_are_gone_are_forgotten() -> None:
    many = next(word for word in QWEN3_CODER.words if isinstance(word, Many))
    at = next(i for i, word in enumerate(many.words) if isinstance(word, Value))
    behind = QWEN3_CODER.words[QWEN3_CODER.words.index(many) :]
    value, after = many.words[at], (*many.words[at + 1 :], *behind)
    wanted = closings.closing_of(QWEN3_CODER, value, after)
    assert closings.closing_of(QWEN3_CODER, value, after) is wanted
    for number in range(2 * KEPT_CLOSINGS):
        made = closings.closing_of(replace(QWEN3_CODER, summary=str(number)), value, after)
        assert made == wanted
        assert len(closings._closings) <= KEPT_CLOSINGS


def test_a_value_without_a_character_may_have_lost_its_closer() -> None:
    """The call's end is right behind the opener of a value: nothing raises, and it is empty."""
    pattern = "<call>⟨name⟩⟨each⟩<k>⟨key⟩<v>⟨value⟩</v>⟨/each⟩</call>"
    result = Format.of("short", pattern).parse("<call>f<k>a<v></call>\n<call>g<k>a<v>1</v></call>")
    calls = [(call.name, call.arguments) for call in result.calls]
    assert calls == [("f", {"a": ""}), ("g", {"a": 1})]
