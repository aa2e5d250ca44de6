"""Every host that is listed can be installed, and run: what that takes is listed in one place."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.hosts import environments
from tests.hosts.engines import RELEASES
from tests.hosts.environments import ROOT, hosts, interpreter

HOSTS = hosts()
PROGRAMS = ROOT / "tests" / "hosts" / "programs"


def test_every_program_belongs_to_a_host() -> None:
    of_engines = {"stubs.py", *(f"{one.partition('-')[0]}_parser.py" for one in RELEASES)}
    assert {path.name for path in PROGRAMS.glob("*.py")} == of_engines | {
        host.program for host in HOSTS.values()
    }


def test_the_extra_has_what_fits_into_one_environment() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {one for host in HOSTS.values() if host.here for one in host.requires}
    assert set(project["optional-dependencies"]["hosts"]) == wanted


def test_a_host_that_needs_other_packages_by_now_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUNAEVAL_HOST_ENVS", str(tmp_path))
    host = HOSTS["tunacode-0.2.3"]
    assert interpreter(host) is None
    note = environments._note(host)
    note.parent.mkdir()
    note.write_text(environments._wanted(host), "utf-8")
    assert interpreter(host) is not None
    assert interpreter(host._replace(requires=("tunacode-cli==9",))) is None


def test_an_unknown_host_is_refused_with_those_that_are_known() -> None:
    done = subprocess.run(
        [sys.executable, environments.__file__, "nobody"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "no host is called nobody; known: pydantic-ai, langgraph" in done.stderr
