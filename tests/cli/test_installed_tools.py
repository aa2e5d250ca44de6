"""`tunaeval run --tools-from MODULE:NAME` asks with the tools of an installed agent."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, Protocol

import pytest

from tunaeval.tasks.suites.loading import load_catalogue
from tunaeval.types.calls import JsonObject

Tuna = Callable[..., CompletedProcess[str]]

AGENT = '''
from functools import partial
from types import SimpleNamespace

print("the agent says hello")

def read_file(filepath: str, offset: int = 0):
    """Read a file of ours."""

def list_dir(directory: str = "."):
    """List ours."""

def bash(command: str, timeout: int = 30):
    """Run ours."""

def described(name):
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "parameters": schema}}

TOOLS = [read_file, list_dir, described("bash")]
AS_TUPLE = (read_file, list_dir, bash)
BY_NAME = {"read_file": read_file, "list_dir": lambda directory: 0, "other key": described("hash"),
           "bash": partial(bash, timeout=1)}
ONE = described("bash")
class Agent:
    tools = SimpleNamespace(all=TOOLS)
EMPTY, NUMBER, MIXED, TWICE = [], 3, [bash, 3], [bash, bash]
class Broken:
    def __getattr__(self, name):
        raise RuntimeError("no\\nsuch luck")
BROKEN = [Broken()]
ANONYMOUS = lambda text: text
'''


BASH = [{"prompt": "Run ls.", "expected_tool": "bash"}]


class Asked(Protocol):
    """The server of the fixture."""

    url: str
    keys: list[str | None]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[str]:
    """A module in the working directory, which is forgotten afterwards."""
    (tmp_path / "my_agent.py").write_text(AGENT)
    (tmp_path / "raising.py").write_text("1 / 0\n")
    (tmp_path / "leaving.py").write_text("import sys\nsys.exit(3)\n")
    (tmp_path / "lacking.py").write_text("import no_such_package\n")
    importlib.invalidate_caches()
    before = list(sys.path)
    yield "my_agent"
    assert sys.path == before
    for name in ("my_agent", "raising", "leaving", "lacking"):
        sys.modules.pop(name, None)


@pytest.fixture
def ask(here: Tuna, server: Asked, suite: str, agent: str) -> Tuna:
    """Runs the suite of four against the server."""
    del agent
    return partial(here, "run", "--suite", suite, "--base-url", server.url)


def kept(folder: Path) -> tuple[JsonObject, dict[str, Any]]:
    """How the run was made, and its tools by name."""
    (run,) = (folder / "runs").iterdir()
    (line,) = (run / "tools.jsonl").read_text().splitlines()
    info: JsonObject = json.loads((run / "run.json").read_text())
    return info, {tool["name"]: tool for tool in json.loads(line)["tools"]}


def test_a_run_asks_with_them_and_keeps_them_and_where_they_are_from(
    ask: Tuna, here: Tuna, tmp_path: Path
) -> None:
    place = "my_agent:TOOLS"
    done = ask("--tools-from", place, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["run"]["tools_from"] == [place]
    assert "the agent says hello" in done.stderr
    info, tools = kept(tmp_path)
    assert info["tools_from"] == [place]
    assert list(tools) == ["read_file", "list_dir", "bash"]
    assert tools["read_file"]["description"] == "Read a file of ours."
    (run,) = (tmp_path / "runs").iterdir()
    assert here("rescore", f"runs/{run.name}", "--out", "again").returncode == 0
    (again,) = (tmp_path / "again").iterdir()
    assert json.loads((again / "run.json").read_text())["tools_from"] == [place]


def test_a_run_with_the_tools_of_the_suite_says_so(ask: Tuna, tmp_path: Path) -> None:
    assert ask("--quiet").returncode == 0
    assert kept(tmp_path)[0]["tools_from"] == []


@pytest.mark.parametrize(
    ("places", "names"),
    [
        (["AS_TUPLE"], ["read_file", "list_dir", "bash"]),
        (["BY_NAME"], ["read_file", "list_dir", "hash", "bash"]),
        (["Agent.tools.all"], ["read_file", "list_dir", "bash"]),
        (["ONE", "list_dir", "read_file"], ["bash", "list_dir", "read_file"]),
    ],
)
def test_lists_dictionaries_and_single_tools_are_taken(
    ask: Tuna, tmp_path: Path, places: list[str], names: list[str]
) -> None:
    done = ask(*(word for place in places for word in ("--tools-from", f"my_agent:{place}")))
    assert done.returncode == 0, done.stderr
    assert list(kept(tmp_path)[1]) == names


FRAMEWORKS = {
    "langchain_core.tools": "import langchain_core.tools as l\nBASH = l.tool(bash)",
    "pydantic_ai": "import pydantic_ai as p\nBASH = {'x': p.Tool(bash)}",
    "tinyagent": "import tinyagent as t\n"
    "BASH = [t.AgentTool('bash', 'Run.', {'properties': {'command': {}}}, '', bash)]",
    "tunaeval": "import tunaeval\nBASH = tunaeval.wrap_tool(bash, tunaeval.Recorder())",
}


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_tools_of_frameworks_are_taken(ask: Tuna, tmp_path: Path, framework: str) -> None:
    pytest.importorskip(framework)
    source = 'def bash(command: str):\n    """Run."""\n'
    (tmp_path / "my_agent.py").write_text(f"{source}{FRAMEWORKS[framework]}\n")
    done = ask("--tools-from", "my_agent:BASH", "--exclude", "read", "--exclude", "list")
    assert done.returncode == 0, done.stderr
    info, tools = kept(tmp_path)
    assert info["scenarios"] == 2
    assert list(tools) == ["bash"]
    assert list(tools["bash"]["parameters"]["properties"]) == ["command"]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("my_agent", "--tools-from 'my_agent': wanted MODULE:NAME, as in"),
        ("my_agent:", "wanted MODULE:NAME"),
        (":TOOLS", "wanted MODULE:NAME"),
        ("no_agent:TOOLS", "there is no module 'no_agent'; install"),
        ("my_agent.deep:TOOLS", "there is no module 'my_agent.deep'"),
        (
            "lacking:TOOLS",
            "importing 'lacking' failed with ModuleNotFoundError: No module named 'no_",
        ),
        ("raising:TOOLS", "importing 'raising' failed with ZeroDivisionError: division by zero"),
        ("leaving:TOOLS", "importing 'leaving' failed with SystemExit: 3"),
        (".my_agent:TOOLS", "MODULE is no path, but what `import` takes"),
        ("my_agent:TOOL", "there is no 'TOOL' in my_agent; did you mean 'TOOLS'"),
        ("my_agent:Agent.tols", "there is no 'tols' in my_agent.Agent; did you mean 'tools'"),
        ("my_agent:EMPTY", "'my_agent:EMPTY' has no tool"),
        ("my_agent:NUMBER", "'my_agent:NUMBER': the tool is 3, wanted"),
        ("my_agent:Agent", "the tool is <class 'my_agent.Agent'>, wanted"),
        ("my_agent:MIXED", "'my_agent:MIXED'[1]: the tool is 3, wanted"),
        ("my_agent:TWICE", "the tool 'bash' is also in 'my_agent:TWICE'"),
        ("my_agent:BROKEN", "failed with RuntimeError: no"),
        ("my_agent:ANONYMOUS", "no name a model could call"),
        ("my_agent:BROKEN.0", "there is no '0' in my_agent.BROKEN"),
    ],
)
def test_what_cannot_be_had_is_one_clear_line_before_anything_is_asked(
    ask: Tuna, server: Asked, place: str, said: str
) -> None:
    done = ask("--tools-from", place)
    assert (done.returncode, done.stdout, server.keys) == (2, "", [])
    last = [line for line in done.stderr.splitlines() if line != "the agent says hello"]
    assert len(last) == 1
    assert last[0].startswith("tunaeval: --tools-from ")
    assert said in last[0]


def test_a_scenario_that_expects_another_tool_is_named_with_its_place(ask: Tuna) -> None:
    done = ask("--tools-from", "my_agent:bash")
    assert done.returncode == 2
    assert "four.json, scenario 1, expected_tool: no tool is called 'read_file'" in done.stderr


def test_the_drift_from_the_tools_of_the_suite_is_reported(
    ask: Tuna, suite: str, tmp_path: Path
) -> None:
    header = {"catalogue": "tunacode-2025-12", "tools": ["bash", "read_file", "glob"]}
    (tmp_path / suite).write_text(json.dumps({**header, "scenarios": BASH}))
    done = ask("--tools-from", "my_agent:TOOLS")
    notes = [line for line in done.stderr.splitlines() if line.startswith("tunaeval: ")]
    assert notes[0] == (
        "tunaeval: asking with 3 tools from my_agent:TOOLS (theirs) for the suite's 3 (ours): "
        "13 differences"
    )
    assert notes[1:3] == ["tunaeval: only ours: glob", "tunaeval: only theirs: list_dir"]
    assert notes[3].startswith("tunaeval: bash: required: ours ['command'], theirs []")
    assert notes[-1] == "tunaeval: and 8 more"
    assert len(notes) == 7


def test_tools_that_do_not_differ_are_said_not_to(ask: Tuna, suite: str, tmp_path: Path) -> None:
    tools = load_catalogue("tunacode-0.2").as_openai()
    (tmp_path / "my_agent.py").write_text(f"TOOLS = {tools!r}")
    (tmp_path / suite).write_text(json.dumps({"catalogue": "tunacode-0.2", "scenarios": BASH}))
    done = ask("--tools-from", "my_agent:TOOLS")
    assert "(ours): 0 differences\n" in done.stderr
    paths = {name: tool["paths"] for name, tool in kept(tmp_path)[1].items()}
    declared = {name: sorted(spec.paths) for name, spec in load_catalogue("tunacode-0.2").items()}
    assert paths == declared


def test_scenarios_with_tools_of_their_own_keep_them_and_a_suite_of_them_is_refused(
    ask: Tuna, suite: str, tmp_path: Path
) -> None:
    own = {"prompt": "Run ls.", "expected_tool": "ls", "tools": [{"name": "ls"}]}
    other = {"prompt": "Say hello.", "expected_tool": None}
    (tmp_path / suite).write_text(json.dumps([own]))
    refused = ask("--tools-from", "my_agent:bash")
    assert refused.returncode == 2
    assert f"every scenario of {suite!r} has tools of its own" in refused.stderr
    (tmp_path / suite).write_text(json.dumps([own, other]))
    done = ask("--tools-from", "my_agent:bash")
    assert done.returncode == 0, done.stderr
    assert "1 of the scenarios have tools of their own" in done.stderr


def test_scenarios_that_name_tools_of_the_suite_are_asked_with_those_that_replace_them(
    ask: Tuna, suite: str, tmp_path: Path
) -> None:
    named = {"prompt": "Say hello.", "expected_tool": None, "tools": ["bash"]}
    (tmp_path / suite).write_text(json.dumps([named]))
    done = ask("--tools-from", "my_agent:bash")
    assert done.returncode == 0, done.stderr
    assert "tools of their own" not in done.stderr


def test_the_working_directory_is_looked_at_as_python_m_does(
    tuna: Tuna, suite: str, agent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("run", "--suite", suite, "--tools-from", f"{agent}:NUMBER")
    assert "the tool is 3" in tuna(*options).stderr
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    assert "there is no module 'my_agent'" in tuna(*options).stderr
