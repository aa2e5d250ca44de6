"""A turn of a transcript as a suite of one scenario, to be edited: what was asked, with the calls
that were made as the expectation.
"""

from __future__ import annotations

from itertools import groupby

from tunaeval.data.rows import chat_messages
from tunaeval.errors import ToolsError, UsageError
from tunaeval.showing import counted
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import Tools, ToolSpec
from tunaeval.types.conversations import Conversation
from tunaeval.types.messages import Message
from tunaeval.types.runs import Expectation, ExpectedCall, Scenario, Suite


def suite_of_turn(
    conversation: Conversation, turn: int, *, name: str, tools: Tools | None = None
) -> Suite:
    """Return the suite of the assistant's turn with this number, from 1.

    Messages of the assistant without another between them are one turn. `tools` are those that were
    offered; if they are not given, the transcript's own, and those that it calls. Raises UsageError
    if there is no such turn, nothing was asked before it, or it says nothing that can be expected:
    its calls cannot be read, or the run failed before it made any.
    """
    start, replies = _turn(conversation.messages, turn)
    before = list(conversation.messages[:start])
    system = []
    while before and before[0].role == "system":
        system.append(before.pop(0).content)
    # A message of reasoning alone, as some agents keep it, may be refused by a server.
    before = [one for one in before if one.role != "assistant" or one.content or one.tool_calls]
    if not before:
        raise UsageError(
            f"nothing was asked before turn {turn}; wanted a transcript that has the user's request"
        )
    prompt = "" if before[-1].is_result else before.pop().content
    calls = [call for reply in replies for call in reply.tool_calls]
    lost = next((call for call in calls if not call.name or call.invalid), None)
    after = conversation.messages[start + len(replies) :]
    failure = None if any(one.role == "assistant" for one in after) else conversation.failure
    if lost or (not calls and (failure or not any(one.content for one in replies))):
        why = f"its call of {lost.name!r} cannot be read" if lost else failure or "it is empty"
        raise UsageError(f"turn {turn} says nothing that can be expected: {why}")
    made = tuple(ExpectedCall(name=call.name, arguments=dict(call.arguments)) for call in calls)
    scenario = Scenario(
        id=f"{name}-turn-{turn}",
        prompt=prompt,
        messages=tuple(chat_messages(before)),
        expect=Expectation(calls=made) if made else Expectation(none=True),
        notes=f"turn {turn} of a transcript ({conversation.shape}); the calls are those that were "
        "made, right or wrong",
    )
    return Suite(
        name=name,
        scenarios=(scenario,),
        tools=_tools(conversation) if tools is None else tools,
        system_prompt="\n\n".join(system),
    )


def _turn(messages: tuple[Message, ...], turn: int) -> tuple[int, list[Message]]:
    """Return the index of the turn's first message, and its messages."""
    count = 0
    for is_reply, group in groupby(enumerate(messages), lambda item: item[1].role == "assistant"):
        count += is_reply
        if is_reply and count == turn:
            items = list(group)
            return items[0][0], [message for _, message in items]
    raise UsageError(
        f"turn is {turn}; the transcript has {counted(count, 'turn')} of the assistant"
    )


def _tools(conversation: Conversation) -> Tools:
    """Return the tools that the transcript describes, and those that it calls without describing
    them: these with the arguments that occur, of any type.
    """
    try:
        offered = to_tools(list(conversation.tools))
    except ToolsError as error:
        raise UsageError(f"the transcript's tools cannot be understood: {error}") from error
    called: dict[str, dict[str, None]] = {}
    for call in (call for message in conversation.messages for call in message.tool_calls):
        if call.name not in offered:
            called.setdefault(call.name, {}).update(dict.fromkeys(call.arguments))
    return Tools([*offered.values(), *(
        ToolSpec(name, parameters={"type": "object", "properties": {one: {} for one in keys}})
        for name, keys in called.items()
    )])  # fmt: skip
