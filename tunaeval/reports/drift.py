"""Drift: names in a tool's description that differ from its parameters, which mislead a model;
also differences between two descriptions of a tool, as of an installed agent and a catalogue.

An agent described its update_file with `old_string` and `new_string`, but it took `target` and
`patch`. `_EVIDENCE` is the table of what counts as a mention of an argument in prose; words in
quotes, in a path or before a bracket are values, files or functions. No reading of prose is
certain: a drift is a finding to look at, not a proof, and names its evidence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from typing import TypeAlias

from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.tools.tool_prompts import ToolPrompt, read_tool_prompt
from tunaeval.types.calls import JsonValue, Tools, ToolSpec
from tunaeval.types.wanted import wanted_items

from .tool_changes import Change, changes_between

_LONGEST_NAME = 64
_DEEPEST_INDENT = 40
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*+")
_KINDS = ("required", "optional", "string", "str", "int", "bool", "number", "array", "object")
_BOUND = frozenset("-./\\@$&?:")
"""Directly before a word, these make it part of a path, an option, an address or a variable."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a line of the prompt that is written like an argument, but is none.

    `evidence` says how it was written, and `near` lists parameters that may be meant.
    """

    name: str
    line: int
    evidence: str
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """Names that are only in the prompt, each with its first line; names that are only in the
    schema; and the differences between two descriptions of a tool.

    Examples:
        >>> ours = {"name": "ls", "parameters": {"properties": {"path": {"type": "string"}}}}
        >>> tunaeval.find_drift({**ours, "description": "Lists a `directory`."}).only_in_schema
        ('path',)
    """

    tool: str
    only_in_prompt: tuple[Mention, ...] = ()
    only_in_schema: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        """Whether a model would be misled: by names that the tool does not have, or by a change
        that `misleads`. Parameters without a mention and other wording do not mislead.
        """
        return bool(self.only_in_prompt) or any(change.misleads for change in self.changes)

    def __str__(self) -> str:
        mentions = [
            f"{self.tool}: line {one.line} names {one.name!r} ({one.evidence}), "
            + (f"did you mean {' or '.join(map(repr, one.near))}?" if one.near else self._others())
            for one in self.only_in_prompt
        ]
        return "\n".join([*mentions, *(f"{self.tool}: {change}" for change in self.changes)])

    def _others(self) -> str:
        others = ", ".join(self.only_in_schema)
        return f"which it does not take; never named: {others}" if others else "which it lacks"


def find_drift(
    tool: ToolLike,
    prompt: str | PathLike[str] | ToolPrompt | ToolLike | None = None,
    *,
    tools: Iterable[str] = (),
) -> Drift:
    """Compare the names in a prompt file with the parameters of `tool`.

    `prompt` is the file, or the result of reading it; by default the tool's own description is
    used. `tools` are the names of other tools, which a description may mention.

    `prompt` may also be another description of the same tool, in any shape that `to_tools` reads:
    then the drift has only the `changes` between both, where `tool` is "ours". Raises ToolsError
    for what is neither a tool nor a prompt.

    Examples:
        >>> spec = {"name": "ls", "parameters": {"properties": {"path": {"type": "string"}}}}
        >>> tunaeval.find_drift({**spec, "description": "Give it a `directory`."}).only_in_schema
        ('path',)
    """
    (spec,) = to_tools([tool]).values()
    match prompt:
        case None:
            return _names_astray(spec, ToolPrompt(spec.description), tools)
        case ToolPrompt():
            return _names_astray(spec, prompt, tools)
        case str() | PathLike():
            return _names_astray(spec, read_tool_prompt(prompt), tools)
    (other,) = to_tools([prompt]).values()
    return Drift(spec.name, changes=changes_between(spec, other))


def compare_tools(
    ours: Tools | Iterable[ToolLike], theirs: Tools | Iterable[ToolLike]
) -> tuple[Drift, ...]:
    """Return the drift of each tool that two lists describe differently or only one contains.

    Tools are paired by name. Those of `ours` come first, in their order; equal tools are left out.

    Examples:
        >>> [drift.tool for drift in tunaeval.compare_tools([{"name": "ls"}], [{"name": "cat"}])]
        ['ls', 'cat']
    """
    mine, others = to_tools(ours) or Tools(), to_tools(theirs) or Tools()
    drifts = [
        find_drift(spec, others[name])
        if name in others
        else Drift(name, changes=(Change("name", name, ...),))
        for name, spec in mine.items()
    ]
    new = [name for name in others if name not in mine]
    drifts += [Drift(name, changes=(Change("name", ..., name),)) for name in new]
    return tuple(drift for drift in drifts if drift.changes)


def _names_astray(spec: ToolSpec, given: ToolPrompt, tools: Iterable[str]) -> Drift:
    parameters = tuple(spec.parameters.get("properties") or ())
    named = [*tools] if isinstance(tools, Mapping) else tools  # the keys of `Tools` are names
    others = wanted_items(named, "tools", str, "names of tools")
    known = {spec.name, *others, *_names(spec.parameters)}
    found: dict[str, Mention] = {}
    for name, line, evidence in _mentions(given, parameters):
        if name not in known and name not in found:
            found[name] = Mention(name, line, evidence, _near(name, parameters))
    met = {*given.parameters, *_WORD.findall(given.description)}
    return Drift(spec.name, tuple(found.values()), tuple(p for p in parameters if p not in met))


def _mentions(given: ToolPrompt, parameters: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """Yield each name that is written like an argument, its line, and the evidence."""
    for name, number in given.lines.items():
        yield name, number, "parameter element"
    for number, line in enumerate(given.description.split("\n"), given.line):
        quotes = at = 0
        for word in _WORD.finditer(line):
            quotes += line.count('"', at, word.start())
            at = word.start()
            for evidence, shows in _QUOTED if quotes % 2 else _EVIDENCE:
                if shows(line, word, parameters):
                    yield word[0], number, evidence
                    break


def _is_key(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """Whether it is a key, `{"name": ...}`."""
    return line.startswith('":', word.end()) and line.endswith('"', 0, word.start())


def _is_assigned(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """Whether it is assigned, `name=true`, and no option, environment variable or comparison."""
    assigned = line.startswith("=", word.end()) and not line.startswith("==", word.end())
    return assigned and _preceding(line, word) not in _BOUND and not word[0].isupper()


def _is_listed(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """Whether it is a list item, `- name (required): ...`."""
    first = word.start() <= _DEEPEST_INDENT and not line[: word.start()].strip("-* `\t")
    opened = first and line.startswith((" (", "("), word.end())
    return opened and line[word.end() :][:12].strip(" (").startswith(_KINDS)


def _is_snake(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """Whether it is in snake case, and neither quoted, called, nor part of a path."""
    if "_" not in word[0].strip("_") or not word[0].islower():
        return False
    after = line[word.end() : word.end() + 2]
    in_path = after[:1] in {".", "/", ":"} and after[1:].isalnum()
    return not (in_path or after[:1] in {"(", "'"} or _preceding(line, word) in _BOUND | {"'"})


def _is_ticked(line: str, word: re.Match[str], parameters: tuple[str, ...]) -> bool:
    """Whether it is a word in backticks and similar to a parameter; other words may be anything."""
    ticked = line.startswith("`", word.end()) and _preceding(line, word) == "`"
    return ticked and bool(_near(word[0], parameters))


_Shows: TypeAlias = Callable[[str, "re.Match[str]", "tuple[str, ...]"], bool]
_QUOTED: tuple[tuple[str, _Shows], ...] = (("key", _is_key),)
_EVIDENCE: tuple[tuple[str, _Shows], ...] = (
    ("assignment", _is_assigned),
    ("list", _is_listed),
    ("snake case", _is_snake),
    ("backticks", _is_ticked),
)


def _preceding(line: str, word: re.Match[str]) -> str:
    return line[word.start() - 1 : word.start()] if word.start() else ""


def _near(name: str, parameters: tuple[str, ...]) -> tuple[str, ...]:
    """Return parameters that `name` may mean: spelled similarly, or one containing the other."""
    if not 3 <= len(name) <= _LONGEST_NAME:
        return ()
    inside = [one for one in parameters if name in one or (len(one) >= 3 and one in name)]
    alike = get_close_matches(name, parameters, n=3, cutoff=0.7)
    return tuple(dict.fromkeys([*alike, *inside]))


def _names(schema: JsonValue) -> Iterator[str]:
    """Yield all names of properties and all strings in a schema; prompts may mention them."""
    waiting = [schema]
    while waiting:
        match waiting.pop():
            case dict() as inner:
                yield from inner.get("properties") or ()
                waiting += inner.values()
            case list() as inner:
                waiting += inner
            case str() as text:
                yield text
