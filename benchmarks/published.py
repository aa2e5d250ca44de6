"""Published replies as values: what a model wrote, which tools it had, and what it meant.

A folder contains `replies.jsonl.gz`, in one of two layouts. Beside `prompts.jsonl.gz` (category,
index, question, functions) it has model, category, index, text, and under `bfcl` the calls that
BFCL's own handler read, each as `{name: arguments}`, or null where it failed. Alone it is labelled:
model, kind (the form), text, tools (or null), and under `want` a list of `[name, arguments]`, which
is empty where the model calls nothing.
"""

from __future__ import annotations

import ast
import gzip
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tunaeval import Tools, to_tools

OTHER_LANGUAGES = frozenset({"java", "javascript"})
"""The categories whose arguments BFCL reads as the text of each value, whatever its type is."""

_NUMBER = re.compile(r"\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?")


class Read(NamedTuple):
    """One call as one reader has it."""

    name: str
    arguments: dict[str, Any]


class Reply(NamedTuple):
    """One text of one model; `theirs` is None where BFCL's handler failed.

    If `labelled`, `theirs` is what the model meant, and `category` is the form it wrote.
    """

    model: str
    category: str
    number: int
    text: str
    underscores: bool
    theirs: tuple[Read, ...] | None
    passed: bool
    labelled: bool = False

    @property
    def place(self) -> str:
        return f"{self.model} {self.category} {self.number}"


class Folder:
    """The prompts and replies in a folder; raises `SystemExit` with a sentence where one is not."""

    def __init__(self, path: Path, models: Sequence[str] = ()) -> None:
        rows = list(_lines(path / "replies.jsonl.gz"))
        self.labelled = all("want" in row for row in rows)
        self._prompts = {
            (row["category"], row["index"]): row
            for row in (
                [{"category": one["kind"], "index": at, "functions": one["tools"]}
                 for at, one in enumerate(rows)]
                if self.labelled
                else _lines(path / "prompts.jsonl.gz")
            )
        }  # fmt: skip
        read = (_labelled(row, at) if self.labelled else _reply(row) for at, row in enumerate(rows))
        self.replies = [reply for reply in read if reply.model in (models or {reply.model})]
        if not self.replies:
            sys.exit(f"{path}: no reply is of the models {', '.join(models) or '(any)'}")
        self._tools: dict[tuple[str, int, bool], Tools | None] = {}

    @cached_property
    def models(self) -> list[str]:
        return sorted({reply.model for reply in self.replies})

    def question(self, reply: Reply) -> str:
        return str(self._prompts[reply.category, reply.number]["question"])

    def functions(self, reply: Reply) -> list[dict[str, Any]]:
        """The tools as BFCL describes them, by the names that the model was shown."""
        functions = self._prompts[reply.category, reply.number]["functions"] or ()
        if not reply.underscores:
            return list(functions)
        return [{**one, "name": one["name"].replace(".", "_")} for one in functions]

    def tools(self, reply: Reply) -> Tools | None:
        """The tools of the prompt; None if the reply is labelled and had none."""
        key = (reply.category, reply.number, reply.underscores)
        if key not in self._tools:
            functions = self.functions(reply)
            self._tools[key] = None if reply.labelled and not functions else to_tools(functions)
        return self._tools[key]

    def names(self, reply: Reply) -> list[str]:
        """The names of the tools; where there are none, those that the label calls."""
        tools = self.tools(reply)
        return [call.name for call in reply.theirs or ()] if tools is None else list(tools)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            yield from map(json.loads, file)
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: {error}; wanted JSON lines, packed by gzip")


def _reply(row: Mapping[str, Any]) -> Reply:
    theirs = row["bfcl"]
    return Reply(
        row["model"],
        row["category"],
        row["index"],
        row["text"],
        row["dots_as_underscores"],
        None if theirs is None else tuple(Read(*item) for one in theirs for item in one.items()),
        bool(row["bfcl_passed"]),
    )


def _labelled(row: Mapping[str, Any], number: int) -> Reply:
    wanted = tuple(Read(*one) for one in row["want"])
    return Reply(row["model"], row["kind"], number, row["text"], False, wanted, True, True)


# --- whether two readings say the same -----------------------------------------------------------


def same(ours: Any, theirs: Any) -> bool:
    """JSON equality: tuples are lists, 1 is 1.0, True is not 1."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in ours)
    if isinstance(theirs, list | tuple) and isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return isinstance(ours, bool) == isinstance(theirs, bool) and bool(ours == theirs)


def same_but_for_types(ours: Any, theirs: Any) -> bool:
    """Whether one value is the text of the other: "5" and 5, "true" and True, "[1, 2]" and a list.

    A schema that asks for another type explains such a difference, and so does BFCL's reading of
    Java and JavaScript, which keeps the text of each value.
    """
    if same(ours, theirs):
        return True
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = ours.keys() == theirs.keys()
        return keys and all(same_but_for_types(ours[key], theirs[key]) for key in ours)
    if isinstance(theirs, list | tuple) and isinstance(ours, list | tuple):
        return len(ours) == len(theirs) and all(map(same_but_for_types, ours, theirs))
    if isinstance(ours, str) == isinstance(theirs, str):
        return False
    return same(value_of(ours), value_of(theirs))


def value_of(value: Any) -> Any:
    """The value that a string is the literal of, in JSON or Python; else the value itself."""
    if not isinstance(value, str):
        return value
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return {"true": True, "false": False, "none": None, "null": None}.get(value.lower(), value)


# --- what a text shows of itself -----------------------------------------------------------------


def is_evaluated(reply: Reply) -> bool:
    """Whether a value that BFCL read is not written in the text, so that it was evaluated.

    A string has to be between quotes and a number among the numbers. What is left are bare names,
    nested calls, arithmetic, and a few strings that were put together of several.
    """
    text = reply.text.replace("\\_", "_")
    numbers = {float(found.replace("_", "")) for found in _NUMBER.findall(text)}
    other = reply.category in OTHER_LANGUAGES
    return not all(
        _is_written(value, text, numbers, other)
        for call in reply.theirs or ()
        for value in call.arguments.values()
    )


def _is_written(value: Any, text: str, numbers: set[float], other: bool) -> bool:
    match value:
        case dict():
            return all(
                _is_quoted(key, text) and _is_written(inner, text, numbers, other)
                for key, inner in value.items()
            )
        case list() | tuple():
            return all(_is_written(inner, text, numbers, other) for inner in value)
        case str():
            return _is_quoted(value, text) or (other and not isinstance(value_of(value), str))
        case bool() | None:
            return True
    return abs(value) in numbers


def _is_quoted(value: object, text: str) -> bool:
    if not isinstance(value, str):
        return True
    spellings = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    spellings |= {repr(value)[1:-1], value.replace("'", "\\'"), value.replace('"', '\\"')}
    spellings |= {json.dumps(one)[1:-1] for one in spellings}
    return any(f"{quote}{one}{quote}" in text for one in spellings for quote in "'\"")


def has_lost_arguments(reply: Reply) -> bool:
    """Whether BFCL read a call without arguments where the text has some between its brackets.

    Its decoder drops arguments that have no name: `f({"city": "Oslo"})` is `f()` to it.
    """
    plain = reply.text.replace("\\", "")
    return any(
        not call.arguments and re.search(rf"{re.escape(call.name)}\s*\(\s*[^)\s]", plain)
        for call in reply.theirs or ()
    )


def names_a_tool(text: str, names: Sequence[str]) -> bool:
    """Whether a tool's name is anywhere in the text, with `_` or `.` or an escape in it."""
    plain = text.replace("\\", "").replace(".", "_")
    return any(name.replace(".", "_") in plain for name in names)


def seems_to_call(text: str, names: Sequence[str]) -> bool:
    r"""Whether a tool's name is before `(` or `{`, or is a tag around values.

    Quotes, escapes (`get\_price`, `\(`) and white space may be between.
    """
    plain = text.replace("\\", "")
    for name in names:
        known = re.escape(name)
        if re.search(rf"(?<![\w.]){known}[\s'\"`*]*[({{]", plain):
            return True
        if f"</{name}>" in plain and re.search(rf"<{known}\s*>", plain):
            return True
    return False
