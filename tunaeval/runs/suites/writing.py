"""Write a suite as a file that `load_suite` reads: JSON lines, beginning with a header."""

from __future__ import annotations

import json
from pathlib import Path

from tunaeval.errors import SuiteError
from tunaeval.types.calls import JsonObject
from tunaeval.types.runs import Scenario, Suite

from .loading import load_suite


def write_suite(suite: Suite, path: Path | str) -> None:
    """Write the suite into a new `.jsonl` file. Raises `SuiteError` if that is not possible.

    The file is removed if it cannot be read back: some of BFCL's expectations violate the schemas
    of their tools, which `load_suite` refuses.
    """
    path = Path(path)
    if path.suffix.lower() != ".jsonl":
        raise SuiteError(f"{path}: a suite is written as JSON lines; give it a name in .jsonl")
    rows = [_header(suite), *map(_row, suite.scenarios)]
    text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
    try:
        with path.open("x", encoding="ascii") as file:
            file.write(text)
    except OSError as error:
        raise SuiteError(f"{path}: cannot be written: {error.strerror or error}") from error
    try:
        load_suite(path)
    except SuiteError:
        path.unlink()
        raise


def _header(suite: Suite) -> JsonObject:
    """Return the header; `tools` is null if every scenario has its own."""
    return {
        "name": suite.name,
        "tools": suite.tools.as_openai() or None,
        "paths": {one.name: sorted(one.paths) for one in suite.tools.values() if one.paths},
        "system_prompt": suite.system_prompt,
        **({"profile": suite.profile} if suite.profile else {}),
        **({"abstain": [*suite.abstain]} if suite.abstain else {}),
    }


def _row(scenario: Scenario) -> JsonObject:
    row = scenario.model_dump(exclude={"tools"}, exclude_defaults=True)
    if scenario.tools is not None:
        row["tools"] = scenario.tools.as_openai()
    return row
