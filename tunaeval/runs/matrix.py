"""A matrix: one suite asked of several models with several system prompts, in one directory.

    NAME/matrix.json        what the cells are, and the options that they were begun with
    NAME/cells/01, 02, ...  each a run, as `tunaeval run` keeps it

The cells run side by side within one limit of requests in flight. A cell whose server cannot be
reached ends alone; `resume` goes on with every cell that is not finished.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from tunaeval.errors import ClientSetupError, RecordError, UsageError
from tunaeval.files.kept_replies import checked
from tunaeval.files.keys import of_environment, without
from tunaeval.files.plain_files import is_absent, is_there, make_directory
from tunaeval.files.records import replace_document, write_document
from tunaeval.reports.json import summary_object
from tunaeval.reports.progress import MOST_BARS, Live
from tunaeval.reports.ranking import MAX_ERRORS, CellName, Ranking, rank, ranking_object
from tunaeval.showing import counted, shows
from tunaeval.types.calls import JsonObject
from tunaeval.types.error_budget import ErrorBudget
from tunaeval.types.messages import Prices
from tunaeval.types.roles import Client, Parser
from tunaeval.types.runs import Report, ScenarioResult, Suite, rows_of
from tunaeval.types.tables import Tabled
from tunaeval.types.wanted import wanted_path

from .budget import Budget, FirstFailureError
from .directory import MATRIX_FILE, RUN_FILE, found_run, load_report, no_run, versioned
from .driving import Environment
from .options import RunOptions, born
from .prompts import Asking
from .runner import SuiteRun

OnCellResult = Callable[[ScenarioResult, CellName], None]

CELLS = "cells"
MATRIX_VERSION = 1


class CellInfo(BaseModel):
    """A cell of a matrix, as kept in `matrix.json`: a model with a system prompt."""

    model_config = ConfigDict(extra="allow", frozen=True)

    cell: str = Field(pattern=r"^[0-9]{2,}$")
    """Its number, which names its directory: nothing that could lead out of the matrix."""
    model: str
    system_prompt: str | None = None
    base_url: str | None = None
    prices: Prices = (None, None)
    error: str | None = None
    """Why the cell could not be asked when the matrix last ran."""

    @property
    def name(self) -> CellName:
        return CellName(self.cell, self.model, self.system_prompt)


class MatrixInfo(BaseModel):
    """The content of `matrix.json`."""

    model_config = ConfigDict(extra="allow", frozen=True)

    schema_version: int = MATRIX_VERSION
    name: str
    started_at: str
    suite: str
    cells: tuple[CellInfo, ...]
    options: dict[str, Any] = Field(default_factory=dict)
    """The options of `tunaeval run`, stored so that `--resume` needs none."""
    max_errors: str = str(MAX_ERRORS)
    """How many results of a cell that is ranked may lack an answer, such as "3" or "5%"."""


@shows
@dataclass(frozen=True, slots=True, repr=False)
class Matrix(Tabled):
    """The reports of all cells in the order in which they were named, and their ranking.

    `directory` is where the matrix is kept, None for nowhere. The report of a cell that could not
    be asked has no results.

    Examples:
        >>> from tunaeval import ScriptedClient
        >>> clients = [ScriptedClient(["No."] * 12) for _ in range(2)]
        >>> matrix = tunaeval.run_matrix("smoke", models=clients, out=None, attempts=1)
        >>> [name.words for name in matrix.names], [report.passed for report in matrix.cells]
        (['scripted', 'scripted (2)'], [2, 2])
    """

    cells: tuple[Report, ...]
    ranking: Ranking
    directory: str | None
    names: tuple[CellName, ...]

    def rows(self) -> list[JsonObject]:
        """Return the rows of all reports, each with its `cell` and the name of its `system_prompt`,
        None for the suite's own.
        """
        sources = [
            {"cell": name.cell, "system_prompt": name.system_prompt}
            for name, report in zip(self.names, self.cells, strict=True)
            for _ in range(len(report.results))
        ]
        return [own | row for own, row in zip(sources, rows_of(self.cells), strict=True)]

    def _in_short(self) -> str:
        ranked = self.ranking._in_short()  # noqa: SLF001 - the same words
        return f"Matrix of {counted(len(self.cells), 'cell')}: {ranked}"

    _HEADS = Ranking._HEADS  # noqa: SLF001 - the same table

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        return self.ranking._in_rows()  # noqa: SLF001 - the same table


def matrix_object(matrix: Matrix) -> JsonObject:
    """Return a matrix as a JSON object, without the results of its cells."""
    pairs = zip(matrix.names, matrix.cells, strict=True)
    cells = [{**asdict(name), **summary_object(report)} for name, report in pairs]
    ranking = ranking_object(matrix.ranking)
    return {"cells": cells, "ranking": ranking, "directory": matrix.directory}


@dataclass(slots=True)
class Cell:
    """One cell of a matrix before it runs: its model's name, and all that its run needs.

    The caller closes the client. `options_kept` is what the cell's `run.json` has as its options.
    """

    model: str
    suite: Suite
    client: Client
    parser: Parser
    options: RunOptions
    system_prompt: str | None = None
    base_url: str | None = None
    prices: Prices = (None, None)
    asking: Asking | None = None
    options_kept: Mapping[str, Any] = field(default_factory=dict)


class MatrixRun:
    """One run of a matrix: await `run()` once, and call `matrix()` at any time.

    `in_flight` is the number of scenarios of all cells together that are asked at once. `resume` is
    the directory of a matrix that is continued. `on_result` is called with each result and the name
    of its cell. `budget` is that of all cells together. A cell of which more results got no answer
    than `max_errors` allows is not ranked: by default 5 %, or what a continued matrix has. All
    cells have the `environment`.

    Raises UsageError for no cells or for two of one name, RecordError for a directory that cannot
    be continued.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        *,
        out: Path | str | None = None,
        resume: Path | str | None = None,
        in_flight: int = 8,
        options: Mapping[str, Any] | None = None,
        on_result: OnCellResult | None = None,
        retry_failures: bool = False,
        take_over: bool = False,
        budget: Budget | None = None,
        max_errors: ErrorBudget | str | int | None = None,
        environment: Environment | None = None,
    ) -> None:
        _refuse_doubles(cells)
        self.info = _info_of(cells, dict(options or {}))
        self.directory = None if out is None else wanted_path(out, "out") / self.info.name
        self._written: MatrixInfo | None = None
        if resume is not None:
            self.directory = wanted_path(resume, "resume")
            self._written = _continued(self.directory, self.info)
            again = (cell.model_copy(update={"error": None}) for cell in self._written.cells)
            self.info = self._written.model_copy(update={"cells": tuple(again)})
        if max_errors is not None:
            most = str(ErrorBudget.read(max_errors))
            self.info = self.info.model_copy(update={"max_errors": most})
        turns = asyncio.Semaphore(in_flight)
        self.runs: list[SuiteRun] = []
        for info, cell in zip(self.info.cells, cells, strict=True):
            place = None if self.directory is None else self.directory / CELLS / info.cell
            is_begun = place is not None and not is_absent(place / RUN_FILE)
            run = SuiteRun(
                cell.suite,
                cell.client,
                cell.parser,
                cell.options,
                directory=None if is_begun else place,
                run_id=f"{self.info.name}-{info.cell}",
                resume=place if is_begun else None,
                retry_failures=retry_failures and is_begun,
                take_over=take_over,
                asking=cell.asking,
                on_result=None if on_result is None else partial(_in_cell, on_result, info.name),
                turns=turns,
                budget=budget,
                prices=cell.prices,
                environment=environment,
            )
            run.info = run.info.model_copy(update={"options": dict(cell.options_kept)})
            self.runs.append(run)

    async def run(self) -> Matrix:
        """Run all cells and return the matrix. Raises what `SuiteRun.run` raises, except
        ClientSetupError, which ends a cell alone.
        """
        self._write()
        try:
            async with asyncio.TaskGroup() as group:
                for number, run in enumerate(self.runs):
                    group.create_task(self._run_cell(number, run))
        except BaseExceptionGroup as failures:
            first = failures.exceptions[0]
            if not isinstance(first, FirstFailureError):
                raise first from first.__cause__
        finally:
            self._write()
        return self.matrix()

    async def _run_cell(self, number: int, run: SuiteRun) -> None:
        try:
            report = await run.run()
            if report.run.budget_reached == "first_failure":
                raise FirstFailureError
        except ClientSetupError as error:
            cells = [*self.info.cells]
            cells[number] = cells[number].model_copy(update={"error": str(error)})
            self.info = self.info.model_copy(update={"cells": tuple(cells)})

    def _write(self) -> None:
        """Write `matrix.json`, if it has changed, and create the directory."""
        if self.directory is None or self.info == self._written:
            return
        try:
            make_directory(self.directory / CELLS)
        except OSError as error:
            raise RecordError(
                f"cannot make the directory {str(self.directory)!r}: {error.strerror or error}; "
                "choose a place that can be written to, or keep nothing"
            ) from error
        document = without(self.info.model_dump(mode="json"), of_environment())
        write = write_document if self._written is None else replace_document
        write(self.directory / MATRIX_FILE, document)
        self._written = self.info

    def matrix(self) -> Matrix:
        """Return the reports of what has been finished so far, and their ranking."""
        reports = {
            cell.cell: run.report() for cell, run in zip(self.info.cells, self.runs, strict=True)
        }
        return _matrix(self.info, reports, self.directory)

    @property
    def left(self) -> int:
        """The number of results still to come, of all cells together."""
        return sum(run.left for run in self.runs)

    def shown(self, live: Live) -> AbstractContextManager[None]:
        """Return what shows the progress of each cell, below the names of the first."""
        names = [cell.name for cell in self.info.cells]
        words = [name.words for name in names[:MOST_BARS]]
        words += [f"and {len(names) - MOST_BARS} more"] if len(names) > MOST_BARS else []
        planned: dict[CellName | None, tuple[int, int]] = {
            name: run.planned for name, run in zip(names, self.runs, strict=True)
        }
        return live.progress(planned, heading=f"{counted(len(names), 'cell')}: {'; '.join(words)}")

    @property
    def in_flight(self) -> int:
        return sum(run.in_flight for run in self.runs)


def _in_cell(on_result: OnCellResult, cell: CellName, result: ScenarioResult) -> None:
    on_result(result, cell)


def _info_of(cells: Sequence[Cell], options: dict[str, Any]) -> MatrixInfo:
    birth = born(f"{cells[0].suite.name}-matrix")
    infos = tuple(
        CellInfo(
            cell=f"{number:02}",
            model=cell.model,
            system_prompt=cell.system_prompt,
            base_url=(cell.base_url or "").partition("?")[0] or None,  # a query may be a key
            prices=cell.prices,
        )
        for number, cell in enumerate(cells, start=1)
    )
    name, at, suite = birth["run_id"], birth["started_at"], cells[0].suite.name
    return MatrixInfo(name=name, started_at=at, suite=suite, cells=infos, options=options)


def _refuse_doubles(cells: Sequence[Cell]) -> None:
    if not cells:
        raise UsageError("a matrix of no cells has nothing to ask; name one or more models")
    seen = set()
    for cell in cells:
        name = (cell.model, cell.system_prompt, cell.base_url)
        if name in seen:
            words = CellName("", cell.model, cell.system_prompt).words
            raise UsageError(f"the cell {words!r} is named twice; name it once, or use repeats")
        seen.add(name)


def _continued(directory: Path, new: MatrixInfo) -> MatrixInfo:
    """Return the kept info of a matrix. Raises RecordError if its cells are not those of `new`."""
    old = read_matrix(directory)
    was, now = ([cell.name for cell in info.cells] for info in (old, new))
    if was != now:
        kept, asked = ("; ".join(name.words for name in names) for names in (was, now))
        raise RecordError(
            f"{directory} has the cells {kept}; asked for are {asked}; name the same, or begin "
            "another matrix"
        )
    return old


def read_matrix(directory: Path) -> MatrixInfo:
    """Read the `matrix.json` of a directory. Raises RecordError if it is missing or invalid."""
    path = directory / MATRIX_FILE
    if is_absent(path):
        if not is_there(directory):
            raise RecordError(no_run(directory))
        raise RecordError(f"{directory} is no matrix: there is no {MATRIX_FILE} in it")
    try:
        where, advice = f"{path}: this is no matrix of tunaeval", "wanted what a matrix run wrote"
        info = checked(MatrixInfo, versioned(path, MATRIX_VERSION), where, advice)
        ErrorBudget.read(info.max_errors)
    except UsageError as error:
        raise RecordError(f"{where}: {error}") from None
    for number, cell in enumerate(info.cells):
        if cell.cell in {one.cell for one in info.cells[:number]}:
            raise RecordError(
                f"{path}: this is no matrix of tunaeval: two cells are called {cell.cell!r}; "
                "wanted a number for each"
            )
    return info


def is_matrix(directory: Path | str) -> bool:
    """Whether a directory has a matrix."""
    return is_there(Path(directory) / MATRIX_FILE)


def load_matrix(directory: Path | str) -> Matrix:
    """Return a kept matrix, complete or interrupted; its remarks name cells that never began.

        matrix = tunaeval.load_matrix("runs/everyday-matrix-20261126-101500-4f2a")

    Raises RecordError where the directory has no `matrix.json`, or one that cannot be read.

    Examples:
        >>> tunaeval.load_matrix(".")
        Traceback (most recent call last):
        tunaeval.errors.RecordError: . is no matrix: there is no matrix.json in it
    """
    return loaded_matrix(found_run(directory))


def loaded_matrix(path: Path, *, is_running: bool = False) -> Matrix:
    """Return the matrix in a directory; while it runs, no cell of it counts as interrupted."""
    info = read_matrix(path)
    reports = {
        cell.cell: load_report(path / CELLS / cell.cell)
        for cell in info.cells
        if not is_absent(path / CELLS / cell.cell / RUN_FILE)
    }
    if is_running:
        goes_on = {"interrupted": False}
        reports = {cell: one.model_copy(update=goes_on) for cell, one in reports.items()}
    return _matrix(info, reports, path)


def _matrix(info: MatrixInfo, reports: Mapping[str, Report], directory: Path | None) -> Matrix:
    there = [cell for cell in info.cells if cell.cell in reports]
    names = tuple(cell.name for cell in there)
    place = None if directory is None else str(directory)
    ranking = rank(
        tuple(reports.values()),
        names,
        prices=[cell.prices for cell in there],
        errors=[cell.error for cell in there],
        missing=[cell.name for cell in info.cells if cell not in there],
        directory=place,
        max_errors=ErrorBudget.read(info.max_errors),
    )
    return Matrix(tuple(reports.values()), ranking, place, names)
