"""Judges by rule, for the tests: clients that read what they are asked, as a model would."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Callable

from tunaeval.scoring.judging.judge import Judge
from tunaeval.scoring.judging.view import frames
from tunaeval.types.calls import ToolCall
from tunaeval.types.conversations import Transcript
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.messages import Message
from tunaeval.types.runs import CategoryScore


class Rule:
    """A client whose reply is a function of the request."""

    name: str = "rule"

    def __init__(self, reply: Callable[[Request], str], model: str | None = "rule-1") -> None:
        self._reply = reply
        self.model = model
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        return Reply({"role": "assistant", "content": self._reply(request)}, finish_reason="stop")

    async def close(self) -> None:
        """Nothing is open."""


def shown(request: Request) -> str:
    """The transcript in a request."""
    (transcript,) = frames(request.messages[1]["content"])
    return transcript


def verdict(score: float | str, reason: str = "So it seems.") -> str:
    return json.dumps({"reason": reason, "score": score})


def transcript(*contents: str, query: str = "Read a.txt.") -> Transcript:
    """One call with its result, then these words of the agent."""
    call = Message("assistant", "", (ToolCall("read_file", {"filepath": "a.txt"}, "c1"),))
    result = Message("tool", "alpha", tool_call_id="c1")
    said = [Message("assistant", content) for content in contents]
    return Transcript(query, (Message("user", query), call, result, *said))


def goal(judge: Judge, of: Transcript | None = None) -> CategoryScore:
    return asyncio.run(judge.judge(of or transcript("It says alpha.")))["goal-completion"]


def cpu_seconds(act: Callable[[], object]) -> float:
    """What it costs at the least, of a few times; the passes over all that lives are not ours."""

    def once() -> float:
        begun = time.process_time()
        act()
        return time.process_time() - begun

    gc.collect()
    gc.disable()
    try:
        return min(once() for _ in range(4))
    finally:
        gc.enable()
