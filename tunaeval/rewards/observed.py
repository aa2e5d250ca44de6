"""Find the parts of a text that the model did not write: answers of tools, turns of others.

Texts of several turns contain both (verl passes them to rewards like this). Each part is replaced
by as many blanks, so that offsets stay the same. A marker inside a call is part of its text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tunaeval.types.calls import Span

_BLOCKS = (
    ("<tool_response>", "</tool_response>"),
    ("<|observation|>", "<|assistant|>"),
    ("<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>"),
    ("[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    ("<|im_start|>tool", "<|im_start|>assistant"),
    ("<|im_start|>user", "<|im_start|>assistant"),
    ("<|im_start|>system", "<|im_start|>assistant"),
    ("<|start_header_id|>ipython", "<|start_header_id|>assistant"),
    ("<|start_header_id|>tool", "<|start_header_id|>assistant"),
    ("<|start_header_id|>user", "<|start_header_id|>assistant"),
)
"""Markers around answers and other turns in the chat templates of Qwen and Hermes, GLM, DeepSeek,
Mistral, ChatML and Llama 3; a block without its end continues to the end of the text.
"""


def has_observations(text: str) -> bool:
    """Whether the text may have a marker of an answer or of a turn."""
    return "<|" in text or "<tool_resp" in text or "<｜" in text or "[TOOL_" in text


def observations(text: str, calls: Sequence[Span]) -> list[Span]:
    """Return the spans of other speakers, in order; markers inside `calls` do not count."""
    return [*_found(text, sorted(calls))]


def without(text: str, spans: Sequence[Span]) -> str:
    """Return the text with blanks in place of the spans."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


def _found(text: str, calls: list[Span]) -> Iterator[Span]:
    at, call = 0, 0
    nearest = {opener: text.find(opener) for opener, _ in _BLOCKS}
    while True:
        for opener, found in nearest.items():
            if 0 <= found < at:
                nearest[opener] = text.find(opener, at)
        starts = [(found, opener) for opener, found in nearest.items() if found >= 0]
        if not starts:
            return
        start, opener = min(starts)
        while call < len(calls) and calls[call].end <= start:
            call += 1
        if call < len(calls) and calls[call].start <= start:
            at = max(calls[call].end, start + 1)
            continue
        closer = dict(_BLOCKS)[opener]
        end = text.find(closer, start + len(opener))
        at = len(text) if end < 0 else end + len(closer)
        yield Span(start, at)
