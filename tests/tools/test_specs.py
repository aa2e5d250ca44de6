"""Dictionaries and functions become the same `Tools`; what cannot is refused by its place."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from tunaeval.errors import ToolsError
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.types.calls import JsonObject, Tools, ToolSpec

SCHEMA: JsonObject = {"type": "object", "properties": {"city": {"type": "string"}}}
SPEC = ToolSpec("weather", "Tell the weather.", SCHEMA)
ABOUT = {"name": "weather", "description": "Tell the weather."}


class Point(BaseModel):
    x: int
    title: str = ""


def search(
    pattern: str,
    directory: Path = Path(),
    *,
    limit: int | None = None,
    order: Literal["name", "size"] = "name",
    near: Annotated[list[Point], Field(description="Points to look at.")],
) -> str:
    """Search for things.

    One pattern at a time.

    Args:
        pattern: What to look for.
        near: Is described already.

    Returns:
        What nobody has to know.
    """
    return f"{pattern}{directory}{limit}{order}{near}"


async def ping() -> None: ...


class Server:
    def restart(self, service: str, delay_seconds: float = 1.5) -> None: ...


@pytest.mark.parametrize(
    "tool",
    [
        SPEC,
        {"type": "function", "function": {**ABOUT, "parameters": SCHEMA}},
        {**ABOUT, "parameters": SCHEMA},
        {"type": "function", **ABOUT, "parameters": SCHEMA, "strict": True},
        {**ABOUT, "input_schema": SCHEMA},
        {**ABOUT, "inputSchema": SCHEMA, "annotations": {}},
    ],
    ids=["spec", "openai", "bare", "responses", "anthropic", "mcp"],
)
def test_every_shape_means_the_same_tool(tool: ToolLike) -> None:
    assert dict(to_tools([tool])) == {"weather": SPEC}


@given(
    st.lists(
        st.builds(
            ToolSpec,
            st.text(min_size=1).filter(str.strip),
            st.text(),
            st.dictionaries(st.text(), st.sampled_from([{"type": "string"}, {}, True])).map(
                lambda properties: {"type": "object", "properties": properties}
            ),
        ),
        unique_by=lambda spec: spec.name,
    )
)
def test_tools_written_for_openai_are_read_back(specs: list[ToolSpec]) -> None:
    tools = Tools(specs)
    assert dict(to_tools(tools.as_openai())) == dict(tools)


def test_tools_come_back_as_they_are() -> None:
    tools = Tools([SPEC])
    assert to_tools(tools) is tools
    assert to_tools(None) is None
    assert list(to_tools(iter([{"name": "b"}, {"name": "a"}]))) == ["b", "a"]


def test_a_tool_without_a_schema_takes_no_arguments() -> None:
    for tool in ({"name": "now"}, {"name": "now", "parameters": None, "description": None}):
        assert to_tools([tool]).as_openai()[0]["function"]["parameters"] == {
            "type": "object",
            "properties": {},
        }


def test_a_property_of_format_path_is_a_path() -> None:
    properties = {
        "file": {"type": "string", "format": "path"},
        "maybe": {"anyOf": [{"type": "string", "format": "file-path"}, {"type": "null"}]},
        "address": {"type": "string", "format": "uri"},
        "content": {"type": "string"},
        "anything": True,
    }
    tools = to_tools([{"name": "t", "parameters": {"type": "object", "properties": properties}}])
    assert tools["t"].paths == {"file", "maybe"}


def test_a_signature_becomes_a_schema() -> None:
    spec = to_tools([search])["search"]
    assert spec.description == "Search for things.\n\nOne pattern at a time."
    assert spec.paths == {"directory"}
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "What to look for."},
            "directory": {"type": "string", "format": "path", "default": "."},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "order": {"type": "string", "enum": ["name", "size"], "default": "name"},
            "near": {
                "type": "array",
                "items": {"$ref": "#/$defs/Point"},
                "description": "Points to look at.",
            },
        },
        "required": ["pattern", "near"],
        "additionalProperties": False,
        "$defs": {
            "Point": {
                "type": "object",
                "title": "Point",
                "properties": {
                    "x": {"type": "integer"},
                    "title": {"type": "string", "default": ""},
                },
                "required": ["x"],
            }
        },
    }


def test_coroutines_and_methods_are_functions_too() -> None:
    tools = to_tools([ping, Server().restart])
    assert list(tools) == ["ping", "restart"]
    assert tools["restart"].parameters["required"] == ["service"]


def by_position(value: int, /) -> None: ...
def any_number(*values: int) -> None: ...
def forward(value: NoSuchType) -> None: ...  # type: ignore[name-defined] # noqa: F821 - the point


class Opaque: ...


def takes_opaque(value: Opaque) -> None: ...


WITH_ARRAY = {"name": "a", "parameters": {"type": "array"}}
BAD_TOOLS: list[tuple[object, tuple[str, ...]]] = [
    ("bash", ("tools is 'bash'", "[tool]")),
    ('"bash"', ("tools is '\"bash\"'", "[tool]")),
    ({"name": "a"}, ("tools is {'name': 'a'}", "[tool]")),
    ('{"name": "a"}', ("tools is {'name': 'a'}", "[tool]")),
    (["{"], ("tools[0] is '{'", "JSON text")),
    (SPEC, ("tools is ToolSpec", "[tool]")),
    (3, ("tools is 3", "wanted a list")),
    ([3], ("tools[0] is 3", "wanted a ToolSpec, a dict", "or a function")),
    ([SPEC, None], ("tools[1]",)),
    ([int], ("tools[0] is <class 'int'>",)),
    ([{}], ("tools[0].name is missing",)),
    ([{"name": " "}], ("tools[0].name is ' '",)),
    ([{"name": 7}], ("tools[0].name is 7",)),
    ([ToolSpec("")], ("tools[0] is ''",)),
    ([{"function": {}}], ("tools[0].function.name is missing",)),
    ([{"function": "f"}], ("tools[0].function is 'f'",)),
    ([{"name": "a", "description": 1}], ("tools[0].description is 1", "wanted a string")),
    ([{"name": "a"}, {"name": "b"}, {"name": "a"}], ("tools[2]", "'a'", "tools[0]", "rename")),
    ([WITH_ARRAY], ("tools[0].parameters.type is 'array'", "'object'")),
    ([{"name": "a", "input_schema": "x"}], ("tools[0].input_schema is 'x'", "JSON schema")),
    ([{"name": "a", "parameters": {"properties": []}}], ("tools[0].parameters.properties is []",)),
    ([{"name": "a", "parameters": {"properties": {"x": 1}}}], ("parameters.properties.x is 1",)),
    ([{"name": "a", "parameters": {"required": "x"}}], ("parameters.required is 'x'", "a list")),
    ([{"name": "a", "parameters": {}, "input_schema": {}}], ("parameters and input_schema",)),
    ([lambda x: x], ("tools[0]", "no name a model could call", "def")),
    ([partial(any_number, 1)], ("tools[0] is functools.partial", "by name")),
    ([by_position], ("by_position", "'value' can only be given by position", "by name")),
    ([any_number], ("'values' takes any number", "by name")),
    ([takes_opaque], ("takes_opaque", "no JSON schema", "Opaque", "dict")),
    ([forward], ("forward", "NoSuchType")),
]


@pytest.mark.parametrize(("tools", "pieces"), BAD_TOOLS, ids=[str(p[1][0]) for p in BAD_TOOLS])
def test_what_is_no_tool_is_refused_by_its_place(
    tools: Iterable[ToolLike], pieces: tuple[str, ...]
) -> None:
    with pytest.raises(ToolsError) as caught:
        to_tools(tools)
    for piece in pieces:
        assert piece in str(caught.value)


def test_errors_stay_short_whatever_was_given() -> None:
    with pytest.raises(ToolsError) as caught:
        to_tools([{"name": ["x"] * 10_000}])
    assert len(str(caught.value)) < 200


def loaded_by(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*sys.modules)"
    return set(
        subprocess.run(
            [sys.executable, "-c", program], check=True, capture_output=True, text=True
        ).stdout.split()
    )


def test_dictionaries_need_no_pydantic_and_functions_do() -> None:
    read = "from tunaeval.tools.specs import to_tools\n"
    from_dict = read + "to_tools([{'name': 'a', 'parameters': {'type': 'object'}}])"
    from_function = read + "def a(): ...\nto_tools([a])"
    assert not loaded_by(from_dict) & {"pydantic", "httpx2", "asyncio"}
    assert "pydantic" in loaded_by(from_function)


def test_converting_keeps_the_given_schema_untouched() -> None:
    before = str(SCHEMA)
    function: Callable[..., object] = search
    to_tools([{**ABOUT, "parameters": SCHEMA}, function])
    assert str(SCHEMA) == before


class _Metadata:
    """What LlamaIndex 0.14 keeps beside a function: the name, the words and the schema."""

    name, description = "add", "Add two numbers."

    def get_parameters_dict(self) -> dict[str, Any]:
        return {"type": "object", "properties": {"a": {"type": "integer"}}}


class _OfLlamaIndex:
    metadata = _Metadata()

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        raise AssertionError(args, kwargs)


def test_a_tool_of_llama_index_is_read_by_its_metadata_and_not_by_its_call() -> None:
    try:
        kind: Any = import_module("llama_index.core.tools").FunctionTool
    except ImportError:
        tool: Any = _OfLlamaIndex()
    else:
        tool = kind.from_defaults(lambda a: a, name="add", description="Add two numbers.")
    spec = to_tools([tool])["add"]
    assert spec.description == "Add two numbers."
    assert [*spec.parameters["properties"]] == ["a"]
