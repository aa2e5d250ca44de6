r"""Find and read the folders of results that `bfcl generate` writes: by model, with verdicts.

    result/MODEL/non_live/BFCL_v4_simple_python_result.json          version 4
    result/MODEL/BFCL_v3_simple_result.json                          versions 2 and 3
    result/MODEL/gorilla_openfunctions_v1_test_simple_result.json    until August 2024

A line has `id` (or `idx`, a number alone) and `result`: a text, or calls as kept by the handler of
a server that has an API for calls, `[{"get_price": "{\"item\": 1}"}]`. `bfcl evaluate` writes
`score/MODEL/...` beside it: a first line with counts, and a line for each reply that failed.
What cannot be read is reported in `faults`, and everything else is read nevertheless.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from tunaeval.errors import RecordError, SuiteError, TransportFailure
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import Reply
from tunaeval.types.messages import Usage

from .suites.bfcl import BFCL_FILE, bfcl_version, category_of
from .suites.files import Place, read_json, read_text, shown

_RESULT, _SCORE = "_result.json", "_score.json"
_GROUPS = frozenset({"non_live", "live", "multi_turn", "agentic", "memory", "format_sensitivity"})
_BACKENDS = frozenset({"kv", "vector", "rec_sum"})
"""Folders of version 4 between the folder of a model and its files."""
_ID = re.compile(r"(.*?)[_-]?(\d+(?:-\d+-\d+)?)")
_FAILED = "Error during inference"


class ResultFile(NamedTuple):
    """The results of one category; `named` is the file's name of it, `version` is BFCL's."""

    path: Path
    version: int
    named: str
    category: str


@dataclass(slots=True)
class ModelFiles:
    """The files of one model: those of categories that are judged here, and all others."""

    judged: list[ResultFile] = field(default_factory=list)
    others: dict[str, Path] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


class Line(NamedTuple):
    """One reply; `key` is its number in the category: "12", or "3-2-0" in a live one."""

    place: Place
    key: str
    reply: Reply | TransportFailure
    text: str
    """The whole result as text, to search it for names of tools."""


def result_files(path: Path) -> dict[Path, ModelFiles]:
    """Return the files below `path` by the folder of their model.

    `path` may be the folder of all models, of one, or a project. Raises `RecordError` if empty.
    """
    found: dict[Path, ModelFiles] = {}
    for file in sorted(path.rglob(f"*{_RESULT}")):
        model = found.setdefault(_model_folder(file), ModelFiles())
        match = BFCL_FILE.fullmatch(file.name.removesuffix(_RESULT) + ".json")
        if match is None:
            model.faults.append(
                f"{file}: is no file of BFCL's by its name; wanted BFCL_v4_CATEGORY{_RESULT} or "
                f"gorilla_openfunctions_v1_test_CATEGORY{_RESULT}"
            )
        elif (category := category_of(match[2])) is None:
            model.others[match[2]] = file
        else:
            model.judged.append(ResultFile(file, bfcl_version(match), match[2], category))
    if not any(model.judged or model.others for model in found.values()):
        raise RecordError(
            f"{path}: there are no results of BFCL below this path; give the folder that bfcl "
            f"generate wrote, with MODEL/.../BFCL_v4_CATEGORY{_RESULT} in it, or that of a model"
        )
    return found


def _model_folder(file: Path) -> Path:
    folder = file.resolve().parent  # "." has no name
    while folder.name in _GROUPS or (folder.name in _BACKENDS and folder.parent.name == "memory"):
        folder = folder.parent
    return folder


def read_lines(file: ResultFile, faults: list[str]) -> Iterator[Line]:
    """Yield the replies in the order of the file; of a repeated id, only the first."""
    seen: dict[str, str] = {}
    for place, row in _rows(file.path, faults):
        key = _key(row, file)
        if key is None:
            found = shown(row.get("id", row.get("idx")))
            faults.append(f"{place}: found the id {found}, wanted one of the category {file.named}")
        elif key in seen:
            faults.append(f"{place}: the id is taken by {seen[key]}; that one counts")
        else:
            seen[key] = place.row
            reply = _reply(row)
            if reply is None:
                wanted = "wanted a text, or a list of calls as {name: arguments}"
                faults.append(f"{place}, result: found {shown(row.get('result'))}; {wanted}")
            else:
                yield Line(place, key, reply, json.dumps(row["result"], ensure_ascii=False))


def _rows(path: Path, faults: list[str]) -> Iterator[tuple[Place, JsonObject]]:
    """Yield the objects in a file of JSON lines, each with its place."""
    place = Place(str(path))
    try:
        lines = read_text(path, place).split("\n")
    except SuiteError as error:
        faults.append(str(error))
        return
    for number, line in enumerate(lines, 1):
        at = replace(place, row=f"line {number}")
        try:
            row = read_json(line, at, first_line=number) if line.strip() else None
        except (SuiteError, RecursionError) as error:
            faults.append(f"{error}" if isinstance(error, SuiteError) else f"{at}: is too deep")
            continue
        if isinstance(row, dict):
            yield at, row
        elif line.strip():
            faults.append(f"{at}: found {shown(row)}, wanted an object with id and result")


def _key(row: JsonObject, file: ResultFile) -> str | None:
    """Return the number within the category, or None if the id belongs to another category."""
    named = row.get("id", row.get("idx"))
    if isinstance(named, int) and not isinstance(named, bool):
        return str(named)
    match = _ID.fullmatch(named) if isinstance(named, str) else None
    if match is None:
        return None
    # Ids in a file from before versions may have the newer category name, with "-" for "_".
    category = category_of(match[1].replace("-", "_")) if match[1] else file.category
    return match[2] if category == file.category else None


def key_of(scenario: str) -> str:
    """Return the number of a scenario in its category, given its id."""
    match = _ID.fullmatch(scenario)
    return match[2] if match else scenario


def _reply(row: JsonObject) -> Reply | TransportFailure | None:
    result = row.get("result")
    if isinstance(result, str):
        if result.startswith(_FAILED):
            return TransportFailure(result, kind="body")
        return _with_usage({"role": "assistant", "content": result}, row)
    if not isinstance(result, list):
        return None
    calls = [_call(one) for one in result]
    known = [one for one in calls if one is not None]
    if len(known) < len(calls):
        return None
    return _with_usage({"role": "assistant", "content": "", "tool_calls": known}, row)


def _call(one: JsonValue) -> JsonObject | None:
    """Return a call in OpenAI's shape, from {name: arguments} or from Cohere's shape."""
    if not isinstance(one, dict):
        return None
    name = one.get("tool_name", one.get("name"))
    if isinstance(name, str) and len(one) > 1:
        arguments = one.get("parameters", one.get("arguments"))
    elif len(one) == 1:
        ((name, arguments),) = one.items()
    else:
        return None
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"type": "function", "function": {"name": name, "arguments": text}}


def _with_usage(message: JsonObject, row: JsonObject) -> Reply:
    counts = (row.get("input_token_count"), row.get("output_token_count"))
    prompt, completion = (one if type(one) is int else None for one in counts)
    seconds = row.get("latency")
    known = isinstance(seconds, int | float) and seconds >= 0
    return Reply(
        message, usage=Usage(prompt, completion), latency_seconds=seconds if known else None
    )


# --- BFCL's own verdicts -------------------------------------------------------------------------


def own_verdicts(
    folder: Path, file: ResultFile, keys: list[str], faults: list[str]
) -> dict[str, bool]:
    """Return whether each reply passed in `bfcl evaluate`, or an empty dict if it was not run."""
    path = _score_file(folder, file)
    if path is None:
        return {}
    rows = [row for _, row in _rows(path, faults)]
    total = rows[0].get("total_count") if rows else None
    if total != len(keys):
        faults.append(
            f"{path}, line 1: it counts {shown(total)} replies, {file.path} has {len(keys)}; "
            "run bfcl evaluate again"
        )
        return {}
    failed = {_failed_key(row, keys) for row in rows[1:]}
    return {key: key not in failed for key in keys}


def _failed_key(row: JsonObject, keys: list[str]) -> str | None:
    """Return the key of a failed reply; until August 2024 its id was a line number, from 1."""
    named = row.get("id")
    if isinstance(named, int):
        return keys[named - 1] if 0 < named <= len(keys) else None
    return key_of(str(named))


def _score_file(folder: Path, file: ResultFile) -> Path | None:
    """Find the score file: in `score/MODEL`, a sibling of `result/MODEL`, or beside the results."""
    prefix, _, _ = file.path.name.partition(file.named)
    names = {f"{prefix}{file.named}{_SCORE}", f"{file.named}{_SCORE}"}
    for place in (folder.parent.parent / "score" / folder.name, folder):
        for found in sorted(place.rglob(f"*{_SCORE}")):
            if found.name in names:
                return found
    return None
