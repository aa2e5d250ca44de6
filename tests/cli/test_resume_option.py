"""`tunaeval run --resume RUN` goes on by what the run says; what is given beside it agrees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import tunaeval
from tests.cli.conftest import Server, Tuna
from tests.faults import Answer, FaultServer, chat
from tests.faults.runs import suite_file

Begin = Callable[[int | None], Path]


def cut(folder: Path, lines: int = 1) -> Path:
    """The only run of a folder, cut off after so many results."""
    [kept] = (folder / "runs").iterdir()
    results = kept / "results.jsonl"
    results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:lines]))
    return kept


@pytest.fixture
def begun(here: Tuna, server: Server, suite: str, tmp_path: Path) -> Path:
    """A folder with a run that was begun with `OPTIONS`."""
    here("run", "--suite", suite, "--base-url", server.url, *OPTIONS)
    return tmp_path


def gate(bar: int | None) -> tuple[str, ...]:
    return () if bar is None else ("--fail-under", str(bar))


@pytest.fixture
def served(here: Tuna, server: Server, suite: str, tmp_path: Path) -> Begin:
    """Begins a run under a bar, and cuts it off."""

    def begin(bar: int | None) -> Path:
        here("run", "--suite", suite, "--base-url", server.url, *gate(bar))
        return cut(tmp_path)

    return begin


OPTIONS = ("--level", "strict", "--seed", "7", "--timeout", "9", "--format", "qwen25",
           "--exclude", "hello", "--attempts", "3", "--tools", "prompt")  # fmt: skip


def test_a_run_goes_on_with_no_option_but_its_name(
    here: Tuna, server: Server, suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here("run", "--suite", suite, "--base-url", server.url, *OPTIONS)
    kept = cut(tmp_path)
    before = json.loads((kept / "run.json").read_text())
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    asked = len(server.keys)
    done = here("run", "--resume", str(kept))
    assert done.returncode == 0, done.stderr
    assert "with 2 results to come" in done.stderr
    assert len(server.keys) > asked
    assert len((kept / "results.jsonl").read_bytes().splitlines()) == 3
    after = json.loads((kept / "run.json").read_text())
    assert after["options"] == before["options"]
    assert before["options"]["seed"] == 7


@pytest.mark.parametrize(
    ("begun", "given", "code"),
    [(90, None, 1), (90, 10, 0), (None, None, 0), (None, 90, 1)],
)
def test_a_gate_holds_for_the_run_that_goes_on(
    served: Begin,
    here: Tuna,
    begun: int | None,
    given: int | None,
    code: int,
) -> None:
    """A build that was cut off and goes on is not green for that."""
    done = here("run", "--resume", str(served(begun)), *gate(given))
    assert done.returncode == code, done.stderr
    assert ("below the 90 % asked for" in done.stderr) is (code == 1)


def test_a_gate_of_the_project_holds_for_a_run_that_was_begun_without(
    served: Begin, here: Tuna, tmp_path: Path
) -> None:
    kept = served(None)
    (tmp_path / "tunaeval.toml").write_text("[run]\nfail-under = 90\n")
    assert here("run", "--resume", str(kept)).returncode == 1


@pytest.mark.parametrize(("budget", "code"), [(("--max-errors", "50%"), 0), ((), 3)])
def test_an_error_budget_holds_for_the_run_that_goes_on(
    here: Tuna, tmp_path: Path, budget: tuple[str, ...], code: int
) -> None:
    """Of two results one got no answer."""
    with FaultServer(Answer(b"{}", status=400), then=chat("Hello!")) as faulty:
        here("run", "--suite", str(suite_file(tmp_path, 2)), "--base-url", faulty.base_url,
             "--model", "m", "--fail-under", "0", "--concurrency", "1", *budget)  # fmt: skip
    [kept] = (tmp_path / "runs").iterdir()
    done = here("run", "--resume", str(kept))
    assert done.returncode == code, done.stderr


def test_an_option_that_no_run_keeps_is_not_taken_from_its_file(here: Tuna, tmp_path: Path) -> None:
    """Failures are asked again where that is asked for, and not where a file says so."""
    with FaultServer(Answer(b"{}", status=400), then=chat("Hello!")) as faulty:
        here("run", "--suite", str(suite_file(tmp_path, 2)), "--base-url", faulty.base_url,
             "--model", "m", "--concurrency", "1")  # fmt: skip
        [kept] = (tmp_path / "runs").iterdir()
        document = json.loads((kept / "run.json").read_text())
        document["options"]["retry_failures"] = True
        (kept / "run.json").write_text(json.dumps(document))
        asked = len(faulty.seen)
        here("run", "--resume", str(kept))
        assert len(faulty.seen) == asked


def test_a_run_that_kept_no_options_goes_on_by_its_fields(
    here: Tuna, server: Server, suite: str, tmp_path: Path
) -> None:
    """But for the suite, of which they have no more than the name."""
    common = ("--suite", suite, "--attempts", "1", "--level", "lenient")
    here("run", *common, "--base-url", server.url)
    kept = cut(tmp_path)
    document = json.loads((kept / "run.json").read_text())
    del document["options"]
    (kept / "run.json").write_text(json.dumps(document))
    done = here("run", "--resume", str(kept), "--suite", suite)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("keeps_options", [True, False])
def test_a_run_of_tunacode_goes_on_although_another_suite_is_the_default_now(
    here: Tuna, tmp_path: Path, keeps_options: bool
) -> None:
    replay = ("--recording", "smollm2-135m-constrained", "--quiet")
    here("run", "--suite", "tunacode", *replay)
    kept = cut(tmp_path, 150)
    document = json.loads((kept / "run.json").read_text())
    assert document["options"]["suite"] == document["suite"] == "tunacode"
    if not keeps_options:
        del document["options"]
        (kept / "run.json").write_text(json.dumps(document))
    done = here("run", "--resume", str(kept), *replay)
    assert done.returncode == 0, done.stderr
    assert "with 6 results to come" in done.stderr
    assert len((kept / "results.jsonl").read_bytes().splitlines()) == 156


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--level", "standard"), "level was 'strict', is 'standard'"),
        (("--seed", "8"), "seed was 7, is 8"),
        (("--exclude", "read"), "other scenarios, tools or system prompt now"),
        (("--repeats", "2"), "repeats was 1, is 2"),
    ],
)
def test_what_is_given_beside_it_has_to_agree(
    here: Tuna, begun: Path, options: tuple[str, ...], words: str
) -> None:
    kept = cut(begun)
    done = here("run", "--resume", str(kept), *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert len((kept / "results.jsonl").read_bytes().splitlines()) == 1


def test_reports_that_were_asked_for_are_written_when_it_goes_on(
    here: Tuna, server: Server, suite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports = ("--report", "out/junit.xml", "--report", "rows.csv")
    here("run", "--suite", suite, "--base-url", server.url, *reports)
    kept, written = cut(tmp_path), [tmp_path / "out" / "junit.xml", tmp_path / "rows.csv"]
    for file in written:
        file.unlink()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert here("run", "--resume", str(kept)).returncode == 0
    assert [file.exists() for file in written] == [True, True]
    assert written[1].read_text().count("\n") == 5  # of the whole run
    for file in written:
        file.unlink()
    assert here("run", "--resume", str(kept), "--report", "only.html").returncode == 0
    assert (tmp_path / "elsewhere" / "only.html").exists()
    assert [file.exists() for file in written] == [False, False]


def test_a_writer_of_then_is_not_that_of_another_report(
    here: Tuna, server: Server, suite: str, tmp_path: Path
) -> None:
    asked = ("--suite", suite, "--base-url", server.url)
    here("run", *asked, "--report", "notes.txt", "--writer", "github")
    kept = cut(tmp_path)
    done = here("run", "--resume", str(kept), "--report", "rows.csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "rows.csv").read_text().startswith("run_id,")


def test_a_key_in_an_address_is_not_kept(
    here: Tuna, server: Server, suite: str, tmp_path: Path
) -> None:
    address = f"{server.url}?key=sk-canary-7f3a9c51d2e84b60"
    here("run", "--suite", suite, "--base-url", address, "--model", "tiny")
    kept = cut(tmp_path)
    assert "canary" not in (kept / "run.json").read_text()
    done = here("run", "--resume", str(kept), "--base-url", address)
    assert done.returncode == 0, done.stderr


def test_what_failed_is_asked_again_on_request(
    here: Tuna, server: Server, suite: str, tmp_path: Path
) -> None:
    server.status = 400
    done = here("run", "--suite", suite, "--base-url", server.url, "--model", "tiny")
    assert done.returncode == 2
    [kept] = (tmp_path / "runs").iterdir()
    server.status = 200
    assert here("run", "--resume", str(kept)).returncode == 2  # nothing to ask, and no score
    done = here("run", "--resume", str(kept), "--retry-failures")
    assert done.returncode == 0, done.stderr
    assert "with 4 results to come" in done.stderr
    assert len((kept / "results.jsonl").read_bytes().splitlines()) == 8


@pytest.mark.parametrize("option", [(), ("--retry-failures",)])
def test_a_run_that_goes_on_without_an_answer_is_no_success(
    here: Tuna, server: Server, suite: str, tmp_path: Path, option: tuple[str, ...]
) -> None:
    here("run", "--suite", suite, "--base-url", server.url, "--model", "tiny")
    kept = cut(tmp_path, 2)
    server.status = 400
    if option:
        here("run", "--resume", str(kept))
    done = here("run", "--resume", str(kept), *option)
    assert done.returncode == 2
    assert "no scenario got an answer, of those asked now; first: " in done.stderr
    server.status = 200
    assert here("run", "--resume", str(kept), "--retry-failures").returncode == 0


@pytest.mark.parametrize("option", ["--retry-failures", "--take-over"])
def test_options_of_a_run_that_goes_on_want_one(here: Tuna, suite: str, option: str) -> None:
    done = here("run", "--suite", suite, option)
    assert done.returncode == 2
    assert f"{option} needs a run to continue" in done.stderr


def test_a_run_says_what_its_tokens_cost(here: Tuna, server: Server, suite: str) -> None:
    options = ("run", "--suite", suite, "--base-url", server.url, "--attempts", "1")
    done = here(*options, "--price-in", "2", "--price-out", "10")
    assert "tunaeval: the tokens of the run cost 0.0003" in done.stderr  # 40 asked, 20 answered
    assert "cost" not in here(*options).stderr


def test_a_run_that_was_made_in_python_goes_on_by_its_fields(
    here: Tuna, server: Server, suite: str, tmp_path: Path
) -> None:
    tunaeval.run(
        suite,
        client="openai",
        base_url=server.url,
        model="m",
        level="strict",
        out=tmp_path / "runs",
    )
    kept = cut(tmp_path)
    asks = here("run", "--resume", str(kept))
    assert asks.returncode == 2
    assert "this run was made in Python" in asks.stderr
    assert "give the file with --suite" in asks.stderr
    done = here("run", "--resume", str(kept), "--suite", suite)
    assert done.returncode == 0, done.stderr
    assert len((kept / "results.jsonl").read_bytes().splitlines()) == 4
