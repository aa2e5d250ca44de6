"""A client that answers from a list: for tests, demonstrations and writing suites."""

from __future__ import annotations

from collections.abc import Sequence

from tunaeval.errors import ClientSetupError
from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.wanted import wanted_items


class ScriptedClient:
    """Gives its `replies` one after another, whatever it is asked.

    A string is the content of an assistant message, a dictionary a whole message; a Reply is
    returned unchanged, and an exception is raised. Calls may be in the text, unless a Reply's
    `source` says that they have to be structured. The requests are kept in `requests`.

    Examples:
        >>> client = tunaeval.ScriptedClient(['<tool_call>{"name": "ls"}</tool_call>'])
        >>> client.name
        'scripted'
    """

    name: str = "scripted"

    def __init__(self, replies: Sequence[str | JsonObject | Reply | Exception] = ()) -> None:
        self._replies = wanted_items(
            replies, "replies", str | dict | Reply | Exception, "texts, messages or a Reply each"
        )
        self.requests: list[Request] = []

    @property
    def details(self) -> JsonObject:
        return {"model": "scripted", "replies": len(self._replies)}

    async def complete(self, request: Request) -> Reply:
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self._replies):
            raise ClientSetupError(
                f"the script has {counted(len(self._replies), 'reply', 'replies')}, and request "
                f"{number + 1} came (scenario {request.scenario!r}, repeat {request.repeat}, "
                f"attempt {request.attempt}); give the client more replies"
            )
        match self._replies[number]:
            case str() | dict() as answer:
                message = (
                    {"role": "assistant", "content": answer} if isinstance(answer, str) else answer
                )
                return Reply(message, finish_reason="stop", source="text")
            case Reply() as reply:
                return reply
            case failure:
                raise failure

    async def close(self) -> None:
        """Do nothing: a script keeps nothing open."""
