"""`tunaeval help`, and the completion of shells."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Tuna
from tunaeval.cli import COMMANDS, GROUPS


def test_help_prints_what_the_option_prints(here: Tuna) -> None:
    assert here("help").stdout == here("--help").stdout
    for name in COMMANDS:
        done = here("help", name)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == here(name, "--help").stdout


def test_help_of_no_command_names_the_one_that_is_meant(here: Tuna) -> None:
    done = here("help", "rnu")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tunaeval: no command is called 'rnu'; did you mean 'run'?\n"
    assert "help" in GROUPS["This installation"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_of_a_shell_knows_commands_and_options(
    here: Tuna, tmp_path: Path, shell: str
) -> None:
    pytest.importorskip("shtab")
    done = here("--print-completion", shell)
    assert (done.returncode, done.stderr) == (0, "")
    for word in (*COMMANDS, "system-prompt", "system_prompt" if shell == "zsh" else "fail-under"):
        assert word in done.stdout or word.replace("_", "-") in done.stdout
    (tmp_path / "completion").write_text(done.stdout)
    if found := shutil.which(shell):
        subprocess.run([found, "-n", "completion"], cwd=tmp_path, check=True, timeout=30)


def test_a_shell_without_completion_is_refused(here: Tuna) -> None:
    done = here("--print-completion", "tcsh")
    assert done.returncode == 2
    assert "invalid choice: 'tcsh'" in done.stderr


def test_without_shtab_its_extra_is_named(here: Tuna, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    done = here("--print-completion", "bash")
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'tunaeval[shell]'" in done.stderr
