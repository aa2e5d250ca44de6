"""How bare values end, worked out once for each format and not kept for ever."""

from __future__ import annotations

from dataclasses import replace

from tunaeval import parse
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import QWEN3_CODER
from tunaeval.limits import KEPT_CLOSINGS
from tunaeval.parsing.markup import closing_of


def test_closings_of_formats_that_are_gone_are_forgotten() -> None:
    wanted = closing_of(QWEN3_CODER)
    assert closing_of(QWEN3_CODER) is wanted
    for number in range(KEPT_CLOSINGS + 8):
        made = closing_of(replace(QWEN3_CODER, summary=str(number)))
        assert made is not wanted
        assert closing_of.cache_info().currsize <= KEPT_CLOSINGS


def test_a_value_without_a_character_may_have_lost_its_closer() -> None:
    """The call's end is right behind the opener of a value: nothing raises, and it is empty."""
    pattern = "<call>⟨name⟩⟨each⟩<k>⟨key⟩<v>⟨value⟩</v>⟨/each⟩</call>"
    text = "<call>f<k>a<v></call>\n<call>g<k>a<v>1</v></call>"
    result = parse(text, Format.of("short", pattern))
    calls = [(call.name, call.arguments) for call in result.calls]
    assert calls == [("f", {"a": ""}), ("g", {"a": 1})]
