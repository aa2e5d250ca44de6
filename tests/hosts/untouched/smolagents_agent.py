"""An agent of smolagents, which calls tools by JSON; it answers by the tool `final_answer`."""

from __future__ import annotations

import asyncio

from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool

from tests.hosts.untouched.commands import MODEL, main
from tests.hosts.untouched.file_tools import TOOLS


async def work(base_url: str, prompt: str) -> str:
    agent = ToolCallingAgent(
        tools=[tool(one) for one in TOOLS],
        model=OpenAIModel(MODEL, api_base=base_url, api_key="none"),
        max_steps=10,
        verbosity_level=LogLevel.OFF,
    )
    return str(await asyncio.to_thread(agent.run, prompt))


if __name__ == "__main__":
    main(work)
