"""Where a tool's description and its parameters say different names: a faithful model then errs.

Also where two descriptions of a tool differ: an installed agent's, say, and those of a catalogue.

The update_file of an agent was described by `old_string` and `new_string` and took `target` and
`patch`. What counts as a mention of an argument in prose is a table (`_EVIDENCE`); what is in
quotes, in a path or before a bracket is a value, a file or a function. Prose is prose: a drift is a
finding to be looked at, not a proof, and says which evidence it rests on.
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
"""Right before a word, these make it a part of a path, an option, an address or a variable."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that is written as an argument's and is none, in a line of the prompt.

    `evidence` says how it was written, `near` which parameters it may have meant.
    """

    name: str
    line: int
    evidence: str
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """Names that are in the prompt alone, each where it is first met, and in the schema alone;
    and what two descriptions of a tool say differently.

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
        """Whether a model would be led astray: by names that the tool does not know, or by a change
        that `misleads`. A parameter that is not mentioned and other words mislead nobody.
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
    """Compare what a prompt file names with the parameters of `tool`.

    `prompt` is the file, or what was read of one; without it the tool's own description is looked
    at. `tools` are the names of other tools, which a description may mention.

    `prompt` may as well be the same tool as somebody else has it, in any shape that `to_tools`
    reads: then the drift has the `changes` between both, `tool` being ours, and nothing else.

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
    """The drift of every tool that two lists describe differently, or that only one of them has.

    Tools are paired by name. In our order, then what only theirs has; empty where both agree.

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
    named = [*tools] if isinstance(tools, Mapping) else tools  # `Tools` has its names as keys
    others = wanted_items(named, "tools", str, "names of tools")
    known = {spec.name, *others, *_names(spec.parameters)}
    found: dict[str, Mention] = {}
    for name, line, evidence in _mentions(given, parameters):
        if name not in known and name not in found:
            found[name] = Mention(name, line, evidence, _near(name, parameters))
    met = {*given.parameters, *_WORD.findall(given.description)}
    return Drift(spec.name, tuple(found.values()), tuple(p for p in parameters if p not in met))


def _mentions(given: ToolPrompt, parameters: tuple[str, ...]) -> Iterator[tuple[str, int, str]]:
    """Each name that is written as an argument's, its line, and the evidence."""
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
    """`{"name": ...}`"""
    return line.startswith('":', word.end()) and line.endswith('"', 0, word.start())


def _is_assigned(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """`name=true`; no option, no variable of an environment, no comparison"""
    assigned = line.startswith("=", word.end()) and not line.startswith("==", word.end())
    return assigned and _before(line, word) not in _BOUND and not word[0].isupper()


def _is_listed(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """`- name (required): ...`"""
    first = word.start() <= _DEEPEST_INDENT and not line[: word.start()].strip("-* `\t")
    opened = first and line.startswith((" (", "("), word.end())
    return opened and line[word.end() :][:12].strip(" (").startswith(_KINDS)


def _is_snake(line: str, word: re.Match[str], _parameters: tuple[str, ...]) -> bool:
    """`old_name` in prose; what is quoted, called or part of a path is something else"""
    if "_" not in word[0].strip("_") or not word[0].islower():
        return False
    after = line[word.end() : word.end() + 2]
    in_path = after[:1] in {".", "/", ":"} and after[1:].isalnum()
    return not (in_path or after[:1] in {"(", "'"} or _before(line, word) in _BOUND | {"'"})


def _is_ticked(line: str, word: re.Match[str], parameters: tuple[str, ...]) -> bool:
    """A plain word in backticks may be anything, unless it is nearly a parameter's name."""
    ticked = line.startswith("`", word.end()) and _before(line, word) == "`"
    return ticked and bool(_near(word[0], parameters))


_Shows: TypeAlias = Callable[[str, "re.Match[str]", "tuple[str, ...]"], bool]
_QUOTED: tuple[tuple[str, _Shows], ...] = (("key", _is_key),)
_EVIDENCE: tuple[tuple[str, _Shows], ...] = (
    ("assignment", _is_assigned),
    ("list", _is_listed),
    ("snake case", _is_snake),
    ("backticks", _is_ticked),
)


def _before(line: str, word: re.Match[str]) -> str:
    return line[word.start() - 1 : word.start()] if word.start() else ""


def _near(name: str, parameters: tuple[str, ...]) -> tuple[str, ...]:
    """Parameters that `name` may have meant: spelled alike, or one inside the other."""
    if not 3 <= len(name) <= _LONGEST_NAME:
        return ()
    inside = [one for one in parameters if name in one or (len(one) >= 3 and one in name)]
    alike = get_close_matches(name, parameters, n=3, cutoff=0.7)
    return tuple(dict.fromkeys([*alike, *inside]))


def _names(schema: JsonValue) -> Iterator[str]:
    """Every property and every text that a schema knows: none of them is a stray name."""
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
