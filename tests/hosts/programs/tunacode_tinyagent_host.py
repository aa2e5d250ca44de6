"""TunaCode 0.2.3, whose agent is one of tinyagent's: its own tools, its own `process_request`.

The tools are wrapped where the host lists them, before it limits how many run at once: behind
that, waiting for the others would count as a tool's time.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from tests.hosts.host_runs import Ask, Wrap, in_a_workplace, main
from tests.hosts.tunacode_cases import CASES

NAMES = ("bash", "discover", "read_file", "hashline_edit", "web_fetch", "write_file")


def build(url: str, wrap: Wrap) -> Ask:
    from tunacode.core.agents import main as requests
    from tunacode.core.agents.agent_components import agent_config
    from tunacode.core.session import StateManager

    for name, tool in as_imported(agent_config).items():
        setattr(agent_config, name, wrap(replace(tool)))
    state = StateManager()
    state.session.user_config["env"] |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}

    async def ask(task: str) -> str:
        state.session.conversation.messages.clear()
        await requests.process_request(task, "openai:gpt-4o", state)
        *_, last = state.session.conversation.messages
        return "".join(part.text for part in last.content if part.type == "text")

    return ask


@cache
def as_imported(agent_config: Any) -> dict[str, Any]:
    """The tools before the host has changed them, which it does in place."""
    return {name: replace(getattr(agent_config, name)) for name in NAMES}


if __name__ == "__main__":
    in_a_workplace()
    main(build, CASES)
