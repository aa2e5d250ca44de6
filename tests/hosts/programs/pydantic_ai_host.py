"""An agent of pydantic-ai."""

from __future__ import annotations

from pydantic_ai import Agent, Tool
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.hosts.host_runs import Ask, Wrap, main
from tests.hosts.plain_tools import CASES, check, fail, read
from tests.hosts.scripted_server import MODEL


def build(url: str, wrap: Wrap) -> Ask:
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=url, api_key="none"))
    agent = Agent(model, tools=[wrap(Tool(read)), wrap(Tool(fail)), wrap(check)])

    async def ask(task: str) -> str:
        return (await agent.run(task)).output

    return ask


if __name__ == "__main__":
    main(build, CASES)
