"""Read YAML as JSON values; this is the only module that imports PyYAML.

What JSON cannot express is refused with its line: dates, sets, binary data, NaN, keys that are not
strings, repeated keys. So are aliases, with which a small file can expand to a huge one.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

from tunaeval.types.calls import JsonValue

if TYPE_CHECKING:
    import yaml

_NOT_JSON = {
    "tag:yaml.org,2002:timestamp": "a date, which JSON has not; put it in quotes",
    "tag:yaml.org,2002:binary": "binary data, which JSON has not; write it as text",
    "tag:yaml.org,2002:set": "a set, which JSON has not; write a list",
    "tag:yaml.org,2002:omap": "an ordered map, which JSON has not; write a list",
    "tag:yaml.org,2002:pairs": "pairs, which JSON has not; write a list",
}


def read_yaml(text: str) -> JsonValue:
    """Return the value of a YAML text. Raises ValueError with line and column."""
    import yaml  # noqa: PLC0415 - 20 ms that a suite of JSON does not need

    try:
        return yaml.load(text, Loader=_json_loader())  # noqa: S506 - a SafeLoader, with more refused
    except yaml.MarkedYAMLError as error:
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise _refusal(problem, error.problem_mark or error.context_mark) from error
    except yaml.YAMLError as error:
        raise ValueError(f"this is no YAML: {str(error).partition(chr(10))[0]}") from error


@cache
def _json_loader() -> type[yaml.SafeLoader]:
    """Return the class that reads YAML as JSON values; it is made once PyYAML is imported."""
    import yaml  # noqa: PLC0415 - as above

    class JsonLoader(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
            if self.check_event(yaml.AliasEvent):
                mark = self.get_event().start_mark  # type: ignore[no-untyped-call] # the stubs leave it out
                words = "found an alias, which could unfold without end; write the value out"
                raise _refusal(words, mark)
            return super().compose_node(parent, index)

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> Any:
            _check_keys(self, node)
            return super().construct_mapping(node, deep)

    for tag in _NOT_JSON:
        JsonLoader.add_constructor(tag, _refuse_node)
    JsonLoader.add_constructor("tag:yaml.org,2002:float", _finite_number)
    for kind in ("int", "bool", "null"):
        JsonLoader.add_constructor(f"tag:yaml.org,2002:{kind}", _read_scalar)
    return JsonLoader


def _check_keys(loader: yaml.SafeLoader, node: yaml.MappingNode) -> None:
    seen: set[str] = set()
    for key, _ in node.value:
        name = loader.construct_object(key)
        if not isinstance(name, str):
            words = f"found the key {name!r}, which is no string; put it in quotes"
            raise _refusal(words, key.start_mark)
        if name in seen:
            raise _refusal(f"found the key {name!r} a second time; keep one", key.start_mark)
        seen.add(name)


def _refuse_node(_: yaml.SafeLoader, node: yaml.Node) -> NoReturn:
    raise _refusal(f"found {_NOT_JSON[node.tag]}", node.start_mark)


def _read_scalar(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Any:
    """Convert a text by its tag; PyYAML raises any error for a text that does not fit."""
    kind = node.tag.rpartition(":")[2]
    try:
        return getattr(loader, f"construct_yaml_{kind}")(node)
    except Exception as error:
        if hasattr(error, "problem_mark"):  # PyYAML's own, which says where
            raise
        words = f"found {node.value!r:.60}, which is no {kind}"
        raise _refusal(words, node.start_mark) from error


def _finite_number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    number: float = _read_scalar(loader, node)
    if not math.isfinite(number):
        raise _refusal(f"found {number}, which JSON has not; leave it out", node.start_mark)
    return number


def _refusal(problem: str, mark: yaml.Mark | None) -> ValueError:
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
    return ValueError(f"{where}this YAML cannot be read: {problem}")
