"""The built-in sets of formats, each read side by side: `auto`, `qwen25`, and those of servers."""

from __future__ import annotations

from tunaeval.grammar.formats import AUTO, CHAIN, SETS

from .reader import Reader

qwen25 = Reader("qwen25", CHAIN, summary="the shapes of Qwen2.5, read side by side")
"""Reads what the five strategies of the TunaCode harness read: structured calls (in a message),
`<tool_call>` and `<tools>`, bare JSON, code fences, loose JSON."""

auto = Reader(
    "auto",
    AUTO,
    summary="finds the format in the text: all of them, read side by side",
    wants_tools=True,
)

dots, granite, hunyuan, k2_horizon, lfm2, rwkv, telechat4, llama3, mistral, qwen3, xlam = (
    Reader(name, forms) for name, forms in SETS.items()
)

READERS = (auto, qwen25, dots, granite, hunyuan, k2_horizon, lfm2, rwkv, telechat4, llama3, mistral,
         qwen3, xlam)  # fmt: skip
