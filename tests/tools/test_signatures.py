"""A function's signature says what a model is told, and what the function gets from a call."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypedDict, Unpack

from tunaeval import ToolSpec
from tunaeval.errors import ToolsError
from tunaeval.parsing.repair.schema import fit
from tunaeval.tools.signatures import read_signature, taker_of
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.tools.tool_prompts import tool_spec
from tunaeval.types.calls import JsonObject

if TYPE_CHECKING:
    from somewhere import ToolRuntime, Unknown  # type: ignore[import-not-found] # the point


class Keys(TypedDict):
    x: int
    y: NotRequired[str]


class Point(BaseModel):
    x: int


@dataclasses.dataclass
class Size:
    width: int
    height: int = 1


class Server:
    def restart(self, service: str) -> str:
        """Restart."""
        return service

    @classmethod
    def make(cls, port: int) -> None: ...

    @staticmethod
    def ping(host: str) -> None: ...

    def __call__(self, text: str) -> str:
        return text


def properties(tool: ToolLike, **options: Any) -> dict[str, Any]:
    schema: dict[str, Any] = tool_spec(tool, **options).parameters["properties"]
    return schema


def taken(function: Callable[..., object], arguments: JsonObject) -> JsonObject:
    return taker_of(read_signature(function))(arguments)


def typed(  # type: ignore[no-untyped-def] # noqa: PLR0917 - many kinds of parameters are the point
    path: Path,
    order: Literal["name", "size"],
    keys: Keys,
    size: Size | None = None,
    points: list[Point] = [],  # noqa: B006 - a default that JSON can hold
    limit: Annotated[int, Field(description="How many.", ge=1)] = 3,
    anything=None,  # noqa: ANN001 - one without an annotation
    **labels: str,
) -> None: ...


def test_each_type_has_its_schema() -> None:
    spec = tool_spec(typed)
    found = spec.parameters["properties"]
    assert spec.parameters["required"] == ["path", "order", "keys"]
    assert spec.parameters["additionalProperties"] == {"type": "string"}
    assert spec.paths == {"path"}
    assert found["order"] == {"type": "string", "enum": ["name", "size"]}
    assert found["keys"] == {"$ref": "#/$defs/Keys"}
    assert found["size"] == {"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}], "default": None}
    assert found["points"]["items"] == {"$ref": "#/$defs/Point"}
    assert found["limit"] == {
        "type": "integer", "minimum": 1, "default": 3, "description": "How many.",
    }  # fmt: skip
    assert found["anything"] == {"default": None}


def test_arguments_become_what_the_function_is_annotated_with() -> None:
    given_ = {"path": "a", "order": "size", "keys": {"x": "3"}, "size": {"width": 2}, "tag": "t"}
    assert taken(typed, given_) == {
        "path": Path("a"), "order": "size", "keys": {"x": 3}, "size": Size(2), "tag": "t",
    }  # fmt: skip


def test_arguments_that_do_not_fit_are_listed() -> None:
    with pytest.raises(ValueError, match="order: Input should be 'name' or 'size'") as caught:
        taken(typed, {"order": "age", "keys": {}, "limit": 0})
    for piece in ("path: Missing", "keys.x: Field required", "limit: Input should be greater"):
        assert piece in str(caught.value)


arguments = st.fixed_dictionaries(
    {"count": st.integers(), "name": st.text()},
    optional={"flag": st.booleans(), "items": st.lists(st.integers())},
)


@given(arguments)
def test_what_fits_the_schema_is_taken_as_it_is(given_: JsonObject) -> None:
    def tool(count: int, name: str, *, flag: bool = True, items: list[int] | None = None) -> None:
        del count, name, flag, items

    fitted = fit(given_, tool_spec(tool).parameters)
    assert (fitted.repairs, fitted.notes) == ((), ())
    assert taken(tool, given_) == given_


def with_unresolved(ctx: ToolRuntime[int], query: str) -> None: ...
async def with_signal(
    query: str,
    signal: asyncio.Event | None = None,
    on_update: Callable[[object], None] | None = None,
) -> None: ...


@pytest.mark.parametrize("tool", [with_unresolved, with_signal])
def test_what_a_framework_puts_in_is_not_asked_of_a_model(tool: Callable[..., object]) -> None:
    assert list(properties(tool)) == ["query"]


@pytest.mark.parametrize("tool", [Server().restart, Server.restart])
def test_a_method_does_not_ask_for_its_object(tool: Callable[..., object]) -> None:
    assert list(properties(tool)) == ["service"]
    assert tool_spec(tool).description == "Restart."


def test_every_kind_of_method_is_described() -> None:
    assert list(properties(Server.make)) == ["port"]
    assert list(properties(Server.ping)) == ["host"]
    assert list(properties(Server(), name="echo")) == ["text"]


def test_what_a_partial_has_bound_is_not_asked() -> None:
    tool = partial(partial(typed, Path()), keys={"x": 1})
    assert tool_spec(tool).name == "typed"
    assert set(properties(tool)) == {"order", "size", "points", "limit", "anything"}


def test_a_decorator_that_wraps_is_seen_through() -> None:
    @wraps(typed)
    def decorated(*args: Any, **kwargs: Any) -> None:
        typed(*args, **kwargs)

    assert tool_spec(decorated) == tool_spec(typed)


def test_keys_of_a_typed_dict_are_arguments() -> None:
    def tool(**options: Unpack[Keys]) -> None: ...

    parameters = tool_spec(tool).parameters
    assert parameters["properties"] == {"x": {"type": "integer"}, "y": {"type": "string"}}
    assert (parameters["required"], parameters["additionalProperties"]) == (["x"], False)
    assert taken(tool, {"x": "1"}) == {"x": 1}


def test_a_default_that_json_cannot_hold_leaves_its_argument_optional() -> None:
    def tool(a: int, b: Any = object()) -> None: ...  # noqa: B008 - the point

    parameters = tool_spec(tool).parameters
    assert parameters["required"] == ["a"]
    assert parameters["properties"]["b"] == {}


def test_a_field_as_a_default_gives_its_default() -> None:
    def tool(a: int = Field(3, ge=0, description="Own words.")) -> None:
        """Do.

        Args:
            a: The docstring's.
        """

    assert properties(tool)["a"]["description"] == "Own words."
    assert taken(tool, {}) == {"a": 3}


def test_a_return_type_need_not_be_known() -> None:
    def tool(a: int) -> Unknown: ...

    assert list(properties(tool)) == ["a"]


class Opaque: ...


def takes_opaque(a: int, b: Opaque) -> None: ...
def takes_unknown(a: Unknown.Thing) -> None: ...
def takes_garbage(a: "1 +") -> None: ...  # type: ignore[valid-type] # noqa: F722 - the point
def loses_all(*args: Any, **kwargs: Any) -> None: ...


@pytest.mark.parametrize(
    ("tool", "pieces"),
    [
        (takes_opaque, ("takes_opaque", "type of 'b' has no JSON schema", "annotate it")),
        (takes_unknown, ("annotation of 'a'", "Unknown", "import or define")),
        (takes_garbage, ("annotation of 'a'", "cannot be resolved")),
        (loses_all, ("'args' takes any number of values by position", "by name")),
        (lambda x: x, ("no name a model could call", "def")),
        (int, ("<class 'int'>", "wanted a ToolSpec")),
        ("bash", ("'bash'", "wanted a ToolSpec")),
    ],
)
def test_what_cannot_be_told_to_a_model_is_refused(tool: Any, pieces: tuple[str, ...]) -> None:
    with pytest.raises(ToolsError) as caught:
        tool_spec(tool)
    for piece in pieces:
        assert piece in str(caught.value)


def test_name_and_description_can_be_replaced() -> None:
    spec = tool_spec(lambda text: text, name="echo-text", description="Say it again.")
    assert (spec.name, spec.description) == ("echo-text", "Say it again.")


SHAPES: list[Callable[[ToolSpec], JsonObject]] = [
    ToolSpec.as_bare, ToolSpec.as_openai, ToolSpec.as_responses, ToolSpec.as_anthropic,
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@given(st.text(min_size=1).filter(str.strip), st.text())
def test_every_shape_that_is_written_is_read_back(
    shape: Callable[[ToolSpec], JsonObject], name: str, description: str
) -> None:
    schema = tool_spec(typed).parameters
    spec = ToolSpec(name, description, schema, frozenset({"path"}))
    assert dict(to_tools([shape(spec)])) == {name: spec}


def test_shapes_are_those_of_the_apis() -> None:
    schema = {"type": "object", "properties": {}}
    spec = ToolSpec("now", "Tell the time.")
    about = {"name": "now", "description": "Tell the time."}
    assert spec.as_openai() == {"type": "function", "function": {**about, "parameters": schema}}
    assert spec.as_anthropic() == {**about, "input_schema": schema}
    flat = {"type": "function", **about, "parameters": schema, "strict": False}
    assert spec.as_responses() == flat


def test_describing_changes_nothing() -> None:
    before = inspect.signature(typed), dict(typed.__annotations__), typed.__doc__
    tool_spec(typed)
    assert before == (inspect.signature(typed), dict(typed.__annotations__), typed.__doc__)
    assert "somewhere" not in sys.modules
