"""`benchmarks/figures.py` sees which figures are of code that has changed since, and says so."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from figures import ROOT, Code, faults_of_tables, sections

PROGRAM = ROOT / "benchmarks" / "figures.py"
PACKAGE = {
    "tunaeval/__init__.py": '"""One thing."""\n_NAMES = {"deep.api": "parse"}\n',
    "tunaeval/deep/__init__.py": "",
    "tunaeval/deep/api.py": (
        "from ..plain import read\n\n\n"
        'def parse(text: str) -> list[str]:\n    """Read it."""\n    return read(text)\n'
    ),
    "tunaeval/plain.py": "def read(text: str) -> list[str]:\n    return text.split()\n",
    "tunaeval/beside.py": "ANSWER = 42\n",
}
RESULTS = """# Results

## One split, timed

    python printed.py

Measured by `--measure` on commit `00000000`, digest `` of `parse`.

| µs | here |
| -- | ---: |
| it | 1.25 |

## By hand

    python by_hand.py FOLDER

Measured on commit `00000000`, digest `` of `ANSWER_OF`.

| µs | 7.5 |
"""
QUOTE = "A split takes [1.25 µs](benchmarks/RESULTS.md#one-split-timed).\n"


def git(root: Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    return subprocess.run(
        ["git", *who, *words], cwd=root, check=True, capture_output=True, text=True
    ).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout whose tables have just been stamped, and a page that quotes one."""
    (tmp_path / "benchmarks").mkdir()
    results = RESULTS.replace("ANSWER_OF", "tunaeval.beside")
    pages = {"benchmarks/RESULTS.md": results, "README.md": QUOTE}
    for name, text in {**PACKAGE, **pages}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    table = "| µs | here |\n| -- | ---: |\n| it | 2.50 |\nmet: at most 3; 2.50"
    (tmp_path / "printed.py").write_text(f"print({table!r})\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    assert figures(tmp_path, "--write", "One split, timed", "By hand") == (0, "")
    return tmp_path


def figures(root: Path, *words: str) -> tuple[int, str]:
    """Its exit code, and the faults that it printed."""
    command = [sys.executable, str(PROGRAM), "--root", str(root), *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, done.stdout if done.returncode else ""


def change(root: Path, name: str, old: str, new: str) -> None:
    path = root / name
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def test_a_figure_of_changed_code_is_a_fault_that_names_file_and_table(root: Path) -> None:
    change(root, "tunaeval/plain.py", "text.split()", "text.split(' ')")
    code, said = figures(root)
    assert code == 1
    assert "README.md:1: " in said
    assert "'One split, timed'" in said


def test_other_code_may_change(root: Path) -> None:
    change(root, "tunaeval/beside.py", "42", "43")
    assert figures(root) == (0, "")


def test_a_move_a_docstring_and_an_import_change_nothing(root: Path) -> None:
    (root / "tunaeval" / "other").mkdir()
    (root / "tunaeval" / "plain.py").rename(root / "tunaeval" / "other" / "words.py")
    change(root, "tunaeval/deep/api.py", "..plain import read", "tunaeval.other.words import read")
    change(root, "tunaeval/deep/api.py", "Read it.", "Read all of it.")
    change(root, "tunaeval/other/words.py", "def read", "# Words.\nimport re\n\n\ndef read")
    (root / "tunaeval" / "deep").rename(root / "tunaeval" / "shallow")
    change(root, "tunaeval/__init__.py", "deep.api", "shallow.api")
    assert figures(root) == (0, "")


def test_a_sentence_may_say_of_which_commit_its_figure_is(root: Path) -> None:
    change(root, "tunaeval/plain.py", "text.split()", "text.split(' ')")
    commit = git(root, "rev-parse", "--short=8", "HEAD").strip()
    change(root, "README.md", "takes", f"took at commit `{commit}`")
    assert figures(root) == (0, "")


def test_a_figure_beside_the_name_of_its_program_is_quoted(root: Path) -> None:
    change(root, "tunaeval/beside.py", "42", "43")
    change(root, "README.md", QUOTE, "| claim | figure |\n|---|---|\n| `by_hand.py` | 7.5 |\n")
    code, said = figures(root)
    assert (code, "README.md:3: " in said, "'By hand'" in said) == (1, True, True)


def test_a_speed_of_no_table_is_a_fault(root: Path) -> None:
    change(root, "README.md", QUOTE, f"{QUOTE}\nAnother takes 3 µs.\n")
    code, said = figures(root)
    assert (code, said.count("\n"), "README.md:3: " in said) == (1, 1, True)


def test_a_figure_that_is_not_in_its_table_is_a_fault(root: Path) -> None:
    change(root, "README.md", "1.25", "1.15")
    code, said = figures(root)
    assert (code, "1.15 is not in the table 'One split, timed'" in said) == (1, True)


def test_a_table_without_a_stamp_is_a_fault(root: Path) -> None:
    path = root / "benchmarks" / "RESULTS.md"
    path.write_text(re.sub(r"Measured by .*\n", "", path.read_text()))
    code, said = figures(root)
    assert (code, "benchmarks/RESULTS.md: 'One split, timed'" in said) == (1, True)


def test_what_was_measured_again_is_stamped(root: Path) -> None:
    change(root, "tunaeval/plain.py", "text.split()", "text.split(' ')")
    git(root, "commit", "-qam", "second")
    assert figures(root, "--write") == (0, "")
    commit = git(root, "rev-parse", "--short=8", "HEAD").strip()
    results = (root / "benchmarks" / "RESULTS.md").read_text()
    assert results.count(f"`{commit}`") == 1  # the other is measured by hand, and was not named


def test_a_stamp_says_that_its_code_is_not_committed(root: Path) -> None:
    change(root, "tunaeval/plain.py", "text.split()", "text.split(' ')")
    assert figures(root, "--write") == (0, "")
    assert re.search(r"commit `\w{8}\+`", (root / "benchmarks" / "RESULTS.md").read_text())


def test_one_command_measures_quick_tables_again(root: Path) -> None:
    code, said = figures(root, "--measure")
    results = (root / "benchmarks" / "RESULTS.md").read_text()
    assert "| it | 2.50 |\n- met: at most 3; 2.50\n\n## By hand" in results
    assert "1.25" not in results
    assert (code, "README.md:1: 1.25 is not in the table" in said) == (1, True)


def test_each_of_our_tables_says_of_which_code_it_is() -> None:
    tables = sections((ROOT / "benchmarks" / "RESULTS.md").read_text("utf-8"))
    assert [*faults_of_tables(tables, Code(ROOT))] == []
    assert sum(one.stamp is not None for one in tables) > 20


@pytest.mark.parametrize("other", ["python3.12", "python3.13", "python3.14"])
def test_every_python_finds_the_same_digests(other: str) -> None:
    code = "import sys; sys.path.insert(0, sys.argv[1]); from figures import *; "
    code += "print(Code(ROOT).digest(['parse', 'run', 'match']))"
    words = ["-c", code, str(PROGRAM.parent)]
    try:
        theirs = subprocess.run([other, *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(f"{other} is not usable here")
    own = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=True)
    assert theirs.stdout == own.stdout
