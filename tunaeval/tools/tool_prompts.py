"""How a tool is described to a model, also by prompt files: XML in place of its docstring.

    <tool_prompt>
        <description>Replace text in a file. ...</description>
        <parameters>                                        <!-- optional -->
            <parameter name="target"><description>The text to replace.</description></parameter>
        </parameters>
    </tool_prompt>

Other elements are skipped. A document type is refused, and with it every entity except XML's own
five, so nothing is expanded or fetched. A file has at most `MAX_BYTES`, and `MAX_DEPTH` nested
elements. What cannot be read raises `ToolsError` with file, line and column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import cleandoc
from os import PathLike
from typing import Any
from xml.parsers import expat

from tunaeval.errors import ToolsError
from tunaeval.files.packed_files import read_plain
from tunaeval.files.plain_files import unread
from tunaeval.types.calls import JsonObject, JsonValue, ToolSpec
from tunaeval.types.wanted import wanted_path

from .specs import spec_of

MAX_BYTES = 1_000_000
MAX_DEPTH = 100

_DESCRIPTION = ("description",)
_PARAMETER = ("parameters", "parameter")
_ABOUT_PARAMETER = (*_PARAMETER, "description")


@dataclass(frozen=True, slots=True)
class ToolPrompt:
    """A tool's description, and that of each parameter ("" if the file only names it).

    `source` is the file; `line` is where the description begins in it, and `lines` where the
    parameters begin.

    Examples:
        >>> from pathlib import Path
        >>> described = "<tool_prompt><description>Lists a directory.</description></tool_prompt>"
        >>> _ = Path("ls.xml").write_text(described)
        >>> tunaeval.read_tool_prompt("ls.xml").description
        'Lists a directory.'
    """

    description: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    line: int = 1
    lines: Mapping[str, int] = field(default_factory=dict)


def read_tool_prompt(path: str | PathLike[str]) -> ToolPrompt:
    """Read a prompt file. Raises ToolsError, with line and column, if it is no valid prompt.

    Examples:
        >>> from pathlib import Path
        >>> described = "<tool_prompt><description>Lists a directory.</description></tool_prompt>"
        >>> _ = Path("ls.xml").write_text(described)
        >>> tunaeval.read_tool_prompt("ls.xml").description
        'Lists a directory.'
    """
    file_path = wanted_path(path, "path")
    try:
        text = read_plain(file_path)
    except OSError as error:
        words = unread(file_path, "wanted a file of XML", error)
        raise ToolsError(f"the tool prompt {str(path)!r} {words}") from error
    return prompt_of(text, str(path))


def tool_spec(
    tool: Any,
    *,
    name: str | None = None,
    description: str | None = None,
    prompt: str | PathLike[str] | None = None,
) -> ToolSpec:
    """Return the description of a function or of any other tool that `to_tools` reads.

    A function's signature becomes the schema, and its docstring the description. `prompt` is an XML
    prompt file that replaces the docstring; `name` and `description` replace both. Raises
    ToolsError for a tool that cannot be described to a model.

    Examples:
        >>> def read_file(path: str, limit: int = 20) -> str:
        ...     return path
        ...
        >>> tunaeval.tool_spec(read_file).parameters["required"]
        ['path']
    """
    spec = spec_of(tool, "the tool", name)
    if prompt is not None:
        reported = read_tool_prompt(prompt)
        parameters = _described(spec.parameters, reported.parameters)
        spec = replace(spec, description=reported.description, parameters=parameters)
    words = spec.description if description is None else description
    return replace(spec, name=name or spec.name, description=words)


def _described(schema: Mapping[str, JsonValue], words: Mapping[str, str]) -> JsonObject:
    properties = {
        argument: {**inner, "description": words[argument]}
        if isinstance(inner, Mapping) and words.get(argument)
        else inner
        for argument, inner in schema.get("properties", {}).items()
    }
    return {**schema, "properties": properties} if properties else dict(schema)


def prompt_of(text: bytes, source: str = "prompt") -> ToolPrompt:
    """Read the content of a prompt file; `source` names it in errors. Raises ToolsError."""
    if len(text) > MAX_BYTES:
        raise ToolsError(f"{source}: more than {MAX_BYTES:,} bytes, which is too long for a prompt")
    return _PromptHandler(source).read(text)


class _PromptHandler:
    """Reads one prompt file; its methods are the handlers that expat calls."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.parser = expat.ParserCreate()
        self.open: list[str] = []
        self.words: list[str] = []
        self.begun = 1
        self.description: str | None = None
        self.line = 1
        self.parameters: dict[str, str] = {}
        self.lines: dict[str, int] = {}

    def read(self, text: bytes) -> ToolPrompt:
        parser = self.parser
        parser.StartDoctypeDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self.words.append
        try:
            parser.Parse(text, True)
        except expat.ExpatError as error:
            raise self._error(f"no XML: {expat.ErrorString(error.code)}") from error
        except (LookupError, ValueError) as error:
            raise self._error(f"its encoding cannot be read: {error}") from error
        if self.description is None:
            raise self._error(
                "no <description> directly below the root, which is what the model is given"
            )
        return ToolPrompt(self.description, self.parameters, self.source, self.line, self.lines)

    def _doctype(self, *_declared: object) -> None:
        raise self._error("a document type; wanted none, for nothing is expanded or fetched")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.open.append(name)
        if len(self.open) > MAX_DEPTH:
            raise self._error(f"elements nest more than {MAX_DEPTH} deep")
        place = tuple(self.open[1:])
        if place in {_DESCRIPTION, _ABOUT_PARAMETER}:
            self.words.clear()
            self.begun = self.parser.CurrentLineNumber
        elif place == _PARAMETER:
            self._name(attributes.get("name", "").strip())

    def _name(self, name: str) -> None:
        if not name:
            raise self._error('<parameter> has no name; wanted <parameter name="...">')
        if name in self.parameters:
            raise self._error(f"<parameter name={name!r}> is in line {self.lines[name]}, too")
        self.parameters[name] = ""
        self.lines[name] = self.parser.CurrentLineNumber

    def _end(self, _name: str) -> None:
        place = tuple(self.open[1:])
        self.open.pop()
        if place == _ABOUT_PARAMETER:
            self.parameters[next(reversed(self.parameters))] = self._text()
        elif place == _DESCRIPTION:
            if self.description is not None:
                raise self._error(f"a second <description>; the first is in line {self.line}")
            text = "".join(self.words)
            self.line = self.begun + text[: len(text) - len(text.lstrip())].count("\n")
            self.description = self._text()

    def _text(self) -> str:
        return cleandoc("".join(self.words)).strip()

    def _error(self, what: str) -> ToolsError:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        return ToolsError(f"{self.source}:{line}:{column}: {what}")
