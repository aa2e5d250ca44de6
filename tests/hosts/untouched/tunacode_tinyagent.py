"""TunaCode 0.2.3 as it is installed: its own `process_request`, which has no command any more."""

from __future__ import annotations

from tests.hosts.untouched.commands import MODEL, main


async def work(base_url: str, prompt: str) -> str:
    from tunacode.core.agents.main import process_request
    from tunacode.core.session import StateManager

    state = StateManager()
    state.session.user_config["env"] |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": base_url}
    await process_request(prompt, f"openai:{MODEL}", state)
    *_, last = state.session.conversation.messages
    return "".join(part.text for part in last.content if part.type == "text")


if __name__ == "__main__":
    main(work)
