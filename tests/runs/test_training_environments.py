"""A suite as TRL's environment: its tools are methods, and its checks are the reward."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import tunaeval
from tests.runs.tasks import CALC, EIGHT, TASK, suite_of
from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.runs.driving import Environment
from tunaeval.runs.trl import TrainingEnvironment, environment
from tunaeval.types.runs import Suite


def trained(path: Path, *tasks: dict[str, Any], **row: Any) -> Suite:
    """A suite of these tasks, all in the part that is trained on."""
    return suite_of(path, *tasks, group="g1", **row)


def said(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "content": one} for one in texts]


def begun(found: TrainingEnvironment, row: int = 0) -> Any:
    one = found.factory()
    assert one.reset(**found.rows[row]) is None
    return one


def test_the_public_methods_are_reset_and_the_tools(tmp_path: Path) -> None:
    kind = environment(trained(tmp_path, TASK)).factory
    public = {name for name in dir(kind) if not name.startswith("_")}
    assert public == {"reset", *EIGHT}
    found = {name for name, _ in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}
    assert found == public, "nothing is static, a property or a class"


def test_a_method_has_the_types_and_words_of_its_tool(tmp_path: Path) -> None:
    read_file = begun(environment(trained(tmp_path, TASK))).read_file
    assert get_type_hints(read_file)["filepath"] is str
    assert [*inspect.signature(read_file).parameters][:1] == ["filepath"]
    assert "\nArgs:\n    filepath: " in read_file.__doc__


def test_a_row_has_the_words_of_an_evaluation(tmp_path: Path) -> None:
    (row,) = environment(trained(tmp_path, TASK)).rows
    assert row["scenario"] == "task-0"
    assert row["prompt"][-1] == {"role": "user", "content": "Repair add"}


def test_an_episode_that_passes_earns_one_and_another_its_share(tmp_path: Path) -> None:
    found = environment(trained(tmp_path, TASK))
    right, idle, harm = begun(found), begun(found), begun(found)
    assert right.read_file(filepath="calc.py") == CALC
    right.update_file(filepath="calc.py", target="a - b", patch="a + b")
    harm.bash(command="ls")
    assert harm.write_file("tests/other.py", "x = 1") == "tests/other.py was written"
    earned = found.reward([said("Done.")] * 3, [right, idle, harm], prompts=[1, 2, 3])
    assert earned == [1.0, 0.5, 0.0]
    idle.reset(**found.rows[0])
    assert idle.read_file(filepath="calc.py") == CALC, "each episode has files of its own"


def test_a_tool_that_fails_says_so_as_in_an_evaluation(tmp_path: Path) -> None:
    one = begun(environment(trained(tmp_path, TASK)))
    assert one.read_file(filepath="none.py").startswith("Error: ")
    assert one.read_file(nonsense=1).startswith("Error: ")


def test_calls_are_those_that_were_run(tmp_path: Path) -> None:
    checks = [{"calls": {"calls": [{"name": "read_file", "arguments": {"filepath": "calc.py"}}]}}]
    found = environment(trained(tmp_path, {**TASK, "checks": checks}))
    ran, wrote = begun(found), begun(found)
    ran.read_file(filepath="calc.py")
    called = {"name": "read_file", "arguments": {"filepath": "calc.py"}}
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [{"function": called}]},
        {"role": "tool", "name": "read_file", "content": CALC},
        *said("It adds."),
    ]
    only_text = said(f"<tool_call>{json.dumps(called)}</tool_call>")
    assert found.reward([messages, only_text], [ran, wrote]) == [1.0, 0.0]


def test_the_answer_is_the_last_message(tmp_path: Path) -> None:
    checks = [{"answer": {"contains": "42"}}, {"unchanged": "tests/"}]
    found = environment(trained(tmp_path, {**TASK, "checks": checks}))
    texts = [said("41", "<think>Is it 41?</think>42"), said("42", "41"), "42", []]
    assert found.reward(texts, [begun(found) for _ in texts]) == [1.0, 0.5, 1.0, 0.5]


def test_tools_of_ones_own_keep_their_state(tmp_path: Path) -> None:
    def made(_workspace: tunaeval.Workspace, _episode: tunaeval.Episode) -> dict[str, Any]:
        rooms: list[str] = []

        def book(room: str) -> list[str]:
            rooms.append(room)
            return rooms

        return {"book": book}

    tools = [{
        "name": "book", "description": "Book a room.\n\nReturns: the rooms.", "parameters": {
            "type": "object", "required": ["room"], "properties": {
                "nights": {"type": ["integer", "null"], "default": 1},
                "room": {"enum": ["red", "blue"], "description": "Which\nroom."},
                "tags": {"type": "array", "items": {"type": "string"}},
                "more": {"type": "object", "additionalProperties": {"type": "number"}},
                "any": {},
            },
        },
    }]  # fmt: skip
    suite = trained(tmp_path, TASK).with_(tools=tunaeval.to_tools(tools))
    found = environment(suite, around=Environment(tools=made))
    one, other = begun(found), begun(found)
    assert (one.book(room="red"), one.book(room="blue")) == ('["red"]', '["red","blue"]')
    assert other.book("red") == '["red"]'
    assert str(inspect.signature(one.book)).startswith("(room: Literal['red', 'blue'], nights: int")
    hints = get_type_hints(one.book)
    assert hints["tags"] == list[str]
    assert hints["more"] == dict[str, float]
    assert one.book.__doc__.splitlines()[0] == "Book a room. Returns - the rooms."
    with pytest.raises(UsageError, match="nothing runs the tool 'book'"):
        environment(suite)


def test_users_servers_and_the_test_part_are_refused_by_name(tmp_path: Path) -> None:
    plain = trained(tmp_path, TASK)
    with pytest.raises(UsageError, match=r"'tasks' has users \(scenario 'task-0'\)"):
        environment(trained(tmp_path, {**TASK, "users": ["And now?"]}))
    with pytest.raises(UsageError, match=r"'tasks' has servers \(weather-server\)"):
        environment(plain.with_(mcp=("weather-server",)))
    with pytest.raises(UsageError, match="split is 'test'"):
        environment(plain, split="test")
    with pytest.raises(UnknownNameError, match="part of a suite"):
        environment(plain, split="all")  # type: ignore[arg-type] # to be refused
    with pytest.raises(UsageError, match="has the name 'get_reward'"):
        environment(plain.with_(tools=tunaeval.to_tools([{"name": "get_reward"}])))


def test_only_what_is_trained_on_can_be_asked(tmp_path: Path) -> None:
    found = environment("repair-tasks", trained_on=tmp_path / "trained.jsonl")
    tested = tunaeval.load_suite("repair-tasks").split("test").scenarios[0].id
    one: Any = found.factory()
    with pytest.raises(UnknownNameError, match="scenario to train on"):
        one.reset(scenario=tested)
    with pytest.raises(UsageError, match="no episode has begun"):
        one.read_file(filepath="a")
    assert (tmp_path / "trained.jsonl").read_bytes() == b"", "nothing was given to reset"
    with pytest.raises(UsageError, match="1 completions and 0 environments"):
        found.reward([said("Done.")], [])


def test_episodes_leave_no_descriptor_and_no_directory(tmp_path: Path) -> None:
    found = environment(trained(tmp_path, TASK))
    one = begun(found)
    before = len([*Path("/proc/self/fd").iterdir()])
    for _ in range(20):
        one.reset(**found.rows[0])
        one.read_file(filepath="calc.py")
        found.reward([said("Done.")], [one])
    assert len([*Path("/proc/self/fd").iterdir()]) == before
    workspace = one._driver.workspace.path
    del one
    assert not workspace.exists()


def test_single_questions_are_trained_on_by_their_calls() -> None:
    suite = tunaeval.load_suite("smoke")
    found = environment(suite)
    wanted = {one.id: one.expect.calls for one in suite.scenarios}
    earned = []
    for number, row in enumerate(found.rows):
        one = begun(found, number)
        for call in wanted[row["scenario"]] or ():
            assert getattr(one, call.name)(**call.arguments) == ""
        earned += found.reward([said("Done.")], [one])
    assert earned.count(1.0) >= len(earned) - 3, "but for those with matchers or sequences"
