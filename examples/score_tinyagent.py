"""Score an agent of tinyagent, which keeps its messages itself and runs a reply's calls at once.

The model here is a script; without `stream_fn`, tinyagent asks a real one.

$ python examples/score_tinyagent.py
Four each.
count{'of': 'milk'}: assumed, ... s
count{'of': 'eggs'}: assumed, ... s
goal-completion: 1.0, the check passed; signals: the assistant had the last word
plan-correctness: 1.0, steps: 1
success-ratio: 1.0, 2 of 2 succeeded, 0 failed, 0 without a result, 0 retried
repetition: 1.0, 0 of 2 calls repeat a call and its answer
context-efficiency: 1.0, about 25 tokens (characters / 4)
score: 1.00
"""

import asyncio
from typing import Self

import tinyagent as tiny

import tunaeval

QUERY = "How many milk and eggs are on the list?"


async def count(_call_id: str, args: dict[str, str], *_: object) -> tiny.AgentToolResult:
    await asyncio.sleep(0.01)
    return tiny.AgentToolResult([tiny.TextContent(text=f"4 {args['of']}")])


TOOL = tiny.AgentTool("count", "Count items.", {"type": "object"}, "Count", count)


class Scripted:
    """A reply, streamed in one piece."""

    def __init__(self, *content: tiny.TextContent | tiny.ToolCallContent) -> None:
        self.message = tiny.AssistantMessage(content=[*content], stop_reason="stop")
        self.events = iter([tiny.AssistantMessageEvent(type="done", message=self.message)])

    async def result(self) -> tiny.AssistantMessage:
        return self.message

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tiny.AssistantMessageEvent:
        for event in self.events:
            return event
        raise StopAsyncIteration


CALLS = [tiny.ToolCallContent(id=of, name="count", arguments={"of": of}) for of in ("milk", "eggs")]
REPLIES = iter([Scripted(*CALLS), Scripted(tiny.TextContent(text="Four each."))])


async def say(*_: object) -> Scripted:
    return next(REPLIES)


async def main() -> None:
    agent = tiny.Agent(tiny.AgentOptions(stream_fn=say))
    agent.set_model(tiny.Model(provider="scripted", id="scripted"))
    async with tunaeval.scoring_session(
        QUERY, messages=agent.state, check=lambda seen: "Four" in seen.messages[-1].content
    ) as session:
        agent.set_tools([session.wrap(TOOL)])
        print(await agent.prompt_text(QUERY))
        for run in session.executions:
            print(f"{run.tool}{run.arguments}: {run.ok_reason}, {run.duration_seconds} s")
    assert session.score, session.failure
    for name, category in session.score.categories.items():
        print(f"{name}: {category.value}, {category.reason}")
    print(f"score: {session.score.weighted_total:.2f}")


asyncio.run(main())
