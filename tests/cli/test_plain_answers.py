"""What a newcomer does wrong, and what the command says to it: what was found, and what to do."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import tunaeval
from tests.cli.conftest import Tuna
from tests.faults import CANARY_KEY, Answer, FaultServer, chat, completion
from tests.faults.runs import suite_file
from tests.reports.page.made_runs import made_run
from tests.reports.results import report, result
from tunaeval.reports.progress import SoFar
from tunaeval.reports.wording import failures, remarks

REFUSED = Answer(b'{"error": {"message": "no"}}', status=403)


def refusal(here: Tuna, folder: Path, query: str = "", *more: str) -> str:
    """What is said of a server that refuses everything."""
    with FaultServer(then=REFUSED) as server:
        done = here("run", "--suite", str(suite_file(folder, 1)), "--model", "m", "--quiet",
                    "--base-url", server.base_url + query, *more)  # fmt: skip
    assert done.returncode == 2
    return done.stderr


def test_a_refusal_says_that_no_key_was_sent(here: Tuna, tmp_path: Path) -> None:
    said = refusal(here, tmp_path)
    assert "no key was sent: set $TUNAEVAL_API_KEY or $OPENAI_API_KEY to one" in said


def test_a_refusal_names_the_variables_that_were_looked_at(
    here: Tuna, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLOW_KEY", raising=False)
    said = refusal(here, tmp_path, "", "--key-variable", "SLOW_KEY")
    assert "no key was sent: set $SLOW_KEY to one" in said
    monkeypatch.setenv("SLOW_KEY", CANARY_KEY)
    said += refusal(here, tmp_path, "", "--key-variable", "SLOW_KEY")
    assert "characters was sent: check it in $SLOW_KEY" in said
    assert "API_KEY" not in said


@pytest.mark.parametrize("place", ["command line", "run", "columns.m"])
def test_a_key_in_place_of_its_variable_is_refused_and_not_shown(
    here: Tuna, tmp_path: Path, place: str
) -> None:
    more: tuple[str, ...] = ("--key-variable", CANARY_KEY)
    if place != "command line":
        (tmp_path / "tunaeval.toml").write_text(f'[{place}]\nkey-variable = "{CANARY_KEY}"\n')
        more = ()
    said = refusal(here, tmp_path, "", *more)
    assert "found what can be no name of a variable" in said
    assert CANARY_KEY[:4] not in said
    assert not (tmp_path / "runs").exists()


def test_a_refusal_says_what_was_sent_and_not_the_key(
    here: Tuna, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNAEVAL_API_KEY", CANARY_KEY)
    said = refusal(here, tmp_path)
    assert f"a key of {len(CANARY_KEY)} characters was sent" in said
    assert "no key" not in said
    assert CANARY_KEY[:4] not in said


def test_a_key_in_the_address_is_a_key_that_was_sent(here: Tuna, tmp_path: Path) -> None:
    said = refusal(here, tmp_path, f"?api-key={CANARY_KEY}")
    assert "the base URL's 'api-key' was sent" in said
    assert "no key was sent" not in said
    assert CANARY_KEY[:4] not in said


def test_results_of_repeats_are_not_called_scenarios() -> None:
    lost = [
        result(f"s{n}", repeat=repeat, outcome="transport_failure", error="connect: gone")
        for n in range(2)
        for repeat in (1, 2)
    ]
    made = report(*lost, result("s3"), result("s3", repeat=2), repeats=2, scenarios=3)
    said = " ".join([*remarks(made), *failures(made.summary)])
    assert "4 of 6 results got no answer" in said
    assert "4 of 6 results, and in no score" in said
    assert " of 6 scenarios" not in said
    once = report(*lost[::2], result("s3"))
    said = " ".join(failures(once.summary))
    assert "2 of 3 scenarios" in said


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """The directories of two runs."""
    return str(made_run(tmp_path / "a")), str(made_run(tmp_path / "b"))


def test_show_of_two_runs_says_what_to_use(here: Tuna, runs: tuple[str, str]) -> None:
    done = here("show", *runs)
    assert done.returncode == 2
    assert "show takes one run, found 2" in done.stderr
    assert f"tunaeval compare {runs[0]} {runs[1]}" in done.stderr
    assert "tunaeval report" in done.stderr


def test_show_of_a_directory_of_runs_names_the_last(here: Tuna, tmp_path: Path) -> None:
    for name in ("20261101-one", "20261103-three", "20261102-two"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        started = f'{{"started_at": "{name[:8]}"}}'
        (tmp_path / "runs" / name / "run.json").write_text(started)
    done = here("show", "runs")
    assert done.returncode == 2
    assert "runs contains 3 runs, and one is wanted" in done.stderr
    assert str(Path("runs", "20261103-three")) in done.stderr


def test_show_of_a_directory_that_is_no_run_says_so(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = here("show", "empty")
    assert done.returncode == 2
    assert "empty is no run: there is no run.json in it" in done.stderr
    done = here("show", "nowhere")
    assert "there is no directory nowhere" in done.stderr


def test_a_name_of_several_formats_is_quoted_as_it_was_given(here: Tuna) -> None:
    done = here("convert", "--from", "hermes", "--to", "llama3_json", "-")
    assert done.returncode == 2
    assert "'llama3_json' reads several formats" in done.stderr
    assert "give the one that is meant: 'llama3-json'" in done.stderr


@pytest.mark.parametrize(
    ("profile", "words"),
    [("strict", "passes only without any argument"), ("tunacode", "passes with any arguments")],
)
def test_a_tool_that_is_expected_without_arguments_is_pointed_out(
    here: Tuna, tmp_path: Path, profile: str, words: str
) -> None:
    rows = [
        {"id": "bare", "prompt": "Read a.", "expected_tool": "read_file"},
        {"id": "whole", "prompt": "Read a.", "expected_tool": "read_file",
         "expected_args": {"filepath": "a"}},
        {"id": "none", "prompt": "Hi.", "expected_tool": None},
        {"id": "no-need", "prompt": "List.", "expected_tool": "list_dir"},
    ]  # fmt: skip
    (tmp_path / "s.json").write_text(json.dumps(rows))
    with FaultServer() as server:
        done = here("run", "--suite", "s.json", "--base-url", server.base_url, "--model", "m",
                    "--profile", profile, "--quiet")  # fmt: skip
    (said,) = [line for line in done.stderr.splitlines() if "expected_args" in line]
    assert said.startswith("tunaeval: warning: 1 scenario expects a tool without arguments (bare)")
    assert words in said


def test_a_suite_that_says_its_arguments_is_not_warned_of(here: Tuna) -> None:
    done = here("run", "--suite", "smoke", "--recording", "smollm2-135m-free-text", "--quiet")
    assert "expected_args" not in done.stderr


@pytest.mark.parametrize("kept", [True, False])
def test_compare_counts_empty_replies(here: Tuna, tmp_path: Path, kept: bool) -> None:
    empty = completion({"role": "assistant", "content": ""})
    reports = []
    for name, answer in (("a", chat("hello")), ("b", empty)):
        with FaultServer(then=answer) as server:
            reports.append(
                tunaeval.run(
                    suite_file(tmp_path, 3), client="openai", base_url=server.base_url,
                    model="m", out=tmp_path / name if kept else None,
                )
            )  # fmt: skip
    found = tunaeval.compare(*reports)
    assert (found.a.empty_replies, found.b.empty_replies) == (0, 3)
    assert any("in 3 of 3 answers a reply was empty" in words for words in found.b.warnings)
    if kept:
        done = here("compare", *(str(one.directory) for one in reports))
        assert "answers with an empty reply: 0 -> 3" in done.stdout


def test_the_progress_counts_what_is_in_flight_and_errors_by_kind() -> None:
    sofar = SoFar(in_flight=lambda: 7)
    sofar.add(result(ok=True))
    sofar.add(result(outcome="transport_failure", error="timeout: took over 30 s"))
    sofar.add(result(outcome="transport_failure", error="status: 500"))
    words = sofar.words()
    assert re.fullmatch(r"100\.0 % \(.*\); 1 timeout, 1 status; 7 in flight; [\d.]+/s", words), (
        words
    )
