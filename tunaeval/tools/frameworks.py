"""Wrap frameworks' tools for a recorder; each framework's tools are recognized by their shape.

No framework is imported. The result is a copy with the same name, description and schema; the given
tool is not changed. A tool that no registered wrapper fits is refused, with the code to write
instead: a framework runs its tools in its own way, and a wrapper around one would no longer be a
tool of that framework. The function that it runs can be wrapped before that.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from copy import copy
from dataclasses import is_dataclass, replace
from functools import partial, wraps
from types import FunctionType, MethodType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from tunaeval.errors import PluginError, UsageError
from tunaeval.files.plain_files import table_of
from tunaeval.registry import Registry, raised, returned, who, words_with_place
from tunaeval.showing import brief
from tunaeval.types import roles
from tunaeval.types.calls import JsonObject
from tunaeval.types.json_text import json_object
from tunaeval.types.roles import AnyTool, ToolWrapper
from tunaeval.types.shapes import instance_of

from .answering import call_of
from .wrapper import (
    FUNCTIONS,
    UNBOUND,
    Args,
    Arguments,
    Kwargs,
    check_recorder,
    is_recorded,
    named,
    record_runs,
)
from .wrapper import recorders_of as recorders_of_run

Function: TypeAlias = Callable[..., Any]
Tool = TypeVar("Tool")


class Wrapper(NamedTuple):
    """A `ToolWrapper`, made of functions."""

    name: str
    fits: Callable[[AnyTool], bool]
    runs: Callable[[AnyTool], tuple[object, ...]]
    wrap: Callable[[AnyTool, roles.Recorder], AnyTool]


def wrap_tool(tool: Tool, recorder: roles.Recorder) -> Tool:
    """Return a copy of `tool` that behaves the same; each run is reported to `recorder`.

    `tool` is a function of any kind (coroutine functions, generators, bound methods, partials,
    callable objects), or a tool that a registered wrapper fits: those of LangChain, pydantic-ai,
    OpenAI Agents, smolagents, tinyagent and `mcp_tools`, and those of plug-ins.
    A function becomes a function; name, docstring, signature and schema are kept, and a function's
    `__wrapped__` is the original. A tool that this recorder records already is returned as it is.
    Raises UsageError for what cannot be wrapped, with a hint what to wrap instead.

    A recorded run has the call id that the framework passes, else the one of `tunaeval.call_id`.

    Examples:
        >>> recorder = tunaeval.Recorder()
        >>> size = tunaeval.wrap_tool(len, recorder)
        >>> size("abc"), recorder.executions[0].tool
        (3, 'len')
    """
    check_recorder(recorder)
    wrapper, skipped = _wrapper_of(tool)
    if any(is_recorded(run, recorder) for run in _runs_of(wrapper, tool)):
        return tool
    refusal = refusal_of(tool) if wrapper is FUNCTION else None
    try:
        wrapped: Tool = tool if refusal else wrapper.wrap(tool, recorder)
    except UsageError as error:
        refusal = str(error)
    except (Exception, SystemExit) as error:
        raise raised(wrapper, _KIND, error, "a copy of the tool") from error
    if refusal:
        raise UsageError("; ".join((refusal, _ELSE, *skipped)))
    if wrapped is None:
        raise returned(wrapper, _KIND, "None", "a copy of the tool")
    return wrapped


_KIND = "tool wrapper"
_ELSE = "or register a wrapper for such tools in the group tunaeval.wrappers"


def recorders_of(tool: object) -> Iterator[roles.Recorder]:
    """Yield the recorders to which a tool's runs are reported."""
    for run in _runs_of(_wrapper_of(tool)[0], tool):
        yield from recorders_of_run(run)


def _runs_of(wrapper: ToolWrapper | Wrapper, tool: object) -> tuple[object, ...]:
    runs = getattr(wrapper, "runs", None)
    return tuple(runs(tool)) if callable(runs) else ()


def _wrapper_of(tool: object) -> tuple[ToolWrapper | Wrapper, list[str]]:
    """Return the wrapper of a tool, and what is wrong with those that could not be asked."""
    skipped: list[str] = []
    if isinstance(tool, FunctionType | MethodType):
        return FUNCTION, skipped
    for name in wrappers.in_turn():
        try:
            wrapper = wrappers.get(name)
            if wrapper.fits(tool):
                return wrapper, skipped
        except PluginError as error:
            skipped.append(f"skipped: {error}")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - as it may, and others are asked
            why = words_with_place(error)
            skipped.append(f"skipped: {who(wrapper, _KIND, name)} raised {why}")
    return FUNCTION, skipped


def _having(*names: str) -> Callable[[AnyTool], bool]:
    """Return whether a tool, which is no class, has these attributes."""
    return lambda tool: not isinstance(tool, type) and all(hasattr(tool, one) for one in names)


def _answering(run: Function, id_of: Callable[..., str | None], *, awaits: bool) -> Function:
    """Return `run` so that it answers the call whose id `id_of` finds in its arguments."""
    if not awaits:

        @wraps(run)
        def answering(*args: Any, **kwargs: Any) -> Any:
            with call_of(id_of(*args, **kwargs)):
                return run(*args, **kwargs)

        return answering

    @wraps(run)
    async def answering_later(*args: Any, **kwargs: Any) -> Any:
        with call_of(id_of(*args, **kwargs)):
            return await run(*args, **kwargs)

    return answering_later


def _id_in_context(*args: object, **kwargs: object) -> str | None:
    """Return the call's id from the context object among a framework's arguments, or None."""
    found = (getattr(one, "tool_call_id", None) for one in (*args, *kwargs.values()))
    return next((one for one in found if one is not None), None)


_PARTS = ("func", "coroutine", "_run", "_arun")
_OF_LANGCHAIN = frozenset({"callbacks", "config", "run_manager"})
"""Parameters that LangChain fills in, for tools whose schema does not name the model's."""

_awaited: ContextVar[object] = ContextVar("tunaeval_langchain", default=None)
"""The tool whose `_arun` is running: many call their own `_run`, which is then no other run."""


def _langchain(tool: AnyTool, recorder: roles.Recorder) -> AnyTool:
    """Return a copy of LangChain's tool that records each run, with the id of its call.

    The code is in `func` and `coroutine`, or in a class's `_run` and `_arun`. `run` and `arun` call
    these and get the call's id; the validation and callbacks in between are not part of a recorded
    run. Attributes of the copy shadow its methods, so that it keeps its class.
    """
    made = tool.model_copy()

    def record(function: Function) -> Function:
        arguments = _without_langchains(function, _shown_by(tool))
        return record_runs(function, recorder, name=tool.name, arguments=arguments)

    if hasattr(tool, "func"):
        functions = {part: vars(tool).get(part) for part in _PARTS[:2]}
        vars(made).update({part: record(found) for part, found in functions.items() if found})
    else:
        vars(made)["_run"] = _once(_method(made, "_run"), record, made)
        arun = _method(made, "_arun")
        if not arun.__module__.startswith("langchain_core."):  # there it calls `_run`
            vars(made)["_arun"] = _awaiting(record(arun), made)

    def id_of(*_args: object, tool_call_id: str | None = None, **_kwargs: object) -> str | None:
        return tool_call_id

    for name, awaits in (("run", False), ("arun", True)):
        run = MethodType(getattr(type(made), name), made)
        vars(made)[name] = _answering(run, id_of, awaits=awaits)
    return made


def _shown_by(tool: roles.AnyTool) -> frozenset[str]:
    """Return the parameters that the model fills in, if a schema lists them."""
    try:
        return frozenset(tool.args) if tool.args_schema is not None else frozenset()
    except KeyError:  # a JSON schema without properties
        return frozenset()


def _without_langchains(function: Function, shown: frozenset[str]) -> Arguments:
    """Return a function that extracts the model's arguments, without those of LangChain itself."""
    signature = inspect.signature(function)
    hidden = frozenset(signature.parameters) - shown
    if not shown & frozenset(signature.parameters):  # it is called with one text by position
        hidden = _OF_LANGCHAIN

    def arguments(args: Args, kwargs: Kwargs) -> JsonObject:
        given = named(signature, args, kwargs)
        return {name: value for name, value in given.items() if name not in hidden}

    return arguments


def _method(tool: roles.AnyTool, name: str) -> Function:
    """Return the method of the copied tool, or what another recorder has put in its place."""
    shadow: Function | None = vars(tool).get(name)
    return shadow or MethodType(getattr(type(tool), name), tool)


def _once(bare: Function, record: Callable[[Function], Function], tool: object) -> Function:
    """Return `_run` with each run recorded, except runs that the tool's own `_arun` starts."""
    recorded = record(bare)

    @wraps(recorded, updated=())
    def run(*args: Any, **kwargs: Any) -> Any:
        return (bare if _awaited.get() is tool else recorded)(*args, **kwargs)

    return run


def _awaiting(recorded: Function, tool: object) -> Function:
    @wraps(recorded, updated=())
    async def run(*args: Any, **kwargs: Any) -> Any:
        token = _awaited.set(tool)
        try:
            return await recorded(*args, **kwargs)
        finally:
            _awaited.reset(token)

    return run


def _pydantic_ai(tool: AnyTool, recorder: roles.Recorder) -> AnyTool:
    """Return a copy of pydantic-ai's tool whose function, which its schema calls, is recorded.

    A plain function waits in the schema for a thread, which counts as time in the queue. The
    context, which has the id of the call, is not kept among the arguments.
    """
    schema = copy(tool.function_schema)
    arguments = _without_context(tool.function) if schema.takes_ctx else None
    schema.function = record_runs(tool.function, recorder, name=tool.name, arguments=arguments)
    schema.call = _answering(MethodType(type(schema).call, schema), _id_in_context, awaits=True)
    recorded = copy(tool)
    recorded.function, recorded.function_schema = schema.function, schema
    return recorded


def _without_context(function: Function) -> Arguments:
    signature = inspect.signature(function)
    _, *parameters = signature.parameters.values()
    rest = signature.replace(parameters=parameters)
    return lambda args, kwargs: named(rest, args[1:], kwargs)


def _executed(tool: AnyTool, recorder: roles.Recorder) -> AnyTool:
    """Return a copy of a dataclass of tinyagent or `mcp_tools`, whose `execute` gets the call's id
    and arguments.

    The tool is not changed in place, because callers wrap shared tools repeatedly.
    """

    def arguments(args: Args, kwargs: Kwargs) -> JsonObject:
        given = args[1] if len(args) > 1 else kwargs.get("args")
        return given if isinstance(given, dict) else {}

    def id_of(tool_call_id: str, *_args: object, **_kwargs: object) -> str:
        return tool_call_id

    run = record_runs(tool.execute, recorder, name=tool.name, arguments=arguments)
    awaits = inspect.iscoroutinefunction(run)
    return replace(tool, execute=_answering(run, id_of, awaits=awaits))


_INNER = "_invoke_tool_impl"
"""The attribute in which the invoker of OpenAI Agents keeps the function that may fail."""


def _openai_agents(tool: AnyTool, recorder: roles.Recorder) -> AnyTool:
    """Return a copy of OpenAI Agents' `FunctionTool` that records each run, with its call's id.

    It runs `on_invoke_tool(context, arguments as JSON text)`. From 0.10 on that is an object around
    the tool's function, which turns what it raises into a text for the model. The inner function is
    recorded, so an execution has the exception, and the model gets the same text as before.
    Decoding the arguments, and waiting for a thread if the tool is no coroutine function, are part
    of a run.
    """
    recorded = copy(tool)
    invoke = recorded.on_invoke_tool
    inner = getattr(invoke, _INNER, invoke)
    run = record_runs(inner, recorder, name=tool.name, arguments=_decoded)
    run = _answering(run, _id_in_context, awaits=True)
    if inner is invoke:
        recorded.on_invoke_tool = run
    else:
        recorded.on_invoke_tool = copy(invoke)
        setattr(recorded.on_invoke_tool, _INNER, run)
    return recorded


def _decoded(args: Args, kwargs: Kwargs) -> JsonObject:
    """Return the model's arguments; text that is no JSON object is put under `*args`."""
    text = args[1] if len(args) > 1 else kwargs.get("input", "")
    read = json_object(text or "{}")
    return {UNBOUND: [text]} if read is None else read


_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _smolagents(tool: AnyTool, recorder: roles.Recorder) -> AnyTool:
    """Return a copy of smolagents' tool, of the same class, whose `forward` is recorded.

    A method is bound to the copy, so that it finds what `setup` stores there. The framework does
    not pass the call's id to the tool, so executions have none, and are matched with the calls by
    their order.
    """
    recorded = copy(tool)
    forward = tool.forward
    is_method = isinstance(forward, MethodType) and forward.__self__ is tool
    function = forward.__func__ if is_method else forward
    arguments = _by_inputs(function, tuple(tool.inputs), skipped=int(is_method))
    run = record_runs(function, recorder, name=tool.name, arguments=arguments)
    vars(recorded)["forward"] = MethodType(run, recorded) if is_method else run
    return recorded


def _by_inputs(function: Function, inputs: tuple[str, ...], *, skipped: int) -> Arguments:
    """Return a function that names arguments by the tool's inputs, in the order of `function`.

    The signature of a tool made by the framework's decorator has a `self` that is not passed.
    """
    named = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind in _NAMED and name in inputs
    ]
    names = named if len(named) == len(inputs) else inputs
    return lambda args, kwargs: {**dict(zip(names, args[skipped:], strict=False)), **kwargs}


FUNCTION = Wrapper(
    "function",
    fits=callable,  # `record_runs` refuses what is no function
    runs=lambda tool: (tool,),
    wrap=record_runs,
)
"""Wraps tools without a framework: functions of any kind, and callable objects."""

LANGCHAIN = Wrapper(
    "langchain",
    _having("args_schema", "tool_call_schema", "model_copy", "run", "arun", "_run", "_arun"),
    lambda tool: tuple(vars(tool).get(part) for part in _PARTS),
    _langchain,
)
PYDANTIC_AI = Wrapper(
    "pydantic-ai",
    lambda tool: (
        callable(getattr(getattr(tool, "function_schema", None), "call", None))
        and callable(getattr(tool, "function", None))
    ),
    lambda tool: (tool.function,),
    _pydantic_ai,
)


def _executes(tool: object) -> bool:
    """Whether it is a dataclass with a name and a method `execute`."""
    executes = _having("name")(tool) and callable(getattr(tool, "execute", None))
    return is_dataclass(tool) and executes


def _is_of_mcp(tool: object) -> bool:
    return _executes(tool) and type(tool).__module__ == f"{__package__}.mcp"


TINYAGENT = Wrapper(
    "tinyagent",
    lambda tool: _executes(tool) and not _is_of_mcp(tool),
    lambda tool: (tool.execute,),
    _executed,
)
OPENAI_AGENTS = Wrapper(  # the tool also has the function that it was made from
    "openai-agents",
    _having("name", "params_json_schema", "on_invoke_tool"),
    lambda tool: (
        getattr(tool.on_invoke_tool, _INNER, tool.on_invoke_tool),
        getattr(tool, "__wrapped__", None),
    ),
    _openai_agents,
)
SMOLAGENTS = Wrapper(
    "smolagents",
    _having("name", "inputs", "output_type", "forward"),
    lambda tool: (tool.forward,),
    _smolagents,
)
MCP = Wrapper("mcp", _is_of_mcp, lambda tool: (tool.execute,), _executed)

_BUILT_IN = (LANGCHAIN, PYDANTIC_AI, TINYAGENT, OPENAI_AGENTS, SMOLAGENTS, MCP)

wrappers: Registry[ToolWrapper] = Registry(
    "tunaeval.wrappers",
    _KIND,
    builtins={one.name: f"{__name__}:{one.name.upper().replace('-', '_')}" for one in _BUILT_IN},
    check=instance_of(ToolWrapper),
)

PACKAGES: dict[str, dict[str, str]] = table_of(__package__, "frameworks.toml")
"""The refused tools by the package of their class or one of its base classes."""

SCHEMAS = (
    "args_schema", "input_schema", "inputSchema", "inputs", "parameters", "params_json_schema",
)  # fmt: skip
"""The attributes in which tools keep the schema of their arguments."""

_NO_OBJECTS = (type, partial, *FUNCTIONS)
"""Callables that are never a framework's tool, whatever attributes they have."""


def refusal_of(tool: object) -> str | None:
    """Return why a tool that no adapter knows cannot be wrapped, and a remedy; None if it can."""
    mark: Any = getattr(tool, "__registry_info__", None)  # of a tool of Inspect, or its maker
    package = "inspect_ai" if getattr(mark, "type", None) == "tool" else _package_of(tool)
    if package is not None:
        refused = PACKAGES[package]
        write = refused["write"].replace("{tool}", "tunaeval.wrap_tool(function, recorder)")
        return (
            f"{brief(tool, 80)} is {refused['kind']}, which is not wrapped as it is; "
            f"wrap the function that it runs, before it becomes a tool: {write}"
        )
    schema = _schema_of(tool)
    if schema is None:
        return None
    return (
        f"{brief(tool, 80)} has a name and {schema!r}, as a framework's tool has, and the "
        "framework is not known here; wrap the function that it runs, before it becomes a tool, or "
        "what is called alone: tunaeval.wrap_tool(tool.__call__, recorder)"
    )


def _package_of(tool: object) -> str | None:
    for kind in type(tool).__mro__:
        parts = kind.__module__.split(".")
        for length in range(len(parts), 0, -1):
            if (package := ".".join(parts[:length])) in PACKAGES:
                return package
    return None


def _schema_of(tool: object) -> str | None:
    """Return the name of a callable object's attribute with a schema, if it has a name, too."""
    if isinstance(tool, _NO_OBJECTS) or not callable(tool):
        return None
    if not isinstance(getattr(tool, "name", None), str):
        return None
    return next((name for name in SCHEMAS if getattr(tool, name, None) is not None), None)
