"""A tool parser for SGLang: `--tool-call-parser tunaeval`, or `tunaeval-NAME` for one format.

SGLang calls `register` by the entry point of this package, before it parses its arguments. With
`sglang.Engine`, which has none, a program calls it after the import.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import tunaeval


def register() -> None:
    """Add the parsers to SGLang's, if an argument of the process asks for one of them, or a program
    calls this itself. Otherwise nothing of SGLang is imported, as its parsers take seconds.
    """
    by_sglang = sys._getframe(1).f_globals.get("__name__", "").startswith("sglang.")  # noqa: SLF001 - who calls
    if _given("tunaeval") or ("sglang" in sys.modules and not by_sglang):
        from tunaeval.parsing.served import Settings  # noqa: PLC0415 - the whole engine

        calls = import_module("sglang.srt.function_call.function_call_parser")
        known, base = calls.FunctionCallParser.ToolCallParserEnum, calls.BaseFormatDetector
        for form in tunaeval.formats:
            made = {"settings": Settings.of(form, os.environ), "__module__": __name__}
            known[f"tunaeval-{form}"] = type(f"tunaeval-{form}", (_Detector, base), made)
        known["tunaeval"] = known["tunaeval-auto"]


def _given(word: str) -> bool:
    """Whether an argument of the process, or the value of one, begins with the word."""
    return any(part.startswith(word) for one in sys.argv[1:] for part in one.split("=", 1))


class _Detector:
    """A parser of one reply, without what it inherits from SGLang's `BaseFormatDetector`."""

    settings: Any
    structure_info: Any = None
    _reply: Any = None

    def has_tool_call(self, text: str) -> bool:
        return any(sign in text for sign in "{[<(")  # SGLang warns where it is and no call was read

    def supports_structural_tag(self) -> bool:
        return False  # SGLang forces calls as JSON, and reads them itself

    def detect_and_parse(self, text: str, tools: Sequence[Any]) -> Any:
        places = {tool.function.name: at for at, tool in enumerate(tools)}
        words, calls, _ = self._begin(tools).whole(text)
        return _found(words, [one._replace(at=places.get(one.name, -1)) for one in calls])

    def parse_streaming_increment(self, new_text: str, tools: Sequence[Any]) -> Any:
        self._reply = self._reply or self._begin(tools)
        return _found(*self._reply.feed(new_text))

    def finish(self, tools: Sequence[Any]) -> Any:
        return _found(*(self._reply or self._begin(tools)).finish()[:2])

    def _begin(self, tools: Sequence[Any]) -> Any:
        from tunaeval.parsing.served import Reply, read_tools  # noqa: PLC0415 - as above

        known = read_tools(tools, logging.getLogger("sglang.tunaeval").warning)
        return Reply(self.settings, known, plain=_given("--reasoning-parser"))


def _found(words: str, calls: Sequence[Any]) -> Any:
    types = import_module("sglang.srt.function_call.core_types")
    made = types.ToolCallItem
    items = [made(tool_index=one.at, name=one.name, parameters=one.arguments) for one in calls]
    return types.StreamingParseResult(normal_text=words, calls=items)
