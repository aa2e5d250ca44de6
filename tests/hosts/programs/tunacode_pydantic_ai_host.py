"""TunaCode 0.1.19, whose agent is one of pydantic-ai's: its own tools, its own `process_request`.

The tools are wrapped where the host makes them of its functions.
"""

from __future__ import annotations

from typing import Any

from tests.hosts.host_runs import Ask, Wrap, in_a_workplace, main
from tests.hosts.tunacode_cases import CASES


def build(url: str, wrap: Wrap) -> Ask:
    from pydantic_ai import Agent, Tool
    from tunacode.core.agents import main as requests
    from tunacode.core.agents.agent_components import agent_config
    from tunacode.core.state import StateManager

    def make(*args: Any, **settings: Any) -> object:
        return wrap(Tool(*args, **settings))

    agent_config.clear_all_caches()
    agent_config.get_agent_tool = lambda: (Agent, make)
    state = StateManager()
    state.session.user_config["env"] |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}

    async def ask(task: str) -> str:
        state.session.messages.clear()
        run = await requests.process_request(task, "openai:gpt-4o", state)
        return str(run.result.output)

    return ask


if __name__ == "__main__":
    in_a_workplace()
    main(build, CASES)
