"""What the real TunaCode stores of a task is what the settings for it say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.faults import Answer, FaultServer
from tests.tasks.real_tunacode import answer_of
from tunaeval import read_conversation
from tunaeval.scoring.settings import TUNACODE_0_2, TUNACODE_2025_12
from tunaeval.types.calls import JsonObject
from tunaeval.types.messages import Message

pytestmark = pytest.mark.hosts

DECEMBER = """
import asyncio, glob, json, os, sys
from tunacode.core.agents.main import process_request
from tunacode.core.state import StateManager
os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": sys.argv[1]}
state = StateManager()
state.session.user_config["env"] |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": sys.argv[1]}
state.session.project_id = "p"
asyncio.run(process_request("What is in a.txt?", "openai:gpt-4o", state))
state.save_session()
(file,) = glob.glob(os.path.expanduser("~/.local/share/tunacode/sessions/*.json"))
print(json.dumps(json.load(open(file))))
"""
SINCE_0_2 = DECEMBER.replace("core.state", "core.session.state").replace(
    "state.save_session()", "asyncio.run(state.save_session())"
)
ABOUT = {"id": "x", "created": 1, "model": "m"}
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
MARKED = "TUNACODE DONE: it says alpha."


def whole(message: JsonObject, end: str) -> Answer:
    """A chat completion as pydantic-ai takes it."""
    choice = {"index": 0, "message": message, "finish_reason": end}
    body = {**ABOUT, "object": "chat.completion", "choices": [choice], "usage": USAGE}
    return Answer(json.dumps(body).encode(), headers={"content-type": "application/json"})


def streamed(message: JsonObject, end: str) -> Answer:
    """The same in chunks, which is the only way that 0.2 asks for one."""
    if calls := message.get("tool_calls"):
        message = {**message, "tool_calls": [{**call, "index": 0} for call in calls]}
    chunks: list[JsonObject] = [
        {"choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": end}]},
        {"choices": [], "usage": USAGE},
    ]
    lines = [json.dumps({**ABOUT, "object": "chat.completion.chunk", **one}) for one in chunks]
    body = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"])
    return Answer(body.encode(), headers={"content-type": "text/event-stream"})


def session(environment: str, program: str, last: str, home: Path) -> tuple[Message, ...]:
    """The messages of a session in which a file was read and something was said at the end."""
    (home / "a.txt").write_text("alpha\n")
    function = {"name": "read_file", "arguments": json.dumps({"filepath": str(home / "a.txt")})}
    call = {"id": "c1", "type": "function", "function": function}
    answer = streamed if program is SINCE_0_2 else whole
    asked = answer({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls")
    with FaultServer(asked, answer({"role": "assistant", "content": last}, "stop")) as server:
        stored = answer_of(environment, program, server.base_url, home=home)
    return read_conversation(stored).messages


def test_december_stores_its_marker_nowhere_and_the_last_word_is_all_there_is(
    tmp_path: Path,
) -> None:
    messages = session("tunacode-0.1.19", DECEMBER, MARKED, tmp_path)
    assert MARKED.startswith(TUNACODE_2025_12.completion_phrases)
    assert not any("TUNACODE DONE" in one.content for one in messages if one.role == "assistant")
    assert (messages[-1].role, messages[-1].content) == ("assistant", "it says alpha.")
    assert not messages[-1].tool_calls


def test_december_may_store_a_prompt_of_its_own_after_the_last_word(tmp_path: Path) -> None:
    *_, last, own = session("tunacode-0.1.19", DECEMBER, "It says alpha.", tmp_path)
    assert (last.role, last.content) == ("assistant", "It says alpha.")
    assert own.role == "user"


@pytest.mark.parametrize("last", [MARKED, "It says alpha."])
def test_since_0_2_the_last_word_is_stored_as_it_was_and_nothing_after_it(
    tmp_path: Path, last: str
) -> None:
    messages = session("tunacode-0.2.3", SINCE_0_2, last, tmp_path)
    assert [one.role for one in messages] == ["user", "assistant", "tool", "assistant"]
    assert messages[-1].content == last
    assert TUNACODE_0_2.last_word_ends
    assert not TUNACODE_0_2.completion_phrases
