"""The parser for vLLM, by vLLM's own `Parser`, requests and deltas, in its last two releases."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import tunaeval
from tests.hosts.engines import RELEASES, Engine
from tests.parsing.samples import call_of, tagged
from tunaeval import render, vllm
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import ToolCall

TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {
        "path": {"type": "string"}, "depth": {"type": "integer"}}}}}
    for name in ("ls", "cat")
]  # fmt: skip
CALL = call_of("ls", path=".")
FINE = {"tools": TOOLS}
THINK = ["<think>", "</think>"]


@pytest.fixture(scope="module", params=[one for one in RELEASES if one.startswith("vllm")])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    made = Engine(request.param)
    yield made
    made.close()


def calls_of(found: list[Any]) -> list[tuple[str, str]]:
    return [(name, arguments) for _, name, arguments, *_ in found[2]]


hosts = pytest.mark.hosts


def test_the_names_are_those_of_the_formats() -> None:
    assert set(vllm.NAMES.split()) == {*tunaeval.formats} - {
        name for name, _, _ in tunaeval.formats.claims()
    }


def test_registering_loads_no_grammar_and_starts_no_thread_where_vllm_is_not() -> None:
    program = (
        "import sys, threading, time; began = time.process_time()\n"
        "from tunaeval.vllm import register; register(); register()\n"
        "import tunaeval.vllm; took = time.process_time() - began\n"
        "finders = [one for one in sys.meta_path if 'tunaeval' in type(one).__module__]\n"
        "print(threading.active_count(), len(finders), took < 1)\n"
        "print(*(name for name in sys.modules if 'grammar' in name or name.startswith('vllm')))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().split() == ["1", "1", "True"]


@pytest.mark.parametrize("broken", ["object()", "type('M', (), {'register_lazy_module': 1 / 2})"])
def test_registering_never_raises(broken: str) -> None:
    """vLLM does not guard it, and every vLLM process of the environment would stop."""
    program = (
        "import sys, types; module = types.ModuleType('vllm.tool_parsers')\n"
        f"module.ToolParserManager = {broken}; sys.modules['vllm.tool_parsers'] = module\n"
        "import tunaeval.vllm; tunaeval.vllm.register()"
    )
    environment = {**os.environ, "TUNAEVAL_LEVEL": "loud"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    assert b"the parsers of tunaeval are not registered" in done.stderr


@hosts
def test_the_parsers_are_known_as_soon_as_vllm_has_its_own(engine: Engine) -> None:
    found = engine.ask(about="start")
    names = {f"tunaeval-{name}" for name in tunaeval.formats}
    assert {"tunaeval", *names} <= set(found["known"])
    assert max(found["early"], found["late"]) < 0.08
    assert not [name for name in found["loaded"] if "grammar" in name or "parsing" in name]
    assert [name for name in found["loaded"] if name.startswith("vllm")] == ["vllm.env_override"]


@hosts
@pytest.mark.parametrize("name", ["auto", *FORMATS])
def test_calls_are_read_whole_and_in_pieces(engine: Engine, name: str) -> None:
    if name == "harmony":
        pytest.skip("vLLM serves it by its own parser")
    form = FORMATS["hermes" if name == "auto" else name]
    calls = [ToolCall("ls", {"path": "."})]
    calls += [ToolCall("cat", {"path": "b", "depth": 2})] * (not form.whole)
    text = f"{render(calls, form)}"
    read = tunaeval.parse(text, name, TOOLS)
    found = engine.ask(parser=f"tunaeval-{name}", request=FINE, text=text)
    wanted = [(call.name, call.arguments) for call in read.calls]
    for calls_found in (found["whole"], found["streamed"]):
        assert [
            (name, tunaeval.types.json_text.decoded(text, duplicates="refuse"))
            for name, text in calls_of(calls_found)
        ] == wanted
    assert found["skips"] is False
    ids = [one[0] for one in found["whole"][2]]
    assert len({*ids}) == len(ids) == len(read.calls)
    if name.startswith("mistral"):
        assert all(len(one) == 9 and one.isalnum() for one in ids)
        assert all(len(one[0]) == 9 and one[0].isalnum() for one in found["streamed"][2])


@hosts
def test_the_format_is_found_by_itself_and_ids_fit_it(engine: Engine) -> None:
    text = render([ToolCall("ls", {"path": "."})], "mistral-v11")
    found = engine.ask(parser="tunaeval", request=FINE, text=text)
    assert calls_of(found["whole"]) == calls_of(found["streamed"]) == [("ls", '{"path": "."}')]
    assert len(found["streamed"][2][0][0]) == 9


@hosts
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_none_leaves_the_text_as_it_is(engine: Engine, api: str) -> None:
    tools = (
        [{"type": "function", **one["function"]} for one in TOOLS] if api == "responses" else TOOLS
    )
    for request in ({"tools": tools, "tool_choice": "none"}, {}):
        found = engine.ask(parser="tunaeval", request=request, text=f"a\n{CALL}\n", api=api)
        assert found["whole"] == [None, f"a\n{CALL}\n", []]
        assert found["streamed"] == ["", f"a\n{CALL}\n", []]
        assert (found["skips"] is not False, found["constraint"]) == (True, None)


@hosts
@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("named", [True, False])
def test_forced_calls_are_constrained_and_read(engine: Engine, api: str, named: bool) -> None:
    choice: Any = "required"
    tools: Any = TOOLS
    if api == "responses":
        tools = [{"type": "function", **one["function"]} for one in TOOLS]
    if named and api == "responses":
        choice = {"type": "function", "name": "cat"}
    elif named:
        choice = {"type": "function", "function": {"name": "cat"}}
    request = {"tools": tools, "tool_choice": choice}
    text = call_of("cat", path=".")
    found = engine.ask(parser="tunaeval-hermes", request=request, text=text, api=api)
    tag = found["constraint"]["tag"]
    assert "<tool_call>" in tag
    assert ("ls" in tag) is not named
    assert calls_of(found["whole"]) == calls_of(found["streamed"]) == [("cat", '{"path": "."}')]
    json = '[{"name": "cat", "parameters": {"path": "."}}]'
    for parser in ("tunaeval", "tunaeval-xlam", "tunaeval-qwen3-coder"):
        found = engine.ask(parser=parser, request=request, text=json, api=api)
        assert calls_of(found["whole"]) == calls_of(found["streamed"]) == [("cat", '{"path": "."}')]
        assert found["whole"][1] in (None, "")
    (item,) = engine.ask(parser="tunaeval", request=request, text="", api=api)["constraint"][
        "json"
    ]["items"]["anyOf"][: 1 if named else None][:1]
    assert item["properties"]["name"]["enum"] == ["cat" if named else "ls"]


@hosts
def test_reasoning_is_content_with_its_markers_without_a_reasoning_parser(engine: Engine) -> None:
    text = f"<think>Perhaps {CALL}?</think>\n\nSo:\n{CALL}"
    found = engine.ask(parser="tunaeval-hermes", request=FINE, text=text)
    said = f"<think>Perhaps {CALL}?</think>\n\nSo:\n"
    assert found["whole"][1] == found["streamed"][1] == said
    assert calls_of(found["whole"]) == calls_of(found["streamed"]) == [("ls", '{"path": "."}')]


@hosts
@pytest.mark.parametrize("parser", ["tunaeval-hermes", "tunaeval"])
@pytest.mark.parametrize(("thinker", "mark"), [("deepseek_r1", "</think>"), ("qwen3", "<think>")])
def test_a_reasoning_parser_leaves_no_reasoning(
    engine: Engine, parser: str, thinker: str, mark: str
) -> None:
    """The parser of qwen3 is one of vLLM's new engine, and takes `</think>` out itself."""
    text = f"<think>Hm.</think>See {mark}: {CALL} and <think> this: {CALL}"
    pieces = ["<think>", "Hm.", "</think>", *text.removeprefix("<think>Hm.</think>")]
    asked = {"parser": parser, "reasoning_parser": thinker, "request": FINE, "text": text}
    found = engine.ask(**asked, pieces=pieces, vocabulary=THINK)
    for thought, said, calls in (found["whole"], found["streamed"]):
        assert thought == "Hm."
        assert said == f"See {mark}:  and <think> this: "
        assert [call[1] for call in calls] == ["ls", "ls"]


@hosts
@pytest.mark.parametrize("name", ["deepseek-v3", "deepseek-v3.1", "hermes", "glm45", "kimi-k2"])
def test_a_dropped_call_stays_with_its_markers(engine: Engine, name: str) -> None:
    text = "Well: " + render([ToolCall("nope", {"path": "."})], name)
    found = engine.ask(parser=f"tunaeval-{name}", request=FINE, text=text)
    assert found["whole"] == [None, text, []]
    assert found["streamed"] == ["", text, []]
    assert [line for line in found["log"] if "unknown-tool" in line and "nope" not in line]


@hosts
def test_calls_come_when_they_are_finished_and_not_at_the_end(engine: Engine) -> None:
    text = f"{CALL}\n{CALL}" + " and so on" * 20
    found = engine.ask(parser="tunaeval-hermes", request=FINE, text=text, size=1)
    first, second = (call[4] for call in found["streamed"][2])
    assert first < len(CALL)
    assert second < 2 * len(CALL) + 1
    growing = {"TUNAEVAL_DELTAS": "growing"}
    found = engine.ask(
        parser="tunaeval-hermes", request=FINE, text=text, size=1, environment=growing
    )
    assert calls_of(found["streamed"]) == [("ls", '{"path":"."}')] * 2
    assert all(call[3] > 2 for call in found["streamed"][2])


@hosts
def test_settings_are_read_when_the_server_starts(engine: Engine) -> None:
    broken = tagged('{"name": "ls", "arguments": {"path": "."},}')
    for level, number in (("strict", 0), ("standard", 1)):
        asked = {"parser": "tunaeval-hermes", "request": FINE, "text": broken}
        found = engine.ask(**asked, environment={"TUNAEVAL_LEVEL": level})
        assert len(found["whole"][2]) == len(found["streamed"][2]) == number
    unknown = {"parser": "tunaeval-hermes", "request": FINE, "text": call_of("nope")}
    found = engine.ask(**unknown, environment={"TUNAEVAL_UNKNOWN_TOOLS": "call"})
    assert calls_of(found["whole"]) == calls_of(found["streamed"]) == [("nope", "{}")]
    for variable in ("TUNAEVAL_LEVEL", "TUNAEVAL_DELTAS", "TUNAEVAL_UNKNOWN_TOOLS"):
        errors = engine.ask(**unknown, environment={variable: "loud"})["errors"]
        assert errors[-1][0] == "UsageError"
        assert f"{variable} is 'loud'" in errors[-1][1]


@hosts
def test_harmony_is_refused_with_a_sentence(engine: Engine) -> None:
    errors = engine.ask(parser="tunaeval-harmony", request=FINE, text="")["errors"]
    assert "vLLM serves gpt-oss by a parser of its own" in errors[-1][1]


@hosts
def test_tools_that_cannot_be_read_are_a_warning_and_any_name_counts(engine: Engine) -> None:
    tools = [{"type": "web_search"}, {"type": "function", "name": "ls", "parameters": {}}]
    asked = {"parser": "tunaeval", "request": {"tools": tools}, "text": call_of("nope")}
    found = engine.ask(**asked, api="responses")
    assert calls_of(found["whole"]) == calls_of(found["streamed"]) == [("nope", "{}")]
    assert [line for line in found["log"] if line.startswith("WARNING the tools cannot be read")]


@hosts
def test_an_import_that_moved_is_named_where_a_parser_is_asked_for() -> None:
    for release in RELEASES[:2]:
        engine = Engine(release)
        moved = "vllm.entrypoints.generate.base.protocol.DeltaToolCall"
        (error,) = engine.ask(parser="tunaeval-hermes", moved=moved, alone=True)["errors"][:1]
        assert error[0] == "ImportError"  # vLLM takes a ModuleNotFoundError for a file's path
        assert f"vLLM has no {moved}" in error[1]
        assert vllm.TESTED in error[1]
        engine.close()
