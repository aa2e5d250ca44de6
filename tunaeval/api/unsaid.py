"""What a transcript leaves open: calls that are written in texts, and names that may be wrong."""

from __future__ import annotations

from collections.abc import Sequence

from tunaeval.errors import UnknownNameError
from tunaeval.scoring.settings import ScoreSettings
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Message
from tunaeval.types.parsing import ParseResult
from tunaeval.types.roles import Transcript

from .verdicts import read_calls

_SHOWN = 5


def written(
    messages: Sequence[Message], settings: ScoreSettings
) -> tuple[tuple[int, ParseResult], ...]:
    """Return what `match` reads in the assistant's texts without structured calls, by message
    index, if calls are expected or forbidden.
    """
    if settings.wanted is None and not settings.forbid:
        return ()
    texts = (
        (index, read_calls(message, settings.tools))
        for index, message in enumerate(messages)
        if message.role == "assistant" and message.content and not message.tool_calls
    )
    return tuple((index, read) for index, read in texts if read.outcome != "no_call")


def unverified(transcript: Transcript, settings: ScoreSettings) -> list[str]:
    """Return a note on forbidden names that no call has and no list of tools confirms: they may be
    typos.
    """
    called = {call.name for message in transcript.messages for call in message.tool_calls}
    called |= {execution.tool for execution in transcript.executions}
    names = [one for one in settings.forbid if isinstance(one, str) and one not in called]
    if not names or settings.tools is not None:
        return []
    listed = ", ".join(map(repr, names))
    near = {one for name in names for one in UnknownNameError("tool", name, called).near}
    hint = f"; called were {', '.join(map(repr, sorted(near)))}: was that meant?" if near else ""
    words = f"forbidden: {listed}, with no list of tools, so nobody knows if there are such"
    return [words + hint]


def strange(task: Conversation) -> list[str]:
    """Return a note on messages of unknown roles: if they are the agent's, the score lacks them."""
    at = [str(one.source) for one in task.warnings if one.code == "unknown-role"]
    first = next((one.message for one in task.warnings if one.code == "unknown-role"), "")
    more = f" and {len(at) - _SHOWN} more" if len(at) > _SHOWN else ""
    where = f"message {', '.join(at[:_SHOWN])}{more}"
    return [f"{first} ({where}), so it counts for nobody"] if at else []
