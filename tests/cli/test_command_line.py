"""The command itself: help, versions, wrong use, and streams that are not as one hopes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tunaeval
from tunaeval.cli import COMMANDS, main

Tuna = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("arguments", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help_goes_to_stdout(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    said = capsys.readouterr()
    assert said.out.startswith("usage: tunaeval")
    assert said.err == ""


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == (
        f"tunaeval {tunaeval.__version__}{' (compiled)' if tunaeval.compiled else ''}\n"
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_the_hint_of_an_unknown_word_names_the_help_of_its_command(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, *"abcdefgh", "--zzzzz"]) == 2
    assert capsys.readouterr().err.rstrip().endswith(f"; see `tunaeval {name} --help`")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "required: COMMAND"),
        (["prase"], "no command is called 'prase'; did you mean 'parse'"),
        (["run", "--nope"], "unrecognized arguments: --nope"),
        (["run", "--api-key", "k"], "no option --api-key: set $TUNAEVAL_API_KEY to the key"),
        (
            ["run", "--suit", "smoke"],
            "there is no option --suit; did you mean --suite?",
        ),
        (["doctor", "--base-ur", "http://x"], "no option --base-ur; did you mean --base-url?"),
        (["run", "--base-url", ""], "client 'openai' needs the address of a server"),
        (["run", "--limit", "0"], "found '0'; wanted a whole number, 1 or more"),
        (["run", "--limit", "x"], "found 'x'; wanted a whole number, 1 or more"),
        (["run", "--fail-under", "101"], "found '101'; wanted a percentage from 0 to 100"),
        (["run", "--fail-under", "0.7"], "write 70% for it, or 0.7% for less than one percent"),
        (["run", "--level", "loose"], "invalid choice: 'loose'"),
        (["run", "--suite", "tunacod"], "did you mean 'tunacode'"),
        (["run", "--suite", "no-such.json"], "'no-such.json' cannot be read: No such file"),
        (["run", "--client", "opena", "--base-url", "http://x"], "did you mean 'openai'"),
        (["run", "--client", "openai"], "--base-url"),
        (["run", "--client", "replay", "--model-file", "x"], "takes no --model-file"),
        (["run", "--writer", "json"], "give --report"),
        (["run", "--report", "page"], "no suffix that names a writer"),
        (["run", "--report", "page.pdf"], "writer is called 'pdf'"),
        (["parse", "no-such-file"], "'no-such-file' cannot be read: No such file"),
        (["parse", "x\0y"], "cannot be read"),
        (["plugins", "--group", "client"], "did you mean 'clients'"),
        (["suites", "smok"], "did you mean 'smoke'"),
    ],
)
def test_wrong_use_is_one_clear_line_and_exit_code_2(
    arguments: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("tunaeval: ")
    assert captured.err.count("\n") == 1
    assert said in captured.err
    assert not list(tmp_path.iterdir())


def test_help_loads_nothing_heavy() -> None:
    heavy = "{'httpx2', 'pydantic', 'tenacity', 'rich', 'asyncio', 'orjson', 'importlib.metadata'}"
    for arguments in (["--help"], ["run", "--help"], ["parse", "--help"]):
        code = (
            f"import sys; from tunaeval.cli import main; main({arguments}); "
            f"print('loaded:', {heavy} & set(sys.modules))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.endswith("loaded: set()\n")


@pytest.mark.parametrize("arguments", [["suites", "tunacode", "--json"], ["--version"]])
def test_a_reader_that_goes_away_is_no_fault(arguments: list[str]) -> None:
    """As in `tunaeval suites tunacode | head -1`: in the middle of much, at the end of little."""
    child = subprocess.Popen(
        [sys.executable, "-m", "tunaeval", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"},
    )
    assert child.stdout is not None
    child.stdout.close()
    _, stderr = child.communicate(timeout=30)
    assert (child.returncode, stderr) == (0, b"")


def test_what_a_plugin_prints_stays_out_of_the_results(tuna: Tuna, tmp_path: Path) -> None:
    _install(tmp_path, "loud", "print('hello from a plug-in')\nraise ImportError('no luck')")
    done = tuna("plugins", "--json", path=tmp_path)
    rows = json.loads(done.stdout)["plugins"]
    broken = [row for row in rows if row["status"] != "ok"]
    assert [(row["name"], row["source"], row["status"]) for row in broken] == [
        ("loud", "tuna-loud 1.0", "broken")
    ]
    assert "no luck" in broken[0]["reason"]
    assert "hello from a plug-in" in done.stderr


def test_a_broken_plugin_is_an_error_where_it_is_asked_for(tuna: Tuna, tmp_path: Path) -> None:
    _install(tmp_path, "exits", "raise SystemExit(0)")
    done = tuna("run", "--client", "exits", path=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("tunaeval: client 'exits' of tuna-exits 1.0 cannot be imported")


def _install(site: Path, name: str, source: str) -> None:
    (site / f"tuna_{name}.py").write_text(source)
    info = site / f"tuna_{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tuna-{name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tunaeval.clients]\n{name} = tuna_{name}:Thing\n")


def test_all_built_ins_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["plugins"]
    ours = [row for row in rows if row["source"] == "tunaeval"]
    assert {row["group"] for row in ours} >= {"tunaeval.clients", "tunaeval.writers"}
    assert {row["reason"] for row in ours} == {""}


def test_suites_are_listed_with_their_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suites", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["suites"]}
    assert rows["smoke"]["scenarios"] == 12
    assert rows["tunacode"]["no call"] >= 20


def test_a_suite_is_listed_scenario_by_scenario(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suites", "smoke"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13
    assert lines[1].startswith("bash-pytest-quiet  bash(command='pytest -q')")


def test_help_names_every_exit_code(here: Tuna) -> None:
    said = " ".join(here("--help").stdout.split())
    assert all(f" {code} " in said.partition("Exit codes:")[2] for code in (0, 1, 2, 3, 130, 143))


@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_percent_sign_stands_alone_in_help(here: Tuna, command: str) -> None:
    assert "--max-errors N|P% " in here(command, "--help").stdout.replace("]", " ")
    assert "%%" not in here(command, "--help").stdout


@pytest.mark.parametrize(
    ("option", "meant"),
    [("--deadline-seconds", "--timeout"), ("--ask", "--tools"), ("--repeat", "--repeats")],
)
def test_the_name_that_python_has_for_an_option_is_known(
    here: Tuna, option: str, meant: str
) -> None:
    done = here("run", option, "3")
    assert done.returncode == 2
    assert f"there is no option {option}; did you mean {meant}?" in done.stderr


def test_a_file_in_the_place_of_a_run_is_said_to_be_one(here: Tuna, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("{}")
    for command in (["compare", "report.json", "report.json"], ["rescore", "report.json"]):
        done = here(*command)
        assert done.returncode == 2
        assert "report.json is a file; wanted the directory of a run" in done.stderr


@pytest.mark.parametrize(
    "command",
    ["show pipe", "report --csv pipe", "compare pipe pipe", "rescore pipe", "run --resume pipe"],
)
def test_a_pipe_in_the_place_of_a_run_is_said_to_be_one(
    here: Tuna, tmp_path: Path, command: str
) -> None:
    os.mkfifo(tmp_path / "pipe")
    done = here(*command.split())
    assert done.returncode == 2
    assert "pipe is a pipe; wanted the directory of a run" in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "score --expect DIR -",
        "run --client scripted --recording DIR",
        "parse --tools DIR -",
        "dataset filter a.jsonl --kept DIR --rejected r.jsonl",
        "convert a.jsonl --from hermes --to glm45 -o DIR",
        "suites DIR",
    ],
)
def test_a_directory_in_the_place_of_a_file_is_named_once(
    here: Tuna, tmp_path: Path, command: str
) -> None:
    (tmp_path / "DIR").mkdir()
    (tmp_path / "a.jsonl").write_text('"hello"\n')
    seen = [{"role": "assistant", "content": "Hello."}]
    label = {"id": "1", "query": "Hi", "messages": seen, "label": {"goal-completion": 1}}
    (tmp_path / "labels.jsonl").write_text(json.dumps(label) + "\n")
    done = here(*command.split())
    assert done.returncode in {1, 2}
    assert done.stderr.lower().count("directory") == 1, done.stderr
    assert done.stderr.count("DIR") == 1, done.stderr


def test_no_message_has_a_key_of_the_environment_or_a_part_of_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "Qm4xT9vLr2Zc8Wk5Yp1NhB7s"
    monkeypatch.setenv("OPENAI_API_KEY", key)
    for part in (key, key[:14], key[-14:]):
        assert main(["show", f"no-such-run-{part}"]) == 2
        said = capsys.readouterr().err
        assert part not in said
        assert "<key>" in said
