"""One text read whole and as streams, which have to agree; and how to write the calls in tests."""

from __future__ import annotations

from tunaeval import parse, stream
from tunaeval.types.calls import JsonValue, Tools, ToolSpec
from tunaeval.types.parsing import Level, ParseResult


def read(
    text: str, name: str = "auto", tools: Tools | None = None, level: Level = "standard"
) -> ParseResult:
    """The result of the whole text, which is that of its streams in small chunks and in one."""
    result = parse(text, name, tools=tools, level=level)
    for size in (1, 4, 7, max(1, len(text))):
        reading = stream(name, tools=tools, level=level)
        for start in range(0, len(text), size):
            reading.feed(text[start : start + size])
        assert reading.finish() == result, f"in chunks of {size}"
    return result


def takes(**types: JsonValue) -> dict[str, JsonValue]:
    """The schema of an object: for each property a type, or a schema of its own."""
    return {
        "type": "object",
        "properties": {
            name: said if isinstance(said, dict) else {"type": said} for name, said in types.items()
        },
    }


TOOLS = Tools(
    [
        ToolSpec("find_files", "", takes(folder="string", depth="integer")),
        ToolSpec("sum_up", "", takes(a="number", b="number")),
        ToolSpec("save_file", "", takes(path="string", content="string", opts="object")),
        ToolSpec("ping", "", takes()),
    ]
)

FIND = '{"name": "find_files", "arguments": {"folder": "src", "depth": 2}}'
SUM = '{"name": "sum_up", "arguments": {"a": 1, "b": 2.5}}'
PING = '{"name": "ping", "arguments": {}}'
FOUND = ("find_files", {"folder": "src", "depth": 2})
SUMMED = ("sum_up", {"a": 1, "b": 2.5})
PINGED: tuple[str, dict[str, JsonValue]] = ("ping", {})


def saving(content: str) -> str:
    """A call of save_file with this content, as JSON."""
    return f'{{"name": "save_file", "arguments": {{"path": "a", "content": "{content}"}}}}'


def with_parameters(name: str, **values: str) -> str:
    """A call as Qwen3-Coder writes it."""
    inner = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    return f"<tool_call>\n<function={name}>\n{inner}</function>\n</tool_call>"


def with_pairs(name: str, **values: str) -> str:
    """A call as GLM writes it."""
    inner = "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"
        for key, value in values.items()
    )
    return f"<tool_call>{name}\n{inner}</tool_call>"


def with_invoke(name: str, prefix: str = "", **values: str) -> str:
    """A call as MiniMax M2 writes it; with a prefix and types, as DeepSeek V3.2 does."""
    typed = ' string="true"' if prefix else ""
    inner = "".join(
        f'<{prefix}parameter name="{key}"{typed}>{value}</{prefix}parameter>\n'
        for key, value in values.items()
    )
    return f'<{prefix}invoke name="{name}">\n{inner}</{prefix}invoke>'


def with_steps(name: str, **values: str) -> str:
    """A call as Step3 writes it."""
    inner = "".join(
        f'<steptml:parameter name="{key}">{value}</steptml:parameter>'
        for key, value in values.items()
    )
    return (
        "<｜tool_call_begin｜>function<｜tool_sep｜>"
        f'<steptml:invoke name="{name}">{inner}</steptml:invoke><｜tool_call_end｜>'
    )
