r"""Read BFCL's result files without asking a model, and compare BFCL's own verdicts with ours.

Each reply is read by a format at all levels and judged by the profile `bfcl`, as in a run of the
suite `bfcl:CATEGORY`, with the tools of its prompt. `bfcl generate` writes folders by model:

    result/MODEL/non_live/BFCL_v4_simple_python_result.json          version 4
    result/MODEL/BFCL_v3_simple_result.json                          versions 2 and 3
    result/MODEL/gorilla_openfunctions_v1_test_simple_result.json    until August 2024

A line has `id` (or `idx`, a number alone) and `result`: a text, or calls as kept by the handler of
a server that has an API for calls, `[{"get_price": "{\"item\": 1}"}]`. In the categories of many
turns it is a list of such results for each turn, which are played again. `bfcl evaluate` writes
`score/MODEL/...` beside it: a first line with counts, and a line for each reply that failed.
What cannot be read is reported in `faults`, and everything else is read nevertheless.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeAlias

from tunaeval.errors import RecordError, SuiteError, TransportFailure
from tunaeval.files.plain_files import entries, is_directory, real
from tunaeval.grammar.format import Format
from tunaeval.parsing.api import sole_parser_for
from tunaeval.parsing.reader import abstaining_names
from tunaeval.reports.replies import Read, reading
from tunaeval.reports.summary import summarise
from tunaeval.showing import brief
from tunaeval.tasks.grades import grade, partial_of
from tunaeval.tasks.suites.bfcl import (
    BFCL_FILE,
    bfcl_directory,
    bfcl_file,
    bfcl_version,
    category_of,
    has_many_turns,
    read_bfcl,
)
from tunaeval.tasks.suites.bfcl_classes import check_installed
from tunaeval.tasks.suites.files import Place, read_json, read_text
from tunaeval.types.calls import JsonObject, JsonValue, Tools
from tunaeval.types.exchange import Reply
from tunaeval.types.messages import Usage
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.roles import Parser
from tunaeval.types.runs import (
    CheckRecord,
    CountedCalls,
    Scenario,
    ScenarioResult,
    Summary,
    Task,
    TaskRecord,
)
from tunaeval.types.tasks import Ending
from tunaeval.types.wanted import wanted_name, wanted_path
from tunaeval.workers import in_daemon

from .driving import CHECKS_SECONDS
from .episode import Trial, Turn, reread
from .options import RunOptions
from .turns import final_state, read_turn, task_result

_ENOUGH = 5
"""The number of replies from which on calls of unknown tools alone prove the prompts wrong."""


@dataclass(slots=True)
class BfclModel:
    """The results of one model.

    `results` are like those of a run, each category in the order of its file; `verdicts` has BFCL's
    own verdict by scenario id, if `bfcl evaluate` was run. `categories` counts the replies of each
    judged category, `left_out` names the others. `faults` are what could not be read or does not
    fit; `notes` are remarks.

    Examples:
        >>> model = tunaeval.BfclModel("gpt-4o")
        >>> model.name, len(model.results)
        ('gpt-4o', 0)
    """

    name: str
    results: list[ScenarioResult] = field(default_factory=list)
    verdicts: dict[str, bool] = field(default_factory=dict)
    categories: dict[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def summary(self) -> Summary:
        """The scores at each level, outcomes, formats and repairs."""
        return summarise(self.results)


def rescore_bfcl(
    path: Path | str,
    *,
    prompts: Path | str | None = None,
    format: str | Format | Parser = "auto",  # noqa: A002 - the public API's word
    level: Level = "standard",
    abstain: Collection[str] = (),
) -> Iterator[BfclModel]:
    """Read the results that `bfcl generate` wrote below `path`, one model after the other.

    `path` is the folder of all models, of one model, or the one that contains `result` and `score`;
    files of versions 2 to 4 and older are read. `prompts` is the folder of the prompts, with
    `possible_answer` in it (by default that of the installed package `bfcl-eval`). Categories that
    are not for Python are left out and listed. What cannot be read, and results of other prompts,
    are listed in `faults` without stopping. `abstain` are names whose
    calls count as no call, as in `parse`. Raises `RecordError` if there are no results,
    `SuiteError` if there are no prompts or one of them cannot be read.

    Examples:
        >>> tunaeval.rescore_bfcl("nowhere")
        Traceback (most recent call last):
        ...
        tunaeval.errors.RecordError: nowhere: there are no results of BFCL below this path; give the
        folder that bfcl generate wrote, with MODEL/.../BFCL_v4_CATEGORY_result.json in it, or that
        of a model
    """
    wanted_name(level, "level", LEVELS)
    parser = sole_parser_for(format)
    folder = None if prompts is None else wanted_path(prompts, "prompts")
    found = _result_files(wanted_path(path, "path"))
    known = _Prompts(folder)
    read = partial(reading, parser, abstain=abstaining_names(abstain))
    return (_model(model, files, known, read, level) for model, files in found.items())


class _Prompts:
    """BFCL's prompts as scenarios, by category and number, read when first needed.

    `unusable` has the reason why a prompt is left out, by category and number.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = bfcl_directory(folder)
        if not is_directory(self._folder):
            raise SuiteError(
                f"{self._folder}: is no directory; give the directory of BFCL's prompts"
            )
        self._known: dict[tuple[str, bool], dict[str, Scenario]] = {}
        self.unusable: dict[tuple[str, str], str] = {}

    def file(self, category: str) -> Path:
        if has_many_turns(category):
            check_installed()
        return bfcl_file(category, self._folder)

    def of(self, category: str, *, dots: bool) -> dict[str, Scenario]:
        if (category, dots) not in self._known:
            wrong: dict[str, str] = {}
            scenarios = read_bfcl(category, self._folder, dots=dots, unusable=wrong)
            self._known[category, dots] = {_key_of(one.id): one for one in scenarios}
            self.unusable |= {(category, _key_of(id_)): why for id_, why in wrong.items()}
        return self._known[category, dots]


def _model(
    folder: Path, files: _ModelFiles, prompts: _Prompts, read: Callable[..., Read], level: Level
) -> BfclModel:
    model = BfclModel(folder.name, faults=list(files.faults), left_out=tuple(files.others))
    lines = _lines(files, prompts, model.faults)
    dots = _has_dots(lines, prompts)
    options = RunOptions(level=level, profile="bfcl", attempts=1)

    def judged(scenario: Scenario, line: _ResultLine, calls: CountedCalls) -> ScenarioResult:
        tools = scenario.tools or Tools()
        if scenario.task is not None:
            reader = read(Tools(), calls)
            trial = Trial(scenario, tools, reader, options, unreadable="end", as_written=True)
            return _played(trial, line.reply)
        failure = line.reply if isinstance(line.reply, TransportFailure) else None
        replies = [line.reply] if isinstance(line.reply, Reply) else []
        return reread(Trial(scenario, tools, read(tools), options), replies, failure).result

    for file, each in lines.items():
        known = prompts.of(file.category, dots=dots)
        calls: CountedCalls = "structured" if any(map(_has_calls, each)) else "any"
        results = []
        for line in each:
            if line.key in known:
                results.append(judged(known[line.key], line, calls))
            elif why := prompts.unusable.get((file.category, line.key)):
                model.notes.append(f"{why}; replies to this prompt are left out")
            else:
                model.faults.append(
                    f"{line.place}: there is no prompt {line.key!r} of {file.category}; {_GIVE}"
                )
        if _prompts_differ(results):
            model.faults.append(
                f"{file.path}: the replies call no tool of their prompts, only others; {_GIVE}"
            )
        model.results.extend(results)
        model.categories[file.category] = len(results)
        verdicts = _own_verdicts(folder, file, [line.key for line in each], model.faults)
        model.verdicts |= {known[key].id: ok for key, ok in verdicts.items() if key in known}
        if len(each) < len(known):
            model.notes.append(f"{file.path}: {len(each)} of {len(known)} prompts have a reply")
    model.notes.extend(_versions(lines, prompts))
    return model


def _has_calls(line: _ResultLine) -> bool:
    """Whether a server has parsed calls in a result of many turns, so that no text has any."""
    turns = line.reply if isinstance(line.reply, tuple) else ()
    return any("tool_calls" in reply.message for turn in turns for reply in turn)


def _played(trial: Trial, replies: _Replies) -> ScenarioResult:
    """Return the result of an episode with these replies, whose calls are run to judge them."""
    task = trial.scenario.task or Task()
    if not isinstance(replies, tuple):
        failure = replies if isinstance(replies, TransportFailure) else None
        return task_result(trial, (), TaskRecord(ended="failure"), failure)
    turns: list[Turn] = []
    for number, steps in enumerate(replies):
        for step, reply in enumerate(steps):
            found, user = read_turn(reply, trial), None
            if number and not step:
                user = task.text_of_user(number) or ""
            turns.append(Turn(reply, found, found[trial.options.level].calls, user))
    state = final_state(trial, turns, "")
    try:
        checks = in_daemon(partial(grade, task.checks, state)).result(CHECKS_SECONDS)
    except TimeoutError:
        words = f"a call, or a check, took over {CHECKS_SECONDS:g} s and was left behind"
        checks = (CheckRecord(check="all", ok=None, reason=words),)
    ended: Ending = "answer" if len(replies) > len(task.users) else "steps"
    answer = state.user_turns[-1].answer if state.user_turns else ""
    partly = partial_of(checks, state)
    record = TaskRecord(ended=ended, answer=answer, checks=checks, partial=partly)
    return task_result(trial, turns, record, None)


def _lines(
    files: _ModelFiles, prompts: _Prompts, faults: list[str]
) -> dict[_ResultFile, list[_ResultLine]]:
    """Return the replies of each category that has prompts, from the file of the newest version."""
    found: dict[_ResultFile, list[_ResultLine]] = {}
    for file in sorted(files.judged, key=lambda one: -one.version):
        twin = next((one for one in found if one.category == file.category), None)
        if twin is not None:
            faults.append(f"{file.path}: is left out, {twin.path} has this category, too")
            continue
        try:
            prompts.file(file.category)
        except SuiteError as error:
            faults.append(f"{file.path}: its prompts are missing: {error}")
        else:
            found[file] = list(_read_lines(file, faults))
    return found


_GIVE = "give the prompts that the model was asked"


def _prompts_differ(results: list[ScenarioResult]) -> bool:
    """Whether all replies that seem to call something call tools that their prompts do not have."""
    unknown = 0
    for result in results:
        if result.outcome == "calls" or result.expected.none:
            return False
        diagnoses = (found for attempt in result.attempts for found in attempt.diagnoses)
        unknown += any(found.startswith("unknown-tool") for found in diagnoses)
    return unknown >= _ENOUGH


def _has_dots(lines: Mapping[_ResultFile, list[_ResultLine]], prompts: _Prompts) -> bool:
    """Whether the model saw tool names with dots, which plain prompts have and APIs forbid."""
    dotted = plain = 0
    for file, each in lines.items():
        known = prompts.of(file.category, dots=True)
        for line in each:
            scenario = known.get(line.key)
            text = line.text.replace("\\", "")
            for name in (scenario and scenario.tools) or ():
                if "." in name:
                    dotted += name in text
                    plain += name.replace(".", "_") in text
    return dotted > plain


def _versions(lines: Mapping[_ResultFile, list[_ResultLine]], prompts: _Prompts) -> Iterator[str]:
    """Yield a note for each version of results that is compared with prompts of another version."""
    pairs: dict[tuple[str, str], Path] = {}
    for file in lines:
        theirs = prompts.file(file.category)
        match = BFCL_FILE.fullmatch(theirs.name)
        version = bfcl_version(match) if match else file.version
        if version != file.version:
            pairs.setdefault((f"v{file.version}", f"v{version}"), file.path)
    for (one, other), path in pairs.items():
        yield (
            f"{path}: these are results of {one} and the prompts are of {other}; a few questions "
            f"and answers differ, so give the prompts of {one} to be exact"
        )


_RESULT, _SCORE = "_result.json", "_score.json"
_GROUPS = frozenset({"non_live", "live", "multi_turn", "agentic", "memory", "format_sensitivity"})
_BACKENDS = frozenset({"kv", "vector", "rec_sum"})
"""Folders of version 4 between the folder of a model and its files."""
_ID = re.compile(r"(.*?)[_-]?(\d+(?:-\d+-\d+)?)")
_FAILED = "Error during inference"


class _ResultFile(NamedTuple):
    """A file with the results of one category, which the file's name calls `named`."""

    path: Path
    version: int
    named: str
    category: str


@dataclass(slots=True)
class _ModelFiles:
    """The files of one model: those of categories that are judged here, and all others."""

    judged: list[_ResultFile] = field(default_factory=list)
    others: dict[str, Path] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


_Replies: TypeAlias = Reply | TransportFailure | tuple[tuple[Reply, ...], ...]
"""A reply, those of each of many turns, or the failure instead of them."""


class _ResultLine(NamedTuple):
    """One reply; `key` is its number in the category: "12", or "3-2-0" in a live one."""

    place: Place
    key: str
    reply: _Replies
    text: str
    """The whole result as text, to search it for names of tools."""


def _result_files(path: Path) -> dict[Path, _ModelFiles]:
    """Return the files below `path` by the folder of their model.

    `path` may be the folder of all models, of one, or a project. Raises `RecordError` for none.
    """
    found: dict[Path, _ModelFiles] = {}
    for file in entries(path, f"**/*{_RESULT}"):
        folder = real(file).parent  # "." has no name
        while folder.name in _GROUPS or (
            folder.name in _BACKENDS and folder.parent.name == "memory"
        ):
            folder = folder.parent
        model = found.setdefault(folder, _ModelFiles())
        match = BFCL_FILE.fullmatch(file.name.removesuffix(_RESULT) + ".json")
        if match is None:
            model.faults.append(
                f"{file}: is no file of BFCL's by its name; wanted BFCL_v4_CATEGORY{_RESULT} or "
                f"gorilla_openfunctions_v1_test_CATEGORY{_RESULT}"
            )
        elif (category := category_of(match[2])) is None:
            model.others[match[2]] = file
        else:
            model.judged.append(_ResultFile(file, bfcl_version(match), match[2], category))
    if not any(model.judged or model.others for model in found.values()):
        raise RecordError(
            f"{path}: there are no results of BFCL below this path; give the folder that bfcl "
            f"generate wrote, with MODEL/.../BFCL_v4_CATEGORY{_RESULT} in it, or that of a model"
        )
    return found


def _read_lines(file: _ResultFile, faults: list[str]) -> Iterator[_ResultLine]:
    """Yield the replies in the order of the file; of a repeated id, only the first."""
    seen: dict[str, str] = {}
    for place, row in _rows(file.path, faults):
        key = _key(row, file)
        if key is None:
            found = brief(row.get("id", row.get("idx")))
            faults.append(f"{place}: found the id {found}, wanted one of the category {file.named}")
        elif key in seen:
            faults.append(f"{place}: the id is taken by {seen[key]}; that one counts")
        else:
            seen[key] = place.row
            many = has_many_turns(file.category)
            reply = _turns(row) if many else _reply(row)
            if reply is None:
                wanted = "wanted a text, or a list of calls as {name: arguments}"
                wanted += ", in a list for each turn" if many else ""
                faults.append(f"{place}, result: found {brief(row.get('result'))}; {wanted}")
            else:
                yield _ResultLine(place, key, reply, json.dumps(row["result"], ensure_ascii=False))


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
            faults.append(f"{at}: found {brief(row)}, wanted an object with id and result")


def _key(row: JsonObject, file: _ResultFile) -> str | None:
    """Return a reply's number in the category, or None if its id belongs to another category."""
    named = row.get("id", row.get("idx"))
    if isinstance(named, int) and not isinstance(named, bool):
        return str(named)
    match = _ID.fullmatch(named) if isinstance(named, str) else None
    if match is None:
        return None
    # Ids in a file from before versions may have the newer category name, with "-" for "_".
    category = category_of(match[1].replace("-", "_")) if match[1] else file.category
    return match[2] if category == file.category else None


def _key_of(scenario: str) -> str:
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
    calls = [_openai_call(one) for one in result]
    known = [one for one in calls if one is not None]
    if len(known) < len(calls):
        return None
    return _with_usage({"role": "assistant", "content": "", "tool_calls": known}, row)


def _turns(row: JsonObject) -> _Replies | None:
    """Return the replies of each turn; a turn without any has an empty one."""
    result = row.get("result")
    if isinstance(result, str) and result.startswith(_FAILED):
        return TransportFailure(result, kind="body")
    if not isinstance(result, list) or not all(isinstance(one, list) for one in result):
        return None
    return tuple(tuple(map(_step, turn or [""])) for turn in result)


def _step(step: JsonValue) -> Reply:
    """Return a reply of a turn: a text, or calls; what BFCL cannot decode is a text, too."""
    items = [step] if isinstance(step, dict) else step
    if isinstance(items, list) and items and all(isinstance(one, dict) for one in items):
        pairs = [one if _openai_call(one) else {name: one[name]} for one in items for name in one]
        calls = [_openai_call(one) for one in pairs]
        return Reply({"role": "assistant", "content": "", "tool_calls": calls})
    text = step if isinstance(step, str) else json.dumps(step)
    return Reply({"role": "assistant", "content": "" if step == [] else text})


def _openai_call(one: JsonValue) -> JsonObject | None:
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


def _own_verdicts(
    folder: Path, file: _ResultFile, keys: list[str], faults: list[str]
) -> dict[str, bool]:
    """Return whether each reply passed in `bfcl evaluate`, or an empty dict if it was not run."""
    path = _score_file(folder, file)
    if path is None:
        return {}
    rows = [row for _, row in _rows(path, faults)]
    total = rows[0].get("total_count") if rows else None
    if total != len(keys):
        faults.append(
            f"{path}, line 1: it counts {brief(total)} replies, {file.path} has {len(keys)}; "
            "run bfcl evaluate again"
        )
        return {}
    failed = set()
    for row in rows[1:]:
        named = row.get("id")
        if not isinstance(named, int):
            failed.add(_key_of(str(named)))
        elif 0 < named <= len(keys):  # until August 2024, an id was a line number, from 1
            failed.add(keys[named - 1])
    return {key: key not in failed for key in keys}


def _score_file(folder: Path, file: _ResultFile) -> Path | None:
    """Find the score file: in `score/MODEL`, a sibling of `result/MODEL`, or beside the results."""
    prefix, _, _ = file.path.name.partition(file.named)
    names = {f"{prefix}{file.named}{_SCORE}", f"{file.named}{_SCORE}"}
    for place in (folder.parent.parent / "score" / folder.name, folder):
        for found in entries(place, f"**/*{_SCORE}"):
            if found.name in names:
                return found
    return None
