"""One call of 4 KB in six formats, in pieces: vLLM's own tool parsers beside tunaeval's.

    python tests/hosts/engines.py vllm-0.33.0
    pip install partial-json-parser   # which a parser of vLLM needs
    python benchmarks/in_vllm.py [--rounds 20] [--size 4000]

Both run in vLLM's own `Parser`, with torch stubbed. A piece has four characters; a special token is
a piece of its own. The time is that of all pieces of a reply by their number, the least of all
rounds; what each reads is compared with what was written.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import types
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.hosts.engines import directory
from tests.hosts.programs import stubs

FORMATS = {
    "hermes": ("hermes", ("<tool_call>", "</tool_call>")),
    "deepseek-v3.1": (
        "deepseek_v31",
        tuple(
            f"<｜tool▁{one}｜>"
            for one in ("calls▁begin", "calls▁end", "call▁begin", "call▁end", "sep")
        ),
    ),
    "qwen3-coder": ("qwen3_coder", ("<tool_call>", "</tool_call>")),
    "glm45": (
        "glm45",
        ("<tool_call>", "</tool_call>", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
    ),
    "kimi-k2": (
        "kimi_k2",
        tuple(
            f"<|tool_call{one}|>"
            for one in ("s_section_begin", "s_section_end", "_begin", "_end", "_argument_begin")
        ),
    ),
    "llama3-json": ("llama3_json", ("<|python_tag|>",)),
}
"""The name of vLLM's parser, and the special tokens of its models."""
LINE = 'def greet(name):\n    """Say "hello"."""\n    return f"hello, {name}\\n"  # {twice}\n\n'


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--release", default="vllm-0.33.0")
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--size", type=int, default=4_000)
    given = options.parse_args()
    stubs.prepare(str(directory(given.release)))
    sys.modules["vllm.env_override"] = types.ModuleType("vllm.env_override")
    import tunaeval.vllm
    from tunaeval.types.calls import ToolCall

    content = (LINE * (given.size // len(LINE) + 1))[: given.size]
    call = ToolCall("write_file", {"path": "a.py", "content": content})
    print(
        f"{given.release}, a call of {given.size:,} characters; µs a piece, and whether it is right"
    )
    for form, (theirs, special) in FORMATS.items():
        text = tunaeval.render([call], form)
        own = measured(theirs, text, special, call, given.rounds)
        ours = measured(f"tunaeval-{form}", text, special, call, given.rounds)
        print(
            f"{form:14} vLLM {own[0]:7.1f} {own[1]:20} tunaeval {ours[0]:7.1f} {ours[1]}",
            flush=True,
        )


def measured(
    name: str, text: str, special: tuple[str, ...], call: Any, rounds: int
) -> tuple[float, str]:
    """Return the least time a piece takes in µs, and what is right: whole, streamed."""
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.parser.parser_manager import ParserManager

    keys = {key: {"type": "string"} for key in call.arguments}
    tool = {"name": call.name, "parameters": {"type": "object", "properties": keys}}
    request: Any = ChatCompletionRequest(
        model="m",
        messages=[{"role": "user", "content": "x"}],
        tools=[{"type": "function", "function": tool}],
    )
    tokenizer: Any = Tokenizer(special)
    try:
        kind: Any = ParserManager.get_parser(
            name, None, enable_auto_tools=True, tokenizer=tokenizer
        )
    except TypeError as error:
        return float("nan"), f"{error.__cause__ or error}"
    parts = re.split(f"({'|'.join(map(re.escape, special))})", text)
    pieces = [p for one in parts for p in ([one] if one in special else stubs.pieces_of(one, 4))]
    ids = [tokenizer.encode(piece) for piece in pieces]
    least, arguments = float("inf"), ""
    for _ in range(rounds):
        parser = kind(tokenizer, request.tools)
        began, found = perf_counter(), []
        for at, piece in enumerate(pieces):
            last = at + 1 == len(pieces)
            found.append(parser.parse_delta(piece, ids[at], request, [1], finished=last))
        least = min(least, (perf_counter() - began) / len(pieces) * 1e6)
        sent = [one for delta in found if delta for one in delta.tool_calls]
        arguments = "".join(one.function.arguments or "" for one in sent if one.function)
    whole = kind(tokenizer, request.tools).parse(text, request, enable_auto_tools=True)[2] or []
    right = [alike(one.arguments, call) for one in whole] == [True], alike(arguments, call)
    return (
        least,
        f"whole {'right' if right[0] else 'WRONG'}, streamed {'right' if right[1] else 'WRONG'}",
    )


def alike(arguments: str, call: Any) -> bool:
    try:
        return bool(json.loads(arguments) == call.arguments)
    except ValueError:
        return False


class Tokenizer:
    def __init__(self, special: tuple[str, ...]) -> None:
        self.vocab = {word: at for at, word in enumerate(special, 10)}
        self.all_special_tokens = [*special]

    def get_vocab(self) -> dict[str, int]:
        return self.vocab

    def encode(self, text: str, **_: Any) -> list[int]:
        return [self.vocab[text]] if text in self.vocab else [1]

    def decode(self, ids: list[int], **_: Any) -> str:
        return "".join(word for word, at in self.vocab.items() if at in ids)


if __name__ == "__main__":
    main()
