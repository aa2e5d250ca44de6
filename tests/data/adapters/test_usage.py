"""The tokens of a reply, whichever API wrote it and wherever it is kept."""

from __future__ import annotations

from typing import Any

import pytest

from tunaeval.data.adapters.documents import read_conversation
from tunaeval.types.messages import Usage

CACHED = {"input_tokens": 4, "cache_read_input_tokens": 120, "output_tokens": 5}
THOUGHT = {"promptTokenCount": 7, "candidatesTokenCount": 12, "thoughtsTokenCount": 30}
ASKED = {"role": "user", "content": "go"}
TEXT = {"type": "text", "text": "Done."}
USE = {"type": "tool_use", "id": "c", "name": "f", "input": {}}
REPLY = {"role": "assistant", "content": "Done."}


@pytest.mark.parametrize(("document", "prompt", "completion"), [
    ([ASKED, {"role": "assistant", "content": [TEXT], "usage": CACHED}], 124, 5),
    ([ASKED, {"role": "assistant", "content": "Done.", "usage": CACHED}], 124, 5),
    ([ASKED, {"role": "assistant", "content": [TEXT, USE], "usage": CACHED}], 124, 5),
    ([{"type": "assistant", "uuid": "u", "message": {
        "role": "assistant", "id": "m", "content": [TEXT], "usage": CACHED}}], 124, 5),
    ([{"role": "model", "parts": [{"text": "Done."}], "usageMetadata": THOUGHT}], 7, 42),
    ({"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}}],
      "usageMetadata": THOUGHT}, 7, 42),
    ({"choices": [{"index": 1, "message": {**REPLY, "content": "no"}},
                  {"index": 0, "message": REPLY}],
      "usage": {"prompt_tokens": 7, "completion_tokens": 42}}, 7, 42),
    ({"object": "response", "input": "go", "usage": {"input_tokens": 7, "output_tokens": 42},
      "output": [{"type": "reasoning", "summary": []},
                 {"type": "message", "role": "assistant", "content": [
                     {"type": "output_text", "text": "Done."}]}]}, 7, 42),
    ({"output": {"message": {"role": "assistant", "content": [{"text": "Done."}]}},
      "stopReason": "end_turn", "usage": {
          "inputTokens": 4, "cacheReadInputTokens": 120, "outputTokens": 5}}, 124, 5),
])  # fmt: skip
def test_tokens_are_counted_by_one_table(document: Any, prompt: int, completion: int) -> None:
    read = read_conversation(document)
    (spent,) = (message.usage for message in read.messages if message.usage)
    assert spent == Usage(prompt, completion)
    assert read.messages[-1].content == "Done."


def test_tokens_of_a_whole_run_are_those_of_its_conversation() -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 42}
    assert read_conversation({"messages": [ASKED, REPLY], "usage": usage}).usage == Usage(7, 42)
    metrics = {"total_prompt_tokens": 7, "total_completion_tokens": 42, "total_cost_usd": 0.5}
    steps = [{"step_id": 1, "source": "agent", "message": "Done."}]
    trajectory = {"schema_version": "ATIF-v1.6", "steps": steps, "final_metrics": metrics}
    assert read_conversation(trajectory).usage == Usage(7, 42, 0.5)
