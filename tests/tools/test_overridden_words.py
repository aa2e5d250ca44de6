"""What a decorator has said of a function is what a model is told, whoever reads it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial, update_wrapper, wraps
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tunaeval import Recorder, find_drift, read_tool_prompt, wrap_tool
from tunaeval.tools.tool_prompts import tool_spec

PROMPTS = Path(__file__).parent / "prompts"
Function = Callable[..., Any]
Decorator = Callable[[Function], Function]


def update_file(filepath: str, target: str, patch: str) -> str:
    """Change `target` into `patch`.

    Args:
        target: What is there.
    """
    return f"{filepath}{target}{patch}"


def after(words: str | None) -> Decorator:
    """Sets `__doc__` once the names and words were copied, as a prompt loader does."""

    def decorate(function: Function) -> Function:
        @wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        wrapper.__doc__ = words
        return wrapper

    return decorate


def before(words: str) -> Decorator:
    """Sets `__doc__` of the function itself, which is then copied."""

    def decorate(function: Function) -> Function:
        def inner(filepath: str, target: str, patch: str) -> Any:
            return function(filepath, target, patch)

        inner.__name__, inner.__doc__ = function.__name__, words
        return plain(inner)

    return decorate


def plain(function: Function) -> Function:
    """Only wraps."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


class Counting:
    """A decorator that is an object: its class is not what it counts."""

    def __init__(self, function: Function, *, copied: bool = True) -> None:
        self.__wrapped__ = function
        if copied:
            update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)


def test_words_that_a_decorator_set_go_before_those_of_the_function() -> None:
    for decorate in (after("Other words."), before("Other words.")):
        assert tool_spec(decorate(update_file)).description == "Other words."


@given(st.lists(st.sampled_from(["x", "y", None]), max_size=4))
def test_the_outermost_of_several_words_wins_and_nothing_else_changes(
    words: list[str | None],
) -> None:
    function = update_file
    for said in words:
        function = plain(function) if said is None else after(said)(function)
    told = tool_spec(function)
    bare = tool_spec(update_file)
    outermost = next((said for said in reversed(words) if said), bare.description)
    assert (told.name, told.description) == ("update_file", outermost)
    assert list(told.parameters["properties"]) == ["filepath", "target", "patch"]


def test_the_words_about_arguments_are_of_the_same_docstring() -> None:
    """As every framework reads it: one docstring, not the best of two."""
    silent = tool_spec(after("Other words.")(update_file)).parameters["properties"]
    assert "description" not in silent["target"]
    told = tool_spec(after("Do.\n\nArgs:\n    patch: What comes.")(update_file))
    assert told.parameters["properties"]["patch"]["description"] == "What comes."


def test_without_words_of_its_own_a_layer_says_what_is_inside() -> None:
    bare = tool_spec(update_file)
    layers: list[Decorator] = [plain, after(None), after("  \n "), partial, Counting, lru_cache]
    for layer in layers:
        assert tool_spec(layer(update_file)) == bare, layer
    assert tool_spec(Counting(update_file, copied=False)) == bare
    assert tool_spec(partial(after("Other words.")(update_file))).description == "Other words."


def test_a_partial_is_described_by_words_that_were_set() -> None:
    bound = partial(update_file, filepath="a")
    assert tool_spec(bound).description == "Change `target` into `patch`."
    bound.__doc__ = "Change a.py."
    told = tool_spec(bound)
    assert told.description == "Change a.py."
    assert list(told.parameters["properties"]) == ["target", "patch"]


@pytest.mark.parametrize("inside", [after("Other words."), partial], ids=["decorated", "partial"])
def test_a_recorded_tool_is_told_as_the_tool_is(inside: Decorator) -> None:
    tool = inside(update_file)
    tool.__doc__ = "Other words."
    recorded = wrap_tool(tool, Recorder())
    assert tool_spec(recorded) == tool_spec(tool)
    assert tool_spec(recorded).description == "Other words."
    assert tool_spec(after("Mine.")(recorded)).description == "Mine."


def test_an_object_that_is_called_is_described_by_its_class() -> None:
    class Echo:
        """Say it again."""

        def __call__(self, text: str) -> str:
            return text

    assert tool_spec(Echo(), name="echo").description == "Say it again."


def test_types_are_resolved_where_the_innermost_function_stands() -> None:
    def show(place: Path) -> None:
        """Show."""

    told = tool_spec(lru_cache(after("Other words.")(show)))
    assert (told.name, told.description, told.paths) == (
        "show",
        "Other words.",
        frozenset({"place"}),
    )


def test_drift_is_found_in_words_that_were_read_from_a_prompt_file() -> None:
    prompt = PROMPTS / "update_file_prompt.xml"
    tool = after(read_tool_prompt(prompt).description)(update_file)
    drift = find_drift(tool, tools=["read_file"])
    assert [one.name for one in drift.only_in_prompt] == ["old_string", "new_string", "replace_all"]
    assert find_drift(update_file) == find_drift(plain(update_file))
    assert not find_drift(update_file)


def test_a_function_and_the_framework_tool_that_is_made_of_it_drift_alike() -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    words = read_tool_prompt(PROMPTS / "update_file_prompt.xml").description
    decorators: list[Decorator] = [
        after(words),
        before(words),
        plain,
        lambda f: plain(after(words)(f)),
    ]
    for decorate in decorators:
        tool = decorate(update_file)
        assert find_drift(tool) == find_drift(pydantic_ai.Tool(tool))
        assert tool_spec(tool).description == tool_spec(pydantic_ai.Tool(tool)).description
