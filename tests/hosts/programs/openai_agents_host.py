"""An agent of OpenAI Agents, which asks by chat completions."""

from __future__ import annotations

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from tests.hosts.host_runs import Ask, Wrap, main
from tests.hosts.plain_tools import CASES, check, fail, read
from tests.hosts.scripted_server import MODEL


def build(url: str, wrap: Wrap) -> Ask:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
    agent = Agent(
        name="host",
        model=OpenAIChatCompletionsModel(MODEL, client),
        tools=[wrap(function_tool(read)), wrap(function_tool(fail)), function_tool(wrap(check))],
    )

    async def ask(task: str) -> str:
        return str((await Runner.run(agent, task)).final_output)

    return ask


if __name__ == "__main__":
    main(build, CASES)
