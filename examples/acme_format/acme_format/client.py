"""A client: asks the model, here one that lives in this file and always reads a file."""

from __future__ import annotations

from tunaeval import ToolCall, render
from tunaeval.types import Reply, Request, Usage

from .wire import ACME


class AcmeClient:
    """Answers every question with a call of `read_file`, as Acme's model would write it.

    What is worth keeping beside a run's results is in `details`, and `heading` is above
    every score. A real client raises `TransportFailure` when a request failed, and
    `ClientSetupError` when none can succeed.
    """

    name = "acme"
    heading = "acme: a model that reads files, whatever it is asked"

    def __init__(self, model: str = "acme-1") -> None:
        self.details = {"model": model}

    async def complete(self, request: Request) -> Reply:
        question = str(request.messages[-1]["content"])
        path = next((word.strip("`'\".,?") for word in question.split() if "." in word[:-1]), ".")
        text = render([ToolCall("read_file", {"filepath": path})], format=ACME)
        message = {"role": "assistant", "content": text}
        return Reply(message, finish_reason="stop", usage=Usage(completion_tokens=len(text) // 4))

    async def close(self) -> None:
        """Nothing is open."""
