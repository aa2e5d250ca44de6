"""No model is asked with a system prompt that belongs to somebody else's tools."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path

import pytest

import tunaeval
from tunaeval.errors import RecordError
from tunaeval.tasks.suites.loading import load_catalogue, write_suite
from tunaeval.tasks.suites.renamed import renamed
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.runs import Suite

Tuna = Callable[..., subprocess.CompletedProcess[str]]

WEATHER = {
    "name": "weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}
OURS = {"id": "ours", "prompt": "Rain in Rome?", "tools": [WEATHER],
        "expect": {"tools": ["weather"]}}  # fmt: skip
THEIRS = {"id": "theirs", "prompt": "Read a.txt.", "expect": {"tools": ["read_file"]}}
PART = {**THEIRS, "id": "part", "tools": ["read_file", "grep"]}
BOTH = {**OURS, "id": "both", "tools": [WEATHER, "grep"]}
NONE = {"id": "none", "prompt": "Say hello.", "tools": [], "expect": {"none": True}}
TUNACODE = tunaeval.load_suite("tunacode").system_prompt
JARS = "Keep the jars warm. Say of each of them what is inside."


class Heard:
    """Answers in words, and keeps the system prompt of each question."""

    name, model = "heard", "ear-1"

    def __init__(self) -> None:
        self.systems: dict[str, str] = {}

    async def complete(self, request: Request) -> Reply:
        system = [one["content"] for one in request.messages if one["role"] == "system"]
        self.systems[request.messages[-1]["content"]] = "\n".join(system)
        return Reply({"role": "assistant", "content": "I cannot."})

    async def close(self) -> None:
        return


def heard(suite: Suite, **options: object) -> dict[str, str]:
    """Return the system prompts of a suite's scenarios by their ids."""
    client = Heard()
    report = tunaeval.run(suite, client=client, out=None, attempts=1, **options)  # type: ignore[arg-type]  # options of any kind
    return {one.scenario: client.systems[one.prompt] for one in report.results}


def suite_of(folder: Path, *rows: Mapping[str, object], **header: object) -> Path:
    path = folder / "mine.json"
    named = [{**row, "prompt": f"{row['id']}: {row['prompt']}"} for row in rows]
    path.write_text(json.dumps({"name": "mine", **header, "scenarios": named}), "utf-8")
    return path


def test_the_tools_of_a_scenario_decide_its_system_prompt(tmp_path: Path) -> None:
    suite = tunaeval.load_suite(suite_of(tmp_path, OURS, THEIRS, PART, BOTH, NONE))
    wanted = {"ours": "", "theirs": TUNACODE, "part": TUNACODE, "both": "", "none": ""}
    assert heard(suite) == wanted
    assert suite.without_prompt == 3


@pytest.mark.parametrize(
    "header", [{"tools": [WEATHER]}, {"tools": None}, {"tools": [WEATHER], "system_prompt": ""}]
)
def test_a_suite_of_own_tools_has_no_system_prompt(
    tmp_path: Path, header: Mapping[str, object]
) -> None:
    suite = tunaeval.load_suite(suite_of(tmp_path, OURS, **header))
    assert (suite.system_prompt, heard(suite)) == ("", {"ours": ""})


@pytest.mark.parametrize(
    "header", [{}, {"catalogue": "tunacode-2025-12"}, {"catalogue": "tunacode-0.2"}]
)
def test_tools_of_a_catalogue_come_with_its_system_prompt(
    tmp_path: Path, header: Mapping[str, object]
) -> None:
    hello = {"id": "hello", "prompt": "Say hello.", "expect": {"none": True}}
    assert heard(tunaeval.load_suite(suite_of(tmp_path, hello, **header))) == {"hello": TUNACODE}


def test_tools_that_are_given_have_no_system_prompt_of_others(tmp_path: Path) -> None:
    path = suite_of(tmp_path, {**THEIRS, "expect": {"none": True}})
    tools = load_catalogue("tunacode-2025-12")
    assert tunaeval.load_suite(path, tools=[WEATHER]).system_prompt == ""
    assert tunaeval.load_suite(path, tools=tools).system_prompt == ""
    suite = tunaeval.load_suite(path)
    assert suite.with_(tools=tunaeval.to_tools([WEATHER])).system_prompt == ""
    assert suite.with_(name="other").system_prompt == TUNACODE


def test_a_system_prompt_that_is_given_is_that_of_every_scenario(tmp_path: Path) -> None:
    given = tunaeval.load_suite(suite_of(tmp_path, OURS, THEIRS, system_prompt=JARS))
    assert heard(given) == {"ours": JARS, "theirs": JARS}
    ours = tunaeval.load_suite(suite_of(tmp_path, OURS, THEIRS)).with_(system_prompt=JARS)
    assert heard(ours) == {"ours": JARS, "theirs": JARS}
    path = suite_of(tmp_path, THEIRS, system_prompt=JARS)
    assert tunaeval.load_suite(path, tools=load_catalogue("tunacode-0.2")).system_prompt == JARS


def test_a_suite_that_is_written_or_renamed_is_asked_as_it_was(tmp_path: Path) -> None:
    suite = tunaeval.load_suite(suite_of(tmp_path, OURS, THEIRS, PART))
    write_suite(suite, tmp_path / "again.jsonl")
    again = tunaeval.load_suite(tmp_path / "again.jsonl")
    assert again == suite
    assert (heard(again), again.digest) == (heard(suite), suite.digest)
    systems = heard(renamed(suite, seed=1))
    assert systems["ours"] == ""
    assert systems["theirs"].startswith("You work in a software project")
    everywhere = suite.with_(system_prompt=suite.system_prompt)
    assert everywhere.digest != suite.digest


def test_a_file_may_say_that_its_prompt_belongs_to_its_tools(tmp_path: Path) -> None:
    path = suite_of(tmp_path, OURS, THEIRS, prompt_of_tools=True, system_prompt=JARS)
    assert heard(tunaeval.load_suite(path)) == {"ours": "", "theirs": JARS}
    assert tunaeval.load_suite(path, tools=load_catalogue("tunacode-0.2")).system_prompt == ""


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ({"tools": [WEATHER]}, "system prompt: none"),
        ({"system_prompt": "Keep the jars warm."}, 'system prompt: "Keep the jars warm."'),
        ({"system_prompt": JARS}, 'system prompt: "Keep the jars warm. Say of each of …"'),
    ],
)
def test_the_system_prompt_is_said_wherever_a_run_is_shown(
    tmp_path: Path, here: Tuna, header: Mapping[str, object], words: str
) -> None:
    suite_of(tmp_path, {**OURS, "id": "hello"}, **header)
    (tmp_path / "script.jsonl").write_text('"Hm."\n"Hm."\n')
    options = ("run", "--suite", "mine.json", "--client", "scripted", "--recording", "script.jsonl")
    assert words in here(*options, "--dry-run").stdout
    done = here(*options, "--report", "page.html")
    assert words in done.stdout.splitlines()
    assert words in unescape((tmp_path / "page.html").read_text("utf-8"))
    (run,) = (tmp_path / "runs").iterdir()
    assert words in here("show", str(run)).stdout.splitlines()
    kept = json.loads((run / "run.json").read_text("utf-8"))
    assert kept["system_prompt"] == header.get("system_prompt", "")


def test_a_prompt_that_no_scenario_is_asked_with_is_none(tmp_path: Path, here: Tuna) -> None:
    suite_of(tmp_path, OURS, THEIRS)
    (tmp_path / "script.jsonl").write_text('"Hm."\n')
    options = ("run", "--suite", "mine.json", "--client", "scripted", "--dry-run")
    shown = here(*options, "--recording", "script.jsonl").stdout
    assert 'system prompt: "You work in a software project by calling …"' in shown
    alone = here(*options, "--recording", "script.jsonl", "--id", "ours").stdout
    assert "system prompt: none" in alone


def test_a_run_that_was_begun_with_another_prompt_is_refused(tmp_path: Path) -> None:
    suite = tunaeval.load_suite(suite_of(tmp_path, OURS, tools=[WEATHER]))
    begun = suite.with_(system_prompt=TUNACODE)
    report = tunaeval.run(begun, client=Heard(), out=tmp_path / "runs", attempts=1)
    with pytest.raises(RecordError, match="system prompt"):
        tunaeval.run(suite, client=Heard(), resume=report.directory, attempts=1)
