"""Defaults come from the project's file, the command line is over them, and nothing is guessed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
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


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


NOT_PLAIN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link to nothing": (lambda path: path.symlink_to("nothing"), "No such file"),
    "a loop of links": (lambda path: path.symlink_to(path.name), "Too many levels"),
    "a pipe": (a_pipe, "it is a pipe"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "it is a device"),
    "a directory": (lambda path: path.mkdir(), "Is a directory"),
    "too long": (lambda path: path.write_text("#" * ((1 << 20) + 1)), "more than 1,048,576 bytes"),
    "deep lists": (lambda path: path.write_text("a = " + "[" * 9999 + "]" * 9999), "too deeply"),
    "deep tables": (
        lambda path: path.write_text("a = " + "{a=" * 9999 + "1" + "}" * 9999),
        "deeply",
    ),
    "a long key": (lambda path: path.write_text("a." * 99_999 + "a = 1"), "too deeply"),
    "a long quoted key": (lambda path: path.write_text("'a' . " * 9999 + '"a" = 1'), "too deeply"),
    "a long header": (lambda path: path.write_text("[" + "a." * 99_999 + "a]"), "too deeply"),
    "many long headers": (
        lambda path: path.write_text("\n".join(f"[{'a.' * 999}a{n}]" for n in range(300))),
        "too deeply",
    ),
    "no text": (lambda path: path.write_bytes(b"\xff\xfe"), "cannot be read"),
    "an archive that is cut": (lambda path: path.write_bytes(b"\x1f\x8b\x08"), "damaged"),
}


@pytest.mark.parametrize("file", ["tunaeval.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", NOT_PLAIN)
def test_a_file_that_cannot_be_read_is_never_taken_for_none(
    here: Tuna, tmp_path: Path, kind: str, file: str
) -> None:
    put, words = NOT_PLAIN[kind]
    put(tmp_path / file)
    began = time.process_time()
    done = here("suites")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"tunaeval: {file} ")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert time.process_time() - began < 3


def test_a_key_of_many_parts_in_a_text_of_many_lines_is_no_fault(
    here: Tuna, tmp_path: Path
) -> None:
    name = ".".join(f"part{n}" for n in range(30))
    (tmp_path / "pyproject.toml").write_text(f"[{name}]\nx = '{'a ' * 5000}'\n")
    assert here("suites").returncode == 0
