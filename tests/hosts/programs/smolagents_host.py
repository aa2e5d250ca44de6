"""An agent of smolagents, which calls tools by JSON; it is done when it calls `final_answer`."""

from __future__ import annotations

from smolagents import LogLevel, OpenAIModel, ToolCallingAgent, tool

from tests.hosts.host_runs import Ask, Wrap, main
from tests.hosts.plain_tools import CASES, check, fail_at_once, read
from tests.hosts.scripted_server import MODEL, Call

DONE = (Call("call_z", "final_answer", {"answer": "Done."}),)


def build(url: str, wrap: Wrap) -> Ask:
    fail = tool(fail_at_once)
    fail.name = "fail"
    agent = ToolCallingAgent(
        tools=[wrap(tool(read)), wrap(fail), tool(wrap(check))],
        model=OpenAIModel(MODEL, api_base=url, api_key="none", client_kwargs={"max_retries": 0}),
        max_steps=5,
        verbosity_level=LogLevel.OFF,
    )

    async def ask(task: str) -> str:
        return str(agent.run(task))

    return ask


if __name__ == "__main__":
    main(build, CASES, done=DONE)
