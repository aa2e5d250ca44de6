"""Cells of a matrix that answered nothing or little: what is shown, kept, and how it exits."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tests.cli.test_matrix import COUNT, Models, matrix_of, models, numbers
from tests.faults import Answer, FaultServer, Seen, completion
from tests.reports.test_narrow_terminals import table_in
from tunaeval.errors import ClientSetupError, RecordError, TransportFailure, UsageError
from tunaeval.types import Reply, Request

__all__ = ["models", "numbers"]

REFUSED = Answer(b'{"error": {"message": "no"}}', 400, {"content-type": "application/json"})


@pytest.fixture
def dead() -> Iterator[str]:
    """The address of a server that nobody runs: the port is taken, and nothing listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def matrix(here: Tuna, suite: str, *urls: str, more: tuple[str, ...] = ()) -> Any:
    """Run a matrix with a model at each address: "m1", "m2" and so on."""
    named = [each for number in range(len(urls)) for each in ("--model", f"m{number + 1}")]
    asked = [each for url in urls for each in ("--base-url", url)]
    return here("run", "--suite", suite, *named, *asked, *more)


class Lossy:
    """A model that passes all, but to some scenarios the request fails."""

    def __init__(self, name: str, lost: set[str]) -> None:
        self.name, self._lost = name, lost

    async def complete(self, request: Request) -> Reply:
        if request.scenario in self._lost:
            raise TransportFailure("status 500: out of memory", kind="status 500")
        number = request.scenario.removeprefix("n")
        call = f'{{"name": "add", "arguments": {{"x": {number}}}}}'
        return Reply({"role": "assistant", "content": f"<tool_call>{call}</tool_call>"})

    async def close(self) -> None: ...


def lossy(name: str, lost: int) -> Lossy:
    return Lossy(name, {f"n{number}" for number in range(lost)})


# --- a dead and a sound server -------------------------------------------------------------------


def test_a_dead_cell_is_below_a_sound_one_on_every_page(
    here: Tuna, models: Models, numbers: str, dead: str, tmp_path: Path
) -> None:
    done = matrix(here, numbers, dead, models.url, more=("--report", "r.html", "--report", "r.csv"))
    assert done.returncode == 2, "as the worst cell decides if any is ranked"
    words = f"not ranked: 0 of {COUNT} answered"
    heads, sound, gone = (re.split(r" {2,}", line) for line in table_in(done.stdout))
    assert heads[:7] == ["cell", "score", "passed", "of", "ties", "interval", "no answer"]
    assert sound == ["02 m2", "100.0 %", "24", "24", "a", "86.2 to 100.0", "0", *sound[7:]]
    assert gone[:5] == ["01 m1", words, "0", "24", "24"]
    table = [*csv.DictReader((tmp_path / "r.csv").read_text().splitlines())]
    names = ("cell", "score", "passed", "of", "ties", "no answer")
    assert [[row[name] for name in names] for row in table] == [
        ["02", "100.0 %", "24", "24", "a", "0"],
        ["01", words, "0", "24", "", "24"],
    ]
    page = (tmp_path / "r.html").read_text()
    assert f'<td class="value" title="{words}">not ranked</td>' in page
    (head,) = re.findall(r'<table class="ranked">\s*<thead>.*?</thead>', page, re.DOTALL)
    heads = re.findall(r"<th[^>]*>([^<]*)</th>", head)
    assert heads[:5] == ["cell", "score", "passed", "of", "ties"]
    assert f'<span class="quiet">0 of {COUNT} answered</span>' in page, "by tool"


def test_a_kept_matrix_says_the_same_as_its_run(
    here: Tuna, models: Models, numbers: str, dead: str
) -> None:
    done = matrix(here, numbers, models.url, dead, more=("--concurrency", "3"))
    said, _, kept = done.stdout.rpartition("kept in ")
    assert here("show", kept.strip()).stdout == said
    found = json.loads(here("show", kept.strip(), "--json").stdout)["ranking"]
    assert [one["not_ranked"] for one in found["cells"]] == [
        None,
        f"not ranked: 0 of {COUNT} answered",
    ]
    again = json.loads(here("run", "--resume", kept.strip(), "--json").stdout)["ranking"]
    assert again == found


def test_if_nothing_answers_no_cell_is_ranked_and_the_exit_code_is_3(
    here: Tuna, numbers: str, dead: str
) -> None:
    done = matrix(here, numbers, dead, f"{dead}/v2")
    assert done.returncode == 3
    assert "tunaeval: no cell is ranked\n" in done.stderr
    assert "no cell is ranked: none has enough answers (--max-errors 5%)" in done.stdout
    assert here("show", "runs").returncode == 0
    alone = here("run", "--suite", numbers, "--base-url", dead, "--model", "m", "--out", "alone")
    assert alone.returncode == 2, "a run alone ends as before"


def lossy_server(*answered: str) -> FaultServer:
    """A server that refuses the model "m1" all questions that do not end with one of these."""

    def answer(seen: Seen) -> Answer:
        asked = seen.json["messages"][-1]["content"]
        if seen.json["model"] == "m1" and not asked.endswith(answered):
            return REFUSED
        call = {"name": "add", "arguments": json.dumps({"x": int(re.sub(r"\D", "", asked))})}
        called = [{"id": "c", "type": "function", "function": call}]
        return completion({"role": "assistant", "content": None, "tool_calls": called})

    return FaultServer(choose=answer)


def test_a_cell_that_hardly_answers_is_not_first(here: Tuna, numbers: str) -> None:
    with lossy_server(" 0.") as server:
        done = matrix(here, numbers, *[server.base_url] * 2, more=("--concurrency", "1", "--json"))
    assert done.returncode == 0, done.stderr
    first, last = json.loads(done.stdout)["ranking"]["cells"]
    assert (first["model"], first["passed"], first["of"]) == ("m2", COUNT, COUNT)
    assert last["not_ranked"] == f"not ranked: 1 of {COUNT} answered"
    assert (last["passed"], last["no_answer"], last["score"]["value"]) == (1, COUNT - 1, None)


# --- the budget of errors ------------------------------------------------------------------------


@pytest.mark.usefixtures("here")
def test_the_budget_is_kept_with_the_matrix(numbers: str, tmp_path: Path) -> None:
    cells = [lossy("whole", 0), lossy("half", COUNT // 2)]
    for most, ranked in ((None, 1), ("50%", 2), (COUNT // 2, 2), (COUNT // 2 - 1, 1)):
        found = tunaeval.run_matrix(
            numbers, models=cells, out=tmp_path / "runs", max_errors=most, ask="prompt"
        )
        again = tunaeval.load_matrix(found.directory or "")
        assert sum(one.not_ranked is None for one in found.ranking.cells) == ranked
        assert again.ranking == found.ranking
        document = json.loads((Path(found.directory or "") / "matrix.json").read_text())
        assert document["max_errors"] == str(most or "5%")


def test_a_matrix_that_goes_on_keeps_its_budget_unless_another_is_given(
    here: Tuna, models: Models, numbers: str, dead: str, tmp_path: Path
) -> None:
    matrix(here, numbers, models.url, dead, more=("--max-errors", "100%"))
    info = matrix_of(tmp_path) / "matrix.json"
    assert json.loads(info.read_text())["max_errors"] == "100%"
    here("run", "--resume", str(info.parent))
    assert json.loads(info.read_text())["max_errors"] == "100%"
    here("run", "--resume", str(info.parent), "--max-errors", "7")
    assert json.loads(info.read_text())["max_errors"] == "7"


def test_the_gate_of_a_matrix_allows_no_failure_by_default(here: Tuna, numbers: str) -> None:
    """5 % are for the ranking alone."""
    gate = ("--concurrency", "1", "--fail-under", "50", "--json")
    all_but_23 = (*(f"{digit}." for digit in "012456789"), " 3.", "13.")
    with lossy_server(*all_but_23) as server:
        done = matrix(here, numbers, *[server.base_url] * 2, more=gate)
        allowed = matrix(here, numbers, *[server.base_url] * 2, more=(*gate, "--max-errors", "1"))
    assert (done.returncode, allowed.returncode) == (3, 0)
    assert "01 (m1): 1 of 24 results failed, more than --max-errors 0 allows" in done.stderr
    assert "no cell is ranked" not in done.stderr
    found = json.loads(done.stdout)["ranking"]["cells"]
    assert [(one["not_ranked"], one["of"]) for one in found] == [(None, COUNT - 1)] * 2


@pytest.mark.parametrize("most", ["many", "101%", -1, 1.5, True, [], 10**5000], ids=type)
def test_what_is_no_budget_is_refused(most: Any) -> None:
    with pytest.raises(UsageError, match="wanted the most failures that are allowed"):
        tunaeval.run_matrix("smoke", models=[lossy("m", 0)], out=None, max_errors=most)


def test_a_kept_budget_that_is_none_is_refused_with_its_place(tmp_path: Path) -> None:
    cells = [{"cell": "01", "model": "m"}]
    kept = {"schema_version": 1, "name": "m", "started_at": "", "suite": "s", "cells": cells}
    (tmp_path / "matrix.json").write_text(json.dumps({**kept, "max_errors": "many"}))
    with pytest.raises(RecordError, match=r"matrix.json: .* budget is 'many'; wanted the"):
        tunaeval.load_matrix(tmp_path)


@pytest.mark.usefixtures("here")
def test_a_matrix_of_before_is_ranked_within_five_percent(numbers: str) -> None:
    found = tunaeval.run_matrix(
        numbers, models=[lossy("m", 2), lossy("n", 0)], out="runs", ask="prompt"
    )
    info = Path(found.directory or "") / "matrix.json"
    document = json.loads(info.read_text())
    del document["max_errors"]
    info.write_text(json.dumps(document))
    assert tunaeval.load_matrix(info.parent).ranking == found.ranking


# --- what was not asked --------------------------------------------------------------------------


def test_what_a_budget_left_unasked_is_not_common(
    here: Tuna, models: Models, numbers: str, tmp_path: Path
) -> None:
    done = matrix(here, numbers, models.url, models.url,
                  more=("--max-requests", "20", "--concurrency", "2", "--json"))  # fmt: skip
    assert done.returncode == 3
    found = json.loads(done.stdout)["ranking"]
    assert [one["not_ranked"] for one in found["cells"]] == [None, None]
    assert [one["no_answer"] for one in found["cells"]] == [0, 0]
    ids = [
        {json.loads(line)["scenario"] for line in path.read_text().splitlines()}
        for path in (matrix_of(tmp_path) / "cells").glob("*/results.jsonl")
    ]
    common = len(set.intersection(*ids))
    assert [one["of"] for one in found["cells"]] == [common, common]
    assert f"the scores are over {common} of {COUNT} scenarios" in found["remarks"][0]
    shown = json.loads(here("show", "runs", "--json").stdout)["ranking"]
    assert shown == found


class Stuck(Lossy):
    """A model that never replies; `asked` is set once it was asked."""

    def __init__(self) -> None:
        super().__init__("stuck", set())
        self.asked = asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        self.asked.set()
        await asyncio.Event().wait()
        return await super().complete(request)


class Keyless(Lossy):
    """A model that cannot be asked at all."""

    async def complete(self, request: Request) -> Reply:
        raise ClientSetupError(f"no key for {request.scenario}")


@pytest.mark.usefixtures("here")
def test_a_matrix_that_is_interrupted_keeps_why_a_cell_could_not_be_asked(
    numbers: str, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"

    async def interrupted() -> None:
        stuck = Stuck()
        running = tunaeval.arun_matrix(numbers, models=[Keyless("keyless", set()), stuck], out=runs)
        task = asyncio.create_task(running)
        await stuck.asked.wait()
        while [*runs.glob("*/cells/01/run.lock")]:  # noqa: ASYNC110 - a file has no event
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(interrupted())
    keyless, stuck = tunaeval.load_matrix(runs).ranking.cells
    assert (keyless.error or "").startswith("no key for")
    assert (keyless.not_ranked, keyless.no_answer) == (f"not ranked: 0 of {COUNT} answered", COUNT)
    assert (stuck.error, stuck.no_answer) == (None, 0)
