"""vLLM's own `Parser`, its requests and its deltas, with any tool parser that it knows.

    python vllm_parser.py DIRECTORY

A line of the standard input has the parser's name, the fields of a request, a text, and how many
characters a piece has; the answer has what came of it whole and in pieces.
"""

from __future__ import annotations

import os
import sys
import types
from importlib import import_module
from time import perf_counter
from typing import Any

from tests.hosts.programs import stubs

stubs.prepare(sys.argv[1])
sys.modules["vllm.env_override"] = types.ModuleType("vllm.env_override")
import tunaeval.vllm  # noqa: E402 - the stubs come first

BEGAN = perf_counter()
tunaeval.vllm.register()
tunaeval.vllm.register()
EARLY = perf_counter() - BEGAN
LOADED = [name for name in sys.modules if name.startswith(("vllm.", "tunaeval."))]

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest  # noqa: E402 - the stubs come first
from vllm.entrypoints.openai.responses.protocol import ResponsesRequest  # noqa: E402 - the stubs come first
from vllm.parser.parser_manager import ParserManager  # noqa: E402 - the stubs come first
from vllm.tool_parsers import ToolParserManager  # noqa: E402 - the stubs come first

BEGAN = perf_counter()
tunaeval.vllm.register()
LATE = perf_counter() - BEGAN
HEARD = stubs.Heard("vllm.tunaeval")


class Tokenizer:
    """A tokenizer whose special tokens are those that a question gives it."""

    def __init__(self, words: list[str]) -> None:
        self.vocab = {word: at for at, word in enumerate(words, 10)}

    def get_vocab(self) -> dict[str, int]:
        return self.vocab

    def encode(self, text: str, **_: Any) -> list[int]:
        return [self.vocab[text]] if text in self.vocab else [1]

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(word for word, at in self.vocab.items() if at in ids)


def request_of(asked: dict[str, Any]) -> Any:
    fields = {"model": "m", **asked["request"]}
    if asked.get("api") == "responses":
        return ResponsesRequest(input="x", **fields)
    return ChatCompletionRequest(messages=[{"role": "user", "content": "x"}], **fields)


def answer(asked: dict[str, Any]) -> Any:
    if asked.get("about") == "start":
        known = [name for name in ToolParserManager.list_registered() if "tunaeval" in name]
        return {"early": EARLY, "late": LATE, "loaded": LOADED, "known": known}
    if asked.get("moved"):
        module, _, name = asked["moved"].rpartition(".")
        delattr(import_module(module), name)
    for variable in [name for name in os.environ if name.startswith("TUNAEVAL_")]:
        del os.environ[variable]
    os.environ.update(asked.get("environment", {}))
    if "tunaeval" in asked["parser"]:
        ToolParserManager.tool_parsers.pop(asked["parser"], None)
    if asked.get("alone"):
        return ToolParserManager.get_tool_parser(asked["parser"]).__name__
    tokenizer: Any = Tokenizer(asked.get("vocabulary", []))
    how = (asked["parser"], asked.get("reasoning_parser"))
    kind: Any = ParserManager.get_parser(*how, enable_auto_tools=True, tokenizer=tokenizer)
    HEARD.lines.clear()
    request = request_of(asked)
    adjusted = kind(tokenizer, request.tools).adjust_request(request_of(asked))
    constraint: Any = adjusted.structured_outputs
    whole = kind(tokenizer, request.tools).parse(asked["text"], request, enable_auto_tools=True)
    found = {
        "skips": adjusted.skip_special_tokens,
        "constraint": constraint and {"json": constraint.json, "tag": constraint.structural_tag},
        "whole": [
            *whole[:2],
            [[call.id, call.name, call.arguments] for call in whole[2] or ()],
        ],
        "streamed": streamed(kind(tokenizer, request.tools), request, tokenizer, asked),
    }
    return {**found, "log": HEARD.lines}


def streamed(parser: Any, request: Any, tokenizer: Tokenizer, asked: dict[str, Any]) -> list[Any]:
    pieces = asked.get("pieces") or stubs.pieces_of(asked["text"], asked.get("size", 4)) or [""]
    said, thought, calls = "", "", list[list[Any]]()
    for at, piece in enumerate(pieces):
        ids = tokenizer.encode(piece)
        delta = parser.parse_delta(piece, ids, request, [1], finished=at + 1 == len(pieces))
        if delta is None:
            continue
        said, thought = said + (delta.content or ""), thought + (delta.reasoning or "")
        for call in delta.tool_calls:
            if call.index == len(calls):
                calls.append([call.id, "", "", 0, at])
            known = calls[call.index]
            known[1] += call.function.name or ""
            known[2] += call.function.arguments or ""
            known[3] += 1
    return [thought, said, calls]


stubs.answer_all(answer)
