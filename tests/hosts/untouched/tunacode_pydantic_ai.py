"""TunaCode 0.1.19 as it is installed: its own `process_request`.

Its `tunacode run` prints no answer, so this does in its place what that does.
"""

from __future__ import annotations

from tests.hosts.untouched.commands import MODEL, main


async def work(base_url: str, prompt: str) -> str:
    from tunacode.core.agents.main import process_request
    from tunacode.core.state import StateManager

    state = StateManager()
    state.session.user_config["env"] |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": base_url}
    run = await process_request(prompt, f"openai:{MODEL}", state)
    return str(run.result.output)


if __name__ == "__main__":
    main(work)
