"""The tools of a run, kept beside its results so that replies can be read without the suite.

{"scenario": null, "tools": [...]}      the suite's tools {"scenario": "id", "tools": [...]}
the tools of a scenario that has its own
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tunaeval.errors import RecordError, ToolsError
from tunaeval.files.keys import of_environment, without
from tunaeval.files.records import RecordWriter, read
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import JsonObject, JsonValue, Tools, ToolSpec
from tunaeval.types.runs import Suite

TOOLS_FILE = "tools.jsonl"


@dataclass(frozen=True, slots=True)
class RunTools:
    """The tools of a run: the suite's, and by id those of scenarios that have their own."""

    tools: Tools
    own: dict[str, Tools] = field(default_factory=dict)

    def of(self, scenario: str) -> Tools:
        return self.own.get(scenario, self.tools)


def tools_of(suite: Suite) -> RunTools:
    own = {one.id: one.tools for one in suite.scenarios if one.tools is not None}
    return RunTools(suite.tools, own)


def keep_tools(directory: Path, suite: Suite | RunTools) -> None:
    """Write the tools into a run's directory."""
    kept, secrets = tools_of(suite) if isinstance(suite, Suite) else suite, of_environment()
    with RecordWriter(directory / TOOLS_FILE) as file:
        for scenario, tools in ((None, kept.tools), *kept.own.items()):
            row = {"scenario": scenario, "tools": [_written(one) for one in tools.values()]}
            file.append(without(row, secrets))


def kept_tools(directory: Path) -> RunTools | None:
    """Return the tools kept in a run's directory, or None. Raises `RecordError`."""
    path = directory / TOOLS_FILE
    if not path.exists():
        return None
    found: dict[str | None, Tools] = {}
    for number, record in enumerate(read(path), 1):
        try:
            found[record["scenario"]] = to_tools([_read(one) for one in record["tools"]])
        except (KeyError, TypeError, ToolsError) as error:
            raise RecordError(f"{path}, record {number}: these are no tools: {error!r}") from error
    own = {scenario: tools for scenario, tools in found.items() if scenario is not None}
    return RunTools(found.get(None, Tools()), own)


def _written(spec: ToolSpec) -> JsonObject:
    """Return all fields of a tool; OpenAI's format has no place for `paths`."""
    return {
        "name": spec.name,
        "description": spec.description,
        "parameters": dict(spec.parameters),
        "paths": sorted(spec.paths),
    }


def _read(written: JsonValue) -> ToolSpec:
    name, description = written["name"], written["description"]
    return ToolSpec(name, description, written["parameters"], frozenset(written["paths"]))
