"""Traces scored by verifiers 0.4 with our reward: as a method of a task, and by its name alone.

Prints one line of JSON: for each trace its rewards and its metrics.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.configs.agent import AgentConfig
from verifiers.v1.graph import MessageNode
from verifiers.v1.task import Task, TaskData
from verifiers.v1.trace import AgentInfo, Trace, TraceTask
from verifiers.v1.types import AssistantMessage, ToolCall, UserMessage

from tunaeval.rewards.verifiers import tool_reward, tool_rewards

GOOD = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>'
GOLD = json.dumps([{"name": "get_weather", "arguments": {"city": "Paris"}}])


class WeatherData(TaskData):
    gold: str = GOLD
    tools: str | None = None


class Weather(Task[WeatherData]):
    @vf.reward(weight=0.5)
    async def calls(self, task: WeatherData, trace: Any) -> float:
        return tool_reward(trace, task.gold, task.tools)

    @vf.metric
    async def parts(self, task: WeatherData, trace: Any) -> dict[str, float]:
        return tool_rewards(trace, task.gold, task.tools)


class Plugged(Task[WeatherData]):
    """Its reward is named in the configuration."""


def trace_of(task: Any, reply: AssistantMessage) -> Trace:
    example = AssistantMessage(content=GOOD.replace("Paris", "Oslo"))
    messages = [(UserMessage(content="?"), False), (example, False), (reply, True)]
    nodes = [
        MessageNode(parent=index - 1 if index else None, message=message, sampled=sampled)
        for index, (message, sampled) in enumerate(messages)
    ]
    told = TraceTask(type="Weather", data=task.data)
    return Trace(task=told, agent=AgentInfo(config=AgentConfig()), nodes=nodes)


async def main() -> None:
    call = ToolCall(id="1", name="get_weather", arguments='{"city": "Paris"}')
    replies = [
        AssistantMessage(content=GOOD),
        AssistantMessage(content=None, tool_calls=[call]),
        AssistantMessage(content=GOOD + "<tool_call>{"),
        AssistantMessage(content="No."),
    ]
    plugged = {"calls": {"fn": "tunaeval.rewards.verifiers:call_reward"}}
    config = vf.TaskConfig.model_validate({"rewards": plugged})
    found = []
    for task in (Weather(WeatherData()), Plugged(WeatherData(), config)):
        for reply in replies:
            trace = trace_of(task, reply)
            await task.score(trace)
            rewards = {name: one.score * one.weight for name, one in trace.rewards.items() if one}
            found.append({"rewards": rewards, "metrics": trace.metrics})
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
