"""An agent of OpenAI Agents, which asks by its default, the Responses API."""

from __future__ import annotations

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from tests.hosts.untouched.commands import MODEL, main
from tests.hosts.untouched.file_tools import TOOLS


async def work(base_url: str, prompt: str) -> str:
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=base_url, api_key="none")
    agent = Agent(
        name="agent",
        model=OpenAIResponsesModel(MODEL, client),
        tools=[function_tool(tool) for tool in TOOLS],
    )
    return str((await Runner.run(agent, prompt)).final_output)


if __name__ == "__main__":
    main(work)
