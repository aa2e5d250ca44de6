"""Defaults come from the project's file, the command line is over them, and nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna

DEFAULTS = """
suite = "smoke"
recording = "smollm2-135m-free-text"
limit = 3
exclude = ["no-call"]
quiet = true
"""


def config(tuna: Tuna, *arguments: str) -> dict[str, tuple[object, str]]:
    done = tuna("run", "--show-config", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["config"]
    return {row["option"]: (row["value"], row["from"]) for row in rows}


@pytest.mark.parametrize(
    ("file", "table"), [("tunaeval.toml", "[run]"), ("pyproject.toml", "[tool.tunaeval.run]")]
)
def test_a_file_gives_defaults(tuna: Tuna, tmp_path: Path, file: str, table: str) -> None:
    (tmp_path / file).write_text(table + DEFAULTS)
    found = config(tuna, "--limit", "2")
    assert found["suite"] == ("smoke", file)
    assert found["limit"] == (2, "command line")
    assert found["exclude"] == (["no-call"], file)
    assert found["quiet"] == (True, file)
    assert found["format"] == ("auto", "default")
    assert json.loads(tuna("run", "--json").stdout)["run"]["scenarios"] == 3


def test_lists_of_the_command_line_stand_in_for_those_of_the_file(
    tuna: Tuna, tmp_path: Path
) -> None:
    (tmp_path / "tunaeval.toml").write_text("[run]\nexclude = ['a', 'b']\n")
    assert config(tuna, "--exclude", "c")["exclude"] == (["c"], "command line")
    assert config(tuna, "-k", "x")["like"] == (["x"], "command line")


def test_a_pyproject_that_does_not_name_us_says_nothing(tuna: Tuna, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert {source for _, source in config(tuna).values()} <= {"default", "command line"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[run]\nsute = 'x'", "[run]: no option is called 'sute'; did you mean 'suite'?"),
        ("[rum]\nsuite = 'x'", "no command is called 'rum'; did you mean 'run'?"),
        ("run = 1", "run is 1; wanted a table"),
        ("[run]\nlimit = 'x'", "limit: found 'x'; wanted a whole number"),
        ("[run]\nlevel = 'loose'", "level: found 'loose'; wanted strict, standard, lenient"),
        ("[run]\nquiet = 'yes'", "quiet: found 'yes'; wanted true or false"),
        ("[run]\nsuite = true", "suite: found True; wanted a text or a number"),
        ("[run\n", "cannot be read"),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused(
    tuna: Tuna, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "tunaeval.toml").write_text(text)
    done = tuna("run")
    assert done.returncode == 2
    assert "tunaeval.toml" in done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--suite", "a", "--suite", "b"], "--suite is given twice, as 'a' and as 'b'"),
        (["--limit", "1", "--limit", "2"], "--limit is given twice, as 1 and as 2"),
        (["--id", "a", "--exclude", "a"], "contradict each other"),
        (["--tag", "path", "--exclude", "path"], "contradict each other"),
        (["--free-text", "--tools", "api"], "leave one of them out"),
        (["--taggs", "x"], "did you mean --tag?"),
    ],
)
def test_what_contradicts_itself_is_refused(tuna: Tuna, options: list[str], said: str) -> None:
    done = tuna("run", *options)
    assert done.returncode == 2
    assert said in done.stderr


@pytest.mark.parametrize("address", ["http://u:pw123456@h/v1", "http://h/v1?key=pw123456"])
def test_no_message_about_an_option_shows_a_secret(
    tuna: Tuna, tmp_path: Path, address: str
) -> None:
    twice = tuna("run", "--model", "m", "--base-url", "http://h/v1", "--base-url", address)
    matrix = tuna(
        "run", "--suite", "smoke", "--limit", "1", "--out", str(tmp_path),
        "--base-url", address.replace("//h", "//127.0.0.1:9"), "--base-url", "http://127.0.0.1:9",
    )  # fmt: skip
    kept = [file.read_text("utf-8") for file in tmp_path.rglob("*.json")]
    unknown = tuna("run", "--secret", "pw123456", "--suite", "smoke")
    (tmp_path / "tunaeval.toml").write_text(f'[run]\nbase_url = "{address}"\n')
    shown = tuna("run", "--show-config")
    assert (twice.returncode, unknown.returncode, shown.returncode) == (2, 2, 0)
    assert matrix.returncode == (3 if "?" in address else 2), "nobody listens there"
    for done in (twice, matrix, unknown, shown):
        assert "pw123456" not in done.stdout + done.stderr
    assert not [text for text in kept if "pw123456" in text]


def test_only_what_was_chosen_is_asked(tuna: Tuna) -> None:
    choose = ("--suite", "smoke", "--recording", "smollm2-135m-free-text", "--quiet", "--json")
    done = json.loads(tuna("run", *choose, "--tag", "read_file").stdout)
    assert done["run"]["scenarios"] == 2
    done = tuna("run", *choose, "-k", "read-file-*", "--id", "read-file-readme")
    assert json.loads(done.stdout)["run"]["scenarios"] == 1
    assert "has changed" not in done.stderr
