"""A tool parser for SGLang: `--tool-call-parser tunaeval`, or `tunaeval-NAME` for one format.

SGLang calls `register` by the entry point of this package before it parses the arguments of each of
its processes. A program with `sglang.Engine`, which has no arguments, calls it after the import.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

_LOG = logging.getLogger("sglang.tunaeval")


def register() -> None:
    """Add the parsers to SGLang's, if an argument of the process asks for one of them.

    Where a program calls this itself, that is to ask. Otherwise nothing of SGLang is imported, as
    its parsers take seconds.
    """
    by_sglang = sys._getframe(1).f_globals.get("__name__", "").startswith("sglang.")  # noqa: SLF001
    if _given("tunaeval") or ("sglang" in sys.modules and not by_sglang):
        from tunaeval.parsing.api import formats  # noqa: PLC0415 - it loads the grammar

        calls = import_module("sglang.srt.function_call.function_call_parser")
        known = calls.FunctionCallParser.ToolCallParserEnum
        for form in formats:
            known[f"tunaeval-{form}"] = _made(form, calls.BaseFormatDetector)
        known["tunaeval"] = known["tunaeval-auto"]


def _given(word: str) -> bool:
    """Whether an argument of the process, or the value of one, begins with the word."""
    parts = (part for argument in sys.argv[1:] for part in (argument, argument.partition("=")[2]))
    return any(part.startswith(word) for part in parts)


def _made(form: str, base: Any) -> type:
    from tunaeval.parsing.served import Settings  # noqa: PLC0415 - it loads the engine

    made = {"settings": Settings.of(form, os.environ), "__module__": __name__}
    return type(f"tunaeval-{form}", (_Detector, base), made)


class _Detector:
    """A parser of one reply, without what it inherits from SGLang's `BaseFormatDetector`."""

    settings: Any
    _reply: Any = None

    def has_tool_call(self, text: str) -> bool:
        """Whether there may be a call; SGLang warns if there is none."""
        return any(sign in text for sign in "{[<(")

    def supports_structural_tag(self) -> bool:
        """Whether calls are forced in the format; without, SGLang forces and reads JSON."""
        return False

    def structure_info(self) -> Any:
        raise NotImplementedError

    def detect_and_parse(self, text: str, tools: Sequence[Any]) -> Any:
        words, calls, _ = self._begin(tools).whole(text)
        return self._found(words, calls, {tool.function.name: at for at, tool in enumerate(tools)})

    def parse_streaming_increment(self, new_text: str, tools: Sequence[Any]) -> Any:
        self._reply = self._reply or self._begin(tools)
        return self._found(*self._reply.feed(new_text))

    def finish(self, tools: Sequence[Any]) -> Any:
        self._reply = self._reply or self._begin(tools)
        return self._found(*self._reply.finish()[:2])

    def _begin(self, tools: Sequence[Any]) -> Any:
        from tunaeval.parsing.served import Reply, read_tools  # noqa: PLC0415

        known = read_tools(tools, _LOG.warning)
        return Reply(self.settings, known, plain=_given("--reasoning-parser"))

    def _found(self, words: str, calls: Sequence[Any], places: dict[str, int] | None = None) -> Any:
        types = import_module("sglang.srt.function_call.core_types")
        items = [
            types.ToolCallItem(
                tool_index=one.at if places is None else places.get(one.name, -1),
                name=one.name,
                parameters=one.arguments,
            )
            for one in calls
        ]
        return types.StreamingParseResult(normal_text=words, calls=items)
