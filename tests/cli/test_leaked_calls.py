"""A server that was given the tools and leaves calls in the text: what counts, and what is said.

Two real servers on loopback answer alike, but one has its tool parser off.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tests.faults import Answer, FaultServer, chat, completion
from tunaeval.clients.scripted import ScriptedClient
from tunaeval.errors import UsageError
from tunaeval.reports.compared import comparison_markdown
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import LEVELS
from tunaeval.types.runs import Report

LS = {"name": "bash", "arguments": {"command": "ls"}}
LEAKED = f"<tool_call>\n{json.dumps(LS)}\n</tool_call>"
STRUCTURED = {
    "id": "c1",
    "type": "function",
    "function": {"name": "bash", "arguments": '{"command": "ls"}'},
}
HEALTHY = completion({"role": "assistant", "content": None, "tool_calls": [STRUCTURED]})
LEAKING = chat(LEAKED)


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "four.jsonl"
    rows = [
        {"id": f"ls-{n}", "prompt": f"Run ls, {n}.", "expect": {"calls": [LS]}} for n in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, [{"name": "four"}, *rows])))
    return path


@pytest.fixture
def servers() -> Iterator[dict[str, str]]:
    with FaultServer(then=HEALTHY) as healthy, FaultServer(then=LEAKING) as leaking:
        yield {"healthy": healthy.base_url, "leaking": leaking.base_url}


def asked(suite: Path, url: str, out: Path | None = None, **more: Any) -> Report:
    return tunaeval.run(suite, client="openai", base_url=url, model="m", out=out, **more)


def rates(report: Report) -> list[int]:
    return [report.summary.levels[level].passed for level in LEVELS]


def test_strict_differs_by_the_whole_score(suite: Path, servers: dict[str, str]) -> None:
    healthy = asked(suite, servers["healthy"])
    leaking = asked(suite, servers["leaking"])
    assert rates(healthy) == [4, 4, 4]
    assert rates(leaking) == [0, 4, 4]
    assert (healthy.summary.sources, leaking.summary.sources) == ({"structured": 4}, {"text": 4})
    assert (healthy.summary.leaked_calls, leaking.summary.leaked_calls) == (0, 4)
    strict = asked(suite, servers["leaking"], level="strict")
    assert (strict.passed, strict.total) == (0, 4)
    assert strict.results[0].attempts[0].diagnoses == (
        "leaked-call: 'bash': the server left the call in the text (as hermes)",
    )


def test_a_leaked_call_is_a_repair_that_says_where_it_came_from(
    suite: Path, servers: dict[str, str]
) -> None:
    result = asked(suite, servers["leaking"]).results[0]
    assert result.repairs == ("leaked-call",)
    assert result.leaked_calls == 1
    assert result.attempts[0].source == "structured"
    assert [call.format for call in result.got] == ["hermes"]


def test_structured_calls_alone_count_where_that_is_asked(
    suite: Path, servers: dict[str, str]
) -> None:
    assert rates(asked(suite, servers["healthy"], calls="structured")) == [4, 4, 4]
    leaking = asked(suite, servers["leaking"], calls="structured")
    assert rates(leaking) == [0, 0, 0]
    assert leaking.run.calls == "structured"


@pytest.mark.parametrize("ask", ["prompt", "schema"])
def test_a_model_that_was_told_to_write_its_calls_leaks_nothing(
    suite: Path, servers: dict[str, str], ask: Any
) -> None:
    report = asked(suite, servers["leaking"], ask=ask)
    assert rates(report) == [4, 4, 4]
    assert report.summary.leaked_calls == 0
    with pytest.raises(UsageError, match="calls='structured' counts calls that a server parsed"):
        asked(suite, servers["leaking"], ask=ask, calls="structured")


def test_a_scripted_reply_says_its_own_source(suite: Path) -> None:
    text = tunaeval.run(suite, client=ScriptedClient([LEAKED] * 4), out=None)
    assert rates(text) == [4, 4, 4]
    served = Reply({"role": "assistant", "content": LEAKED}, "stop", source="structured")
    assert rates(tunaeval.run(suite, client=ScriptedClient([served] * 4), out=None)) == [0, 4, 4]


def test_the_report_warns_and_names_the_likely_cause(
    here: Tuna, suite: Path, servers: dict[str, str]
) -> None:
    warning = (
        "warning: in 4 of 4 scenarios the server left calls in the text (leaked-call), although it "
        "was given the tools: its tool parser is off, or it is that of another model"
    )
    for quiet in ((), ("--quiet",)):
        done = here(*command(suite, servers["leaking"]), *quiet)
        assert warning in " ".join((done.stdout + done.stderr).split())
    done = here(*command(suite, servers["healthy"]))
    assert "leaked" not in done.stdout + done.stderr


def command(suite: Path, url: str) -> tuple[str, ...]:
    server = ("--client", "openai", "--base-url", url, "--model", "m")
    return ("run", "--suite", str(suite), *server, "--out", "runs")


def test_compare_says_that_sources_differ(
    suite: Path, servers: dict[str, str], tmp_path: Path
) -> None:
    healthy = asked(suite, servers["healthy"], tmp_path)
    leaking = asked(suite, servers["leaking"], tmp_path)
    standard = tunaeval.compare(healthy, leaking)
    assert standard.overall.value == 0
    assert "answers with leaked calls: 0 -> 4" in comparison_markdown(standard)
    assert any("leaked-call" in note for note in standard.notes)
    strict = tunaeval.compare(healthy, leaking, level="strict")
    assert strict.overall.value == -1


def test_the_command_warns_of_each_run_that_leaks(
    here: Tuna, suite: Path, servers: dict[str, str], tmp_path: Path
) -> None:
    runs = [asked(suite, servers[name], tmp_path / name) for name in ("healthy", "leaking")]
    done = here("compare", *(str(one.directory) for one in runs), "--json")
    (warning,) = done.stderr.splitlines()
    assert warning.startswith(
        f"tunaeval: warning: run {runs[1].run.run_id}: in 4 of 4 answers the server left calls"
    )


def test_a_kept_run_is_read_again_by_the_same_rule(
    suite: Path, servers: dict[str, str], tmp_path: Path
) -> None:
    leaking = asked(suite, servers["leaking"], tmp_path)
    assert leaking.directory is not None
    again = tunaeval.rescore(leaking.directory).report
    assert rates(again) == [0, 4, 4]
    only = tunaeval.rescore(leaking.directory, calls="structured").report
    assert rates(only) == [0, 0, 0]


def test_a_replayed_reply_keeps_its_source(
    here: Tuna, suite: Path, servers: dict[str, str], tmp_path: Path
) -> None:
    recording = tmp_path / "recording.jsonl"
    here(*command(suite, servers["leaking"]), "--record", str(recording))
    replayed = tunaeval.run(suite, client="replay", path=recording, out=None)
    assert rates(replayed) == [0, 4, 4]
    assert replayed.summary.leaked_calls == 4


def test_a_call_among_words_that_a_healthy_server_left_is_one_too(suite: Path) -> None:
    mixed = Answer(
        HEALTHY.body.replace(b'"content": null', json.dumps({"content": LEAKED}).encode()[1:-1]),
        headers=HEALTHY.headers,
    )
    with FaultServer(then=mixed) as server:
        report = asked(suite, server.base_url)
    assert rates(report) == [4, 4, 4]
    assert report.summary.sources == {"structured": 4}
