"""Replies are read once for all levels, and to the same results as one level at a time."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.formats.fixtures import ALL
from tests.parsing.samples import TOOLS
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS, HERMES
from tunaeval.parsing.api import parse_message
from tunaeval.parsing.reader import Reader
from tunaeval.parsing.sets import auto, qwen25
from tunaeval.reports.replies import reading
from tunaeval.types.calls import Tools
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import LEVELS, ParseResult


def _by_itself(parser: Format | Reader, reply: Reply, tools: Tools | None) -> list[ParseResult]:
    return [
        parse_message(reply.message, parser, tools, level, source=reply.source) for level in LEVELS
    ]


@pytest.mark.parametrize("tools", [None, TOOLS], ids=["no tools", "tools"])
def test_every_fixture_is_read_as_at_each_level_by_itself(tools: Tools | None) -> None:
    for case in ALL:
        reply = Reply({"role": "assistant", "content": case.text})
        parsers: tuple[Format | Reader, ...] = (auto, FORMATS.get(case.format, HERMES))
        for parser in parsers:
            read = reading(parser, tools or Tools())
            found = [read(reply, level) for level in LEVELS]
            assert found == _by_itself(parser, reply, tools), case.title


def test_one_reply_after_the_other() -> None:
    """What was read of one says nothing of the next, whatever the order of levels."""
    read = reading(qwen25, TOOLS)
    texts = [case.text for case in ALL if case.format == "qwen25"]
    for first, second in pairwise(texts):
        for level in (*LEVELS, *reversed(LEVELS)):
            for text in (first, second, first):
                reply = Reply({"role": "assistant", "content": text})
                wanted = parse_message(reply.message, qwen25, TOOLS, level)
                assert read(reply, level) == wanted
