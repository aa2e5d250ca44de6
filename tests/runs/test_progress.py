"""`progress` and `on_result` of a run in Python: in a script, in a notebook, and when they fail."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tunaeval import ScriptedClient
from tunaeval.errors import UsageError
from tunaeval.reports.ranking import CellName
from tunaeval.runs.directory import load_report
from tunaeval.types.runs import Report, ScenarioResult


def silent() -> ScriptedClient:
    return ScriptedClient(["I cannot."] * 48)


def run(**more: Any) -> Report:
    return tunaeval.run("smoke", client=silent(), attempts=1, **{"out": None, **more})


@pytest.mark.parametrize("repeats", [1, 2])
def test_progress_writes_a_counted_line_for_each_result_to_stderr(
    capsys: pytest.CaptureFixture[str], repeats: int
) -> None:
    run(progress=True, repeats=repeats)
    said = capsys.readouterr()
    total = 12 * repeats
    lines = [line for line in said.err.splitlines() if re.match(r"(PASS|FAIL)  \d+/", line)]
    counts = [line.split()[1] for line in lines]
    assert counts == [f"{number}/{total}" for number in range(1, total + 1)]
    assert said.out == ""


@pytest.mark.parametrize("progress", [None, False])
def test_without_a_terminal_nothing_is_written_unless_asked_for(
    capsys: pytest.CaptureFixture[str], progress: bool | None
) -> None:
    run(progress=progress)
    assert capsys.readouterr() == ("", "")


def test_a_matrix_counts_by_cell(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[str, CellName]] = []
    prompts = {"terse": "Be brief.", "kind": "Be kind."}
    tunaeval.run_matrix(
        "smoke", models=[silent()], system_prompts=prompts, out=None, attempts=1, progress=True,
        on_result=lambda result, cell: seen.append((result.scenario, cell)),
    )  # fmt: skip
    assert len(seen) == 24
    assert {cell.cell for _, cell in seen} == {"01", "02"}
    assert {cell.words for _, cell in seen} == {"scripted, terse", "scripted, kind"}
    lines = capsys.readouterr().err.splitlines()
    for name in ("01 scripted, terse", "02 scripted, kind"):
        counts = [line.split()[1] for line in lines if f"  {name}  " in line]
        assert counts == [f"{number}/12" for number in range(1, 13)]


def test_a_run_that_goes_on_counts_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = run(out=tmp_path)
    kept = Path(report.directory or "", "results.jsonl")
    lines = kept.read_bytes().splitlines(keepends=True)
    kept.write_bytes(b"".join(lines[:9]))
    run(resume=report.directory, progress=True)
    counts = re.findall(r"^(?:PASS|FAIL)  (\S+)", capsys.readouterr().err, re.MULTILINE)
    assert counts == ["10/12", "11/12", "12/12"]


def fails(*_: object) -> None:
    raise ValueError("full")


@pytest.mark.parametrize("matrix", [False, True])
def test_a_callback_that_raises_ends_the_run_and_is_named(tmp_path: Path, matrix: bool) -> None:
    given: dict[str, Any] = {"models": [silent()]} if matrix else {"client": silent()}
    work: Any = tunaeval.run_matrix if matrix else tunaeval.run
    with pytest.raises(UsageError, match=r"on_result raised ValueError: full") as caught:
        work("smoke", out=tmp_path, on_result=fails, **given)
    assert isinstance(caught.value.__cause__, ValueError)
    (kept,) = tmp_path.iterdir()
    report = load_report(kept / "cells" / "01" if matrix else kept)
    assert report.interrupted
    assert len(report.results) >= 1, "what was finished is kept"


async def late(result: ScenarioResult) -> None:
    del result


@pytest.mark.parametrize("wrong", [{"on_result": 3}, {"on_result": late}, {"progress": "yes"}])
def test_what_is_no_callback_is_refused_before_anything_is_asked(wrong: dict[str, Any]) -> None:
    client = silent()
    with pytest.raises(UsageError, match=f"{next(iter(wrong))} is "):
        tunaeval.run("smoke", client=client, out=None, **wrong)


def test_in_another_running_loop_the_error_stays() -> None:
    async def inside() -> None:
        run()

    with pytest.raises(UsageError, match=r"one is running here already.*await tunaeval\.arun"):
        asyncio.run(inside())


NOTEBOOK = [
    """
import tunaeval
from tunaeval.errors import UsageError

class Slow:
    name = "slow"
    def __init__(self, model):
        self.model = model
    async def complete(self, request):
        import asyncio
        from tunaeval.types import Reply
        await asyncio.sleep(0.02)
        return Reply({"role": "assistant", "content": "I cannot."})
    async def close(self): ...

usual = {"out": None, "attempts": 1}
""",
    "print(tunaeval.run('smoke', client=Slow('m'), **usual).passed)",
    "print(len(tunaeval.run_matrix('smoke', models=[Slow('a'), Slow('b')], **usual).cells))",
    "print((await tunaeval.arun('smoke', client=Slow('m'), **usual)).passed)",
    "print(tunaeval.run('smoke', client=Slow('m'), progress=False, **usual).passed)",
    """
def full(result):
    raise ValueError("full")

try:
    tunaeval.run("smoke", client=Slow("m"), on_result=full, progress=False, **usual)
except UsageError as error:
    print("on_result raised ValueError: full" in str(error))
""",
]


def test_a_notebook_runs_and_has_one_display_that_is_updated() -> None:
    pytest.importorskip("ipykernel")
    nbclient = pytest.importorskip("nbclient")
    made: Any = pytest.importorskip("nbformat.v4")
    book = made.new_notebook(cells=[made.new_code_cell(source) for source in NOTEBOOK])
    client = nbclient.NotebookClient(book, timeout=60, kernel_name="python3")
    client.execute()
    found = []
    for cell in book.cells:
        displays = [one["data"] for one in cell.outputs if one.output_type == "display_data"]
        printed = "".join(one.get("text", "") for one in cell.outputs)
        found.append((len(displays), printed, "".join(str(one) for one in displays)))
    assert [(count, printed) for count, printed, _ in found] == [
        (0, ""), (1, "2\n"), (1, "2\n"), (1, "2\n"), (0, "2\n"), (0, "True\n"),
    ]  # fmt: skip
    assert "12/12" in found[1][2]
    assert re.search(r"12/12  01 a .*\\n12/12  02 b ", found[2][2])
    assert "<progress" in found[3][2]
