"""Example turns for models that need them: questions that are in no suite, and their answers.

An example is shown only if the suite's tools can make all of its calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tunaeval.types.calls import JsonValue, ToolCall, Tools


@dataclass(frozen=True, slots=True)
class Example:
    """A question, and the calls or (if no tool is needed) the text that answers it."""

    question: str
    calls: tuple[ToolCall, ...] = ()
    words: str = ""


def fitting(examples: Iterable[Example], tools: Tools) -> tuple[Example, ...]:
    """Return the examples whose calls these tools can make."""
    return tuple(
        example for example in examples if all(_possible(call, tools) for call in example.calls)
    )


def _possible(call: ToolCall, tools: Tools) -> bool:
    if call.name not in tools:
        return False
    parameters = tools[call.name].parameters
    properties: Mapping[str, JsonValue] = parameters.get("properties", {})
    required: Iterable[str] = parameters.get("required", ())
    return all(name in properties for name in call.arguments) and all(
        name in call.arguments for name in required
    )


def _call(name: str, **arguments: JsonValue) -> ToolCall:
    return ToolCall(name, arguments)


# A small model imitates what it saw last: text and pairs of calls are in the middle.
EXAMPLES: tuple[Example, ...] = (
    Example("What lies in the folder museum?", (_call("list_dir", directory="museum"),)),
    Example(
        "Make a new file menu.txt that says: soup at noon",
        (_call("write_file", filepath="menu.txt", content="soup at noon"),),
    ),
    Example("Who painted the Mona Lisa?", words="Leonardo da Vinci painted it."),
    Example(
        "Get https://weather.example/today, and open the file diary/june.md.",
        (
            _call("web_fetch", url="https://weather.example/today"),
            _call("read_file", filepath="diary/june.md"),
        ),
    ),
    Example(
        "Change `colour = red` to `colour = blue` in paint.ini.",
        (
            _call(
                "update_file",
                filepath="paint.ini",
                target="colour = red",
                patch="colour = blue",
            ),
        ),
    ),
    Example("Find every file that ends in .ogg.", (_call("glob", pattern="**/*.ogg"),)),
    Example(
        "Look for the word lighthouse inside the folder poems.",
        (_call("grep", pattern="lighthouse", directory="poems"),),
    ),
    Example("Execute `cal 2031` in the shell.", (_call("bash", command="cal 2031"),)),
    Example("Where is the harbour drawn?", (_call("discover", query="drawing of the harbour"),)),
)
