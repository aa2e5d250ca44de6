"""Read YAML as JSON values; this is the only module that imports PyYAML.

What JSON cannot express is refused with its line: dates, sets, binary data, NaN, keys that are not
strings, repeated keys. So are aliases, with which a small file can expand to a huge one.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import yaml

from tunaeval.types.calls import JsonValue

_NOT_JSON = {
    "tag:yaml.org,2002:timestamp": "a date, which JSON has not; put it in quotes",
    "tag:yaml.org,2002:binary": "binary data, which JSON has not; write it as text",
    "tag:yaml.org,2002:set": "a set, which JSON has not; write a list",
    "tag:yaml.org,2002:omap": "an ordered map, which JSON has not; write a list",
    "tag:yaml.org,2002:pairs": "pairs, which JSON has not; write a list",
}


def read_yaml(text: str) -> JsonValue:
    """Return the value of a YAML text. Raises ValueError with line and column."""
    try:
        return yaml.load(text, Loader=_JsonLoader)  # noqa: S506 - a SafeLoader, with more refused
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark is not None else ""
        raise ValueError(f"{where}this YAML cannot be read: {problem}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"this is no YAML: {str(error).partition(chr(10))[0]}") from error


class _JsonLoader(yaml.SafeLoader):
    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            event = self.get_event()  # type: ignore[no-untyped-call] # the stubs leave it out
            raise _refusal(
                "an alias, which could unfold without end; write the value out", event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            name = self.construct_object(key)
            if not isinstance(name, str):
                raise _refusal(
                    f"the key {name!r}, which is no string; put it in quotes", key.start_mark
                )
            if name in seen:
                raise _refusal(f"the key {name!r} a second time; keep one", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)

    def refuse(self, node: yaml.Node) -> None:
        raise _refusal(_NOT_JSON[node.tag], node.start_mark)

    def scalar(self, node: yaml.ScalarNode) -> Any:
        """Convert a text by its tag; PyYAML raises any error for a text that does not fit."""
        kind = node.tag.rpartition(":")[2]
        try:
            return getattr(self, f"construct_yaml_{kind}")(node)
        except yaml.YAMLError:
            raise
        except Exception as error:
            raise _refusal(f"{node.value!r:.60}, which is no {kind}", node.start_mark) from error

    def finite(self, node: yaml.ScalarNode) -> float:
        number: float = self.scalar(node)
        if not math.isfinite(number):
            raise _refusal(f"{number}, which JSON has not; leave it out", node.start_mark)
        return number


for _tag in _NOT_JSON:
    _JsonLoader.add_constructor(_tag, _JsonLoader.refuse)
_JsonLoader.add_constructor("tag:yaml.org,2002:float", _JsonLoader.finite)
for _kind in ("int", "bool", "null"):
    _JsonLoader.add_constructor(f"tag:yaml.org,2002:{_kind}", _JsonLoader.scalar)


def _refusal(what: str, mark: yaml.Mark) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=f"found {what}", problem_mark=mark)
