"""An agent of pydantic-ai."""

from __future__ import annotations

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from tests.hosts.untouched.commands import MODEL, main
from tests.hosts.untouched.file_tools import TOOLS


async def work(base_url: str, prompt: str) -> str:
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=base_url, api_key="none"))
    return (await Agent(model, tools=TOOLS).run(prompt)).output


if __name__ == "__main__":
    main(work)
