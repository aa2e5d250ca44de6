"""Results travel: Every Eval Ever's validator and OpenTelemetry's messages read what is written."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.reports.results import HEADING, HOSTILE, calls, report, result
from tunaeval.cli import main
from tunaeval.reports.every_eval_ever import every_eval_ever_writer
from tunaeval.reports.otel import otel_writer
from tunaeval.runs.directory import RunDirectory
from tunaeval.types.runs import AttemptRecord, Report, ResultRecord, TaskRecord

ROOT = Path(__file__).parents[2]
UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def answered() -> tuple[Any, ...]:
    return (
        result("a", ok=True, got=calls("ls"), tokens=7),
        result("a", ok=False, outcome="no_call", repeat=2),
        result("b", ok=False, outcome="malformed", tags=("x", "y"), latency=None),
    )


def mixed(**info: Any) -> Report:
    lost = result("c", outcome="transport_failure", error="HTTP 503", latency=None, attempts=())
    judged = result("d", outcome="judge_failure", error="no verdict")
    return report(*answered(), lost, judged, **({"model": "Qwen/Qwen3-8B"} | info))


def episode() -> Report:
    done = AttemptRecord(
        message={"role": "assistant", "content": "Look."},
        outcome="calls",
        calls=calls("ls"),
        results=(ResultRecord(id="c1", tool="ls", ok=True, content="a.py"),),
    )
    last = AttemptRecord(message={"content": "Done."}, outcome="no_call", user="And?")
    return report(result("t", ok=True, attempts=(done, last), task=TaskRecord(ended="answer")))


def written(folder: Path, *reports: Report) -> list[tuple[Path, Any, list[Any]]]:
    """The files of each record: its path in the folder, the aggregate, the samples."""
    every_eval_ever_writer.write_runs(reports, folder)
    found = []
    for path in sorted(folder.rglob("*.json")):
        samples = path.with_name(f"{path.stem}_samples.jsonl")
        lines = samples.read_text("ascii").splitlines() if samples.exists() else []
        found.append(
            (
                path.relative_to(folder),
                json.loads(path.read_text("ascii")),
                [*map(json.loads, lines)],
            )
        )
    return found


def test_a_record_has_the_score_its_interval_and_its_samples(tmp_path: Path) -> None:
    made = mixed()
    ((path, document, samples),) = written(tmp_path, made)
    assert re.fullmatch(rf"data/smoke/Qwen/Qwen3-8B/{UUID4}\.json", path.as_posix())
    (score,) = document["evaluation_results"]
    final, details = made.summary.final, score["score_details"]
    interval = details["uncertainty"]["confidence_interval"]
    assert (details["score"], interval["lower"], interval["upper"]) == (
        final.value, final.low, final.high,
    )  # fmt: skip
    assert (interval["confidence_level"], "wilson" in interval["method"]) == (0.95, True)
    assert details["uncertainty"]["num_samples"] == 3
    counted = {"calls": "1", "no_call": "1", "malformed": "1", "truncated": "0"}
    assert counted.items() <= details["details"].items()
    assert (details["details"]["no_answer"], details["details"]["heading"]) == ("2", HEADING)
    assert document["model_info"]["additional_details"] == {
        "deployment_type": "unknown",
        "model_availability": "unknown",
    }
    kept = document["detailed_evaluation_results"]
    assert (kept["total_rows"], kept["file_path"]) == (
        3,
        str(path).replace(".json", "_samples.jsonl"),
    )
    assert [(one["sample_id"], one["evaluation"]["score"]) for one in samples] == [
        ("a", 1.0), ("a", 0.0), ("b", 0.0),
    ]  # fmt: skip
    assert {one["evaluation_id"] for one in samples} == {document["evaluation_id"]}


def test_a_run_has_the_same_file_each_time(tmp_path: Path) -> None:
    first = written(tmp_path, mixed())
    texts = [path.read_bytes() for path in sorted(tmp_path.rglob("*.*"))]
    assert written(tmp_path, mixed()) == first
    assert [path.read_bytes() for path in sorted(tmp_path.rglob("*.*"))] == texts
    assert len(written(tmp_path, mixed(run_id="r2"))) == 2


def test_a_run_without_an_answer_has_no_score_and_no_samples(tmp_path: Path) -> None:
    ((_, document, samples),) = written(tmp_path, report(result("a", outcome="transport_failure")))
    assert (document["evaluation_results"], samples) == ([], [])
    assert "detailed_evaluation_results" not in document


def test_an_episode_is_a_conversation(tmp_path: Path) -> None:
    ((_, _, (sample,)),) = written(tmp_path, episode())
    assert (sample["interaction_type"], sample["output"]) == ("agentic", None)
    said = [(one["role"], one["content"]) for one in sample["messages"]]
    assert said == [
        ("user", "do it"), ("assistant", "Look."), ("tool", "a.py"), ("user", "And?"),
        ("assistant", "Done."),
    ]  # fmt: skip
    assert sample["evaluation"]["tool_calls_count"] == 1


NAMES = [
    ("smoke", "gpt-4o"), ("a/b", "/models/x/y.gguf"), ("data", "CON/aux.txt"), ("..", "../.."),
    ("x" * 300, "a" * 300), (HOSTILE, HOSTILE), ("a:b", "anthropic/claude|3."), (" ", " "),
]  # fmt: skip


@pytest.mark.parametrize("names", NAMES)
def test_names_stay_in_the_folder(names: tuple[str, str], tmp_path: Path) -> None:
    suite, model = names
    ((path, document, _),) = written(tmp_path / "out", mixed(suite=suite, model=model))
    assert len(path.parts) == 5
    assert {one.name for one in tmp_path.iterdir()} == {"out"}
    assert document["model_info"]["developer"]


def hostile() -> Report:
    failed = result(HOSTILE, got=calls(HOSTILE), tags=(HOSTILE,), prompt=HOSTILE, reason=HOSTILE)
    return report(failed, suite=HOSTILE, model=HOSTILE)


@pytest.mark.parametrize("make", [mixed, episode, hostile])
def test_their_own_validator_finds_no_fault(make: Any, tmp_path: Path) -> None:
    validation = pytest.importorskip("every_eval_ever.validator.validation_core")
    written(tmp_path, make())
    there = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json*")}
    for name in there:
        found = validation.validate_file(
            tmp_path / name,
            repo_path=name,
            available_files=there,
            read_repo_file=lambda one: (tmp_path / one).read_text("utf-8"),
            run_semantic_checks=True,
        )
        assert (found.valid, found.errors) == (True, []), name
        if make is mixed:
            assert found.warnings == []


def lines(folder: Path, *reports: Report) -> list[Any]:
    path = folder / "results.jsonl"
    otel_writer.write_runs(reports, path)
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def record(line: Any) -> tuple[Any, dict[str, Any]]:
    (logs,) = line["resourceLogs"]
    (scope,) = logs["scopeLogs"]
    (one,) = scope["logRecords"]
    return one, {pair["key"]: next(iter(pair["value"].values())) for pair in one["attributes"]}


def test_each_result_is_an_event(tmp_path: Path) -> None:
    found = [record(line) for line in lines(tmp_path, mixed())]
    assert {one["eventName"] for one, _ in found} == {"gen_ai.evaluation.result"}
    passed, failed, _, lost, _ = (about for _, about in found)
    assert passed["gen_ai.evaluation.name"] == "smoke"
    assert passed["gen_ai.evaluation.score.value"] == 1.0
    assert passed["gen_ai.evaluation.score.label"] == "pass"
    assert passed["gen_ai.evaluation.explanation"] == "as it is"
    assert failed["gen_ai.evaluation.score.label"] == "fail"
    assert lost["error.type"] == "transport_failure"
    assert not [name for name in lost if "score" in name]


def test_an_id_of_the_response_is_told_where_it_is_kept(tmp_path: Path) -> None:
    attempt = AttemptRecord(message={"content": "x", "id": "chatcmpl-1"}, outcome="no_call")
    ((_, about),) = [record(one) for one in lines(tmp_path, report(result(attempts=(attempt,))))]
    assert about["gen_ai.response.id"] == "chatcmpl-1"


@pytest.mark.parametrize("make", [mixed, hostile])
def test_opentelemetrys_own_messages_read_it(make: Any, tmp_path: Path) -> None:
    logs = pytest.importorskip("opentelemetry.proto.logs.v1.logs_pb2")
    json_format = pytest.importorskip("google.protobuf.json_format")
    for line in lines(tmp_path, make()):
        read = json_format.Parse(json.dumps(line), logs.LogsData())
        (one,) = read.resource_logs[0].scope_logs[0].log_records
        assert one.event_name == "gen_ai.evaluation.result"
        assert one.time_unix_nano > 0


def test_the_loop_of_the_page_sends_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = pytest.importorskip("opentelemetry._logs")
    sdk = pytest.importorskip("opentelemetry.sdk._logs")
    export = pytest.importorskip("opentelemetry.sdk._logs.export")
    kept = export.InMemoryLogRecordExporter()
    provider = sdk.LoggerProvider()
    provider.add_log_record_processor(export.SimpleLogRecordProcessor(kept))
    monkeypatch.setattr(logs, "get_logger", provider.get_logger)
    monkeypatch.chdir(tmp_path)
    lines(tmp_path, mixed())
    page = (ROOT / "docs/how-to/look-at-a-run.md").read_text("utf-8")
    (loop,) = [one for one in re.findall(r"```python\n(.+?)```", page, re.DOTALL) if "emit" in one]
    (tmp_path / "loop.py").write_text(loop)
    runpy.run_path(str(tmp_path / "loop.py"))
    sent = [one.log_record for one in kept.get_finished_logs()]
    assert [one.event_name for one in sent] == ["gen_ai.evaluation.result"] * 5
    assert sent[0].attributes["gen_ai.evaluation.score.value"] == 1.0


def stored(folder: Path, made: Report) -> Path:
    files = RunDirectory(folder, made.run)
    for one in made.results:
        files.append(one)
    files.close(made.run)
    return folder


@pytest.mark.parametrize("exists", [False, True])
def test_the_command_writes_a_folder_also_one_that_exists(tmp_path: Path, exists: bool) -> None:
    run, out = stored(tmp_path / "run", mixed()), tmp_path / "out"
    if exists:
        out.mkdir()
    for _ in range(2):
        assert main(["report", str(run), "--writer", "every-eval-ever", "-o", str(out)]) == 0
    assert len([*out.rglob("*.json")]) == len([*out.rglob("*.jsonl")]) == 1
    assert len([path for path in out.rglob("*") if path.is_file()]) == 2
    assert main(["report", str(run), "--writer", "otel", "-o", str(out / "o.jsonl")]) == 0
    assert len((out / "o.jsonl").read_text("ascii").splitlines()) == 5


def test_a_matrix_gives_each_model_a_pair(tmp_path: Path) -> None:
    clients = [tunaeval.ScriptedClient(["No."] * 12) for _ in range(2)]
    made = tunaeval.run_matrix("smoke", models=clients, out=tmp_path / "runs", attempts=1)
    assert made.directory is not None
    out = tmp_path / "out"
    command = ["report", made.directory, "--writer", "every-eval-ever", "-o", str(out)]
    assert main(command) == 0
    assert len([*out.rglob("*_samples.jsonl")]) == len([*out.rglob("*.json")]) == 2


def test_a_folder_needs_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = stored(tmp_path / "run", mixed())
    assert main(["report", str(run), "--writer", "every-eval-ever"]) == 2
    assert "-o DIR" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    out = ["-o", str(tmp_path / "file")]
    assert main(["report", str(run), "--writer", "every-eval-ever", *out]) == 2
