"""The parser for SGLang, by SGLang's own `FunctionCallParser`, in its last two releases."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tunaeval
from tests.hosts.engines import RELEASES, ROOT, Engine
from tests.parsing.samples import call_of
from tunaeval import render
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import ToolCall

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {
        "path": {"type": "string"}, "depth": {"type": "integer"}}}}}
    for name in ("ls", "cat")
]  # fmt: skip
OURS = [one for one in RELEASES if one.startswith("sglang")]
hosts = pytest.mark.hosts


@pytest.fixture(scope="module", params=OURS)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = Engine(request.param, "--tool-call-parser", "tunaeval")
    yield made
    made.close()


def test_the_module_is_short() -> None:
    assert len((Path(ROOT) / "tunaeval/sglang.py").read_text("utf-8").splitlines()) <= 80


def test_nothing_of_sglang_is_imported_unless_an_argument_asks() -> None:
    program = (
        "import sys; sys.argv[1:] = ['--tool-call-parser', 'qwen']\n"
        "from tunaeval.sglang import register; register(); register()\n"
        "print(*(name for name in sys.modules if 'grammar' in name or name.startswith('sglang')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not done.stdout.strip()


@hosts
@pytest.mark.parametrize("release", OURS)
@pytest.mark.parametrize("arguments", [[], ["--tool-call-parser", "qwen"]])
def test_the_plug_in_registers_only_if_it_is_asked(release: str, arguments: list[str]) -> None:
    """With `sglang.Engine` a program asks by calling it."""
    engine = Engine(release, *arguments)
    found = engine.ask(about="start")
    assert not found["known"]
    assert not [name for name in found["loaded"] if "function_call" in name]
    assert "tunaeval-hermes" in engine.ask(about="register")
    engine.close()


@hosts
@pytest.mark.parametrize("argument", ["--tool-call-parser=tunaeval-hermes", "tunaeval-glm45"])
def test_the_names_are_those_of_the_formats(argument: str) -> None:
    engine = Engine(OURS[0], "--model-path", "m", argument)
    names = {"tunaeval", *(f"tunaeval-{name}" for name in tunaeval.formats)}
    assert {*engine.ask(about="start")["known"]} == names
    engine.close()


@hosts
@pytest.mark.parametrize("name", ["auto", *FORMATS])
def test_calls_are_read_whole_and_in_pieces(engine: Engine, name: str) -> None:
    form = FORMATS["hermes" if name == "auto" else name]
    calls = [ToolCall("cat", {"path": "."})]
    calls += [ToolCall("ls", {"path": "b", "depth": 2})] * (not form.whole)
    text = render(calls, form)
    read = tunaeval.parse(text, name, TOOLS)
    found = engine.ask(parser=f"tunaeval-{name}", tools=TOOLS, text=text, size=3)
    wanted = [[call.name, call.arguments] for call in read.calls]
    for words, made in (found["whole"], found["streamed"]):
        assert [[name, json.loads(text)] for name, text in made] == wanted
        assert words == read.content
    assert found["places"] == [["ls", "cat"].index(call.name) for call in read.calls]
    assert found["forced"] == "json_schema"


@hosts
def test_a_text_without_a_call_is_left_as_it_is(engine: Engine) -> None:
    for text in ("Hello.", f"<think>{call_of('ls')}</think> {call_of('nope')}\n", "{[<("):
        found = engine.ask(parser="tunaeval", tools=TOOLS, text=text, size=2)
        assert found["whole"] == found["streamed"] == [text, []]


@hosts
def test_no_marker_means_reasoning_where_sglang_has_taken_it_out() -> None:
    engine = Engine(OURS[1], "--tool-call-parser", "tunaeval", "--reasoning-parser", "qwen3")
    text = f"Write <think>: {call_of('ls')}"
    found = engine.ask(parser="tunaeval", tools=TOOLS, text=text, size=2)
    assert found["whole"] == found["streamed"] == ["Write <think>: ", [["ls", "{}"]]]
    engine.close()
