"""Read BFCL's result files without asking a model, and compare BFCL's own verdicts with ours.

Each reply is read by a format at all levels and judged by the profile `bfcl`, as in a run of the
suite `bfcl:CATEGORY`, with the tools of its prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tunaeval.errors import SuiteError, TransportFailure
from tunaeval.grammar.format import Format
from tunaeval.parsing.abstaining import abstaining_names
from tunaeval.parsing.api import sole_parser_for
from tunaeval.reports.summary import summarise
from tunaeval.types.calls import Tools
from tunaeval.types.parsing import LEVELS, Level
from tunaeval.types.roles import Parser
from tunaeval.types.runs import Scenario, ScenarioResult, Summary
from tunaeval.types.wanted import wanted_name, wanted_path

from .bfcl_results import (
    Line,
    ModelFiles,
    ResultFile,
    key_of,
    own_verdicts,
    read_lines,
    result_files,
)
from .episode import Read, Rules, reread
from .reading import reading
from .suites.bfcl import BFCL_FILE, bfcl_directory, bfcl_file, bfcl_version, read_bfcl

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
    are not for Python or have several turns are left out and listed. What cannot be read, and
    results of other prompts, are listed in `faults` without stopping. `abstain` are names whose
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
    found = result_files(wanted_path(path, "path"))
    known = _Prompts(folder)
    read = partial(reading, parser, abstain=abstaining_names(abstain))
    return (_model(model, files, known, read, level) for model, files in found.items())


class _Prompts:
    """The scenarios of each category by their number in it, read when first needed.

    `unusable` has the reason why a prompt is left out, by category and number.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = bfcl_directory(folder)
        if not self._folder.is_dir():
            raise SuiteError(f"{self._folder}: is no directory; give the one with BFCL's prompts")
        self._known: dict[tuple[str, bool], dict[str, Scenario]] = {}
        self.unusable: dict[tuple[str, str], str] = {}

    def file(self, category: str) -> Path:
        return bfcl_file(category, self._folder)

    def of(self, category: str, *, dots: bool) -> dict[str, Scenario]:
        if (category, dots) not in self._known:
            wrong: dict[str, str] = {}
            scenarios = read_bfcl(category, self._folder, dots=dots, unusable=wrong)
            self._known[category, dots] = {key_of(one.id): one for one in scenarios}
            self.unusable |= {(category, key_of(id_)): why for id_, why in wrong.items()}
        return self._known[category, dots]


def _model(
    folder: Path, files: ModelFiles, prompts: _Prompts, read: Callable[[Tools], Read], level: Level
) -> BfclModel:
    model = BfclModel(folder.name, faults=list(files.faults), left_out=tuple(files.others))
    lines = _lines(files, prompts, model.faults)
    dots = _has_dots(lines, prompts)
    judged = partial(_judged, read, Rules(level, profile="bfcl", attempts=1))
    for file, each in lines.items():
        known = prompts.of(file.category, dots=dots)
        results = []
        for line in each:
            if line.key in known:
                results.append(judged(known[line.key], line))
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
        verdicts = own_verdicts(folder, file, [line.key for line in each], model.faults)
        model.verdicts |= {known[key].id: ok for key, ok in verdicts.items() if key in known}
        if len(each) < len(known):
            model.notes.append(f"{file.path}: {len(each)} of {len(known)} prompts have a reply")
    model.notes.extend(_versions(lines, prompts))
    return model


def _lines(files: ModelFiles, prompts: _Prompts, faults: list[str]) -> dict[ResultFile, list[Line]]:
    """Return the replies of each category that has prompts; a newer version of a file wins."""
    found: dict[ResultFile, list[Line]] = {}
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
            found[file] = list(read_lines(file, faults))
    return found


_GIVE = "give the prompts that the model was asked"


def _judged(
    read: Callable[[Tools], Read], rules: Rules, scenario: Scenario, line: Line
) -> ScenarioResult:
    tools = scenario.tools or Tools()
    failure = line.reply if isinstance(line.reply, TransportFailure) else None
    replies = [] if isinstance(line.reply, TransportFailure) else [line.reply]
    return reread(scenario, replies, failure, tools=tools, read=read(tools), rules=rules).result


def _prompts_differ(results: list[ScenarioResult]) -> bool:
    """Whether all replies that seem to call something call tools that their prompts do not have."""
    unknown = 0
    for result in results:
        if result.outcome == "calls" or result.expected.none:
            return False
        diagnoses = (found for attempt in result.attempts for found in attempt.diagnoses)
        unknown += any(found.startswith("unknown-tool") for found in diagnoses)
    return unknown >= _ENOUGH


def _has_dots(lines: Mapping[ResultFile, list[Line]], prompts: _Prompts) -> bool:
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


def _versions(lines: Mapping[ResultFile, list[Line]], prompts: _Prompts) -> Iterator[str]:
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
