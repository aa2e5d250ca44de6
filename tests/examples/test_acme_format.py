"""A package of somebody else's, really installed: found, used, checked, listed, and gone again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from tunaeval.types.calls import JsonObject, JsonValue

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "examples/acme_format"
NO_INDEX = ("No matching distribution", "Could not find a version", "NewConnectionError")

PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")


class Environment(NamedTuple):
    """A virtual environment of its own that sees what this one has, and tunaeval as it is here."""

    folder: Path

    @property
    def python(self) -> Path:
        scripts = "Scripts" if os.name == "nt" else "bin"
        return self.folder / scripts / "python"

    @property
    def site(self) -> Path:
        return next(self.folder.rglob("site-packages"))

    def run(
        self, *arguments: str, cwd: Path | None = None, path: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run its Python; whatever it prints is text, whatever it returns is looked at."""
        kept = {key: value for key, value in os.environ.items() if "PYTHONPATH" not in key}
        return subprocess.run(
            [self.python, *arguments],
            capture_output=True, text=True, cwd=cwd or self.folder, timeout=180, check=False,
            env={**kept, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(path or "")},
        )  # fmt: skip

    def tuna(self, *arguments: str) -> str:
        done = self.run("-m", "tunaeval", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, program: str) -> JsonValue:
        """What a program prints, as JSON."""
        done = self.run("-W", "error", "-c", program)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


Make = Callable[[], Environment]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built as pip builds it."""
    if find_spec("pip") is None:
        pytest.skip("needs pip")
    here = tmp_path_factory.mktemp("wheel")
    source = shutil.copytree(PACKAGE, here / "source", ignore=shutil.ignore_patterns("__pycache__"))
    # Where the build backend is missing, pip fetches it into an environment of its own.
    isolation = ["--no-build-isolation"] if find_spec("hatchling") else []
    done = subprocess.run(
        [sys.executable, *PIP, "wheel", "--no-deps", *isolation, "--wheel-dir", here, source],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    if not isolation and any(words in done.stderr for words in NO_INDEX):
        pytest.skip("hatchling is not installed, and no package index is in reach")
    assert done.returncode == 0, done.stdout + done.stderr
    return next(here.glob("*.whl"))


@pytest.fixture(scope="module")
def make(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Make:
    """Makes environments in which the package is installed."""

    def made() -> Environment:
        environment = Environment(tmp_path_factory.mktemp("environment"))
        venv.create(environment.folder, symlinks=os.name != "nt")
        seen = [str(ROOT), *filter(os.path.isdir, sys.path)]
        (environment.site / "seen.pth").write_text("\n".join(seen), "utf-8")
        done = environment.run(*PIP, "install", "--no-deps", "--no-index", str(wheel))
        assert done.returncode == 0, done.stderr
        return environment

    return made


@pytest.fixture(scope="module")
def acme(make: Make) -> Environment:
    return make()


def rows(environment: Environment, *arguments: str) -> list[JsonObject]:
    (listed,) = json.loads(environment.tuna(*arguments, "--json")).values()
    return [row for row in listed if row["name"].startswith("acme")]


def test_everything_it_brings_is_found(acme: Environment) -> None:
    found = {
        (row["group"], row["name"], row["source"], row["status"]) for row in rows(acme, "plugins")
    }
    assert found == {
        (f"tunaeval.{group}", name, "acme-format 1.0", "ok")
        for group, name in (
            ("parsers", "acme"),
            ("parsers", "acme-lines"),
            ("scorers", "acme-brevity"),
            ("clients", "acme"),
            ("writers", "acme-slowest"),
            ("classifiers", "acme-polite"),
            ("checks", "acme-no-call-twice"),
            ("adapters", "acme-diary"),
            ("wrappers", "acme-gadgets"),
            ("harnesses", "acme-backwards"),
        )
    }


def test_its_adapter_reads_what_ours_refuse(acme: Environment) -> None:
    diary = {"acme diary": [["user", "Read a."], ["agent", "It is empty."]]}
    (acme.folder / "diary.json").write_text(json.dumps(diary))
    (read,) = json.loads(acme.tuna("score", "diary.json", "--json"))["transcripts"]
    assert (read["shape"], read["query"]) == ("acme-diary", "Read a.")
    named = acme.tuna("score", "diary.json", "--shape", "acme-diary", "--json")
    assert json.loads(named)["transcripts"][0]["shape"] == "acme-diary"


def test_its_formats_are_listed_like_ours(acme: Environment) -> None:
    form, lines = rows(acme, "formats")
    assert (form["models"], form["streams"]) == (["Acme 1"], True)
    assert form["example"].startswith("<<acme 1>>\n{")
    assert (lines["models"], lines["streams"], lines["example"]) == (["Acme 0"], False, "")
    assert "acme-format 1.0" in acme.tuna("formats", "acme")
    assert "Acme" not in acme.tuna("formats", "--markdown")


def test_its_format_is_read_streamed_and_written(acme: Environment) -> None:
    program = """\
import json, tunaeval
calls = [tunaeval.ToolCall("ls", {"path": "<<end>>"}), tunaeval.ToolCall("pwd", {})]
text = "Sure.\\n" + tunaeval.render(calls, format="acme") + "\\nDone."
whole = tunaeval.parse(text, format="acme")
stream = tunaeval.stream(format="acme", tools=[{"name": "ls"}, {"name": "pwd"}])
events = [event.kind for character in text for event in stream.feed(character)]
told = tunaeval.instructions([{"name": "ls"}], format="acme")
print(json.dumps([[[c.name, c.arguments] for c in whole.calls], stream.finish() == whole,
                  events.count("call_finished"), whole.content.split(), "<<acme" in told]))
"""
    calls = [["ls", {"path": "<<end>>"}], ["pwd", {}]]
    assert acme.ask(program) == [calls, True, 2, ["Sure.", "Done."], True]


def test_its_parser_in_plain_code_is_used_by_name(acme: Environment) -> None:
    program = """\
import json, tunaeval
from tunaeval.errors import UsageError
text, ls = "!ls path=.\\n!rm path=/\\nDone.", [{"name": "ls"}]
found = tunaeval.parse(text, format="acme-lines", tools=ls)
try:
    tunaeval.stream(format="acme-lines")
except UsageError as error:
    codes = [diagnosis.code for diagnosis in found.diagnoses]
    print(json.dumps([[call.name for call in found.calls], codes, str(error)]))
"""
    names, codes, refused = acme.ask(program)
    assert (names, codes) == (["ls"], ["unknown-tool"])
    assert "cannot be streamed" in refused


def test_its_client_is_asked_a_suite(acme: Environment) -> None:
    done = acme.run(
        "-m", "tunaeval", "run", "--suite", "smoke", "--client", "acme", "--format", "acme",
        "--out", "runs", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["heading"] == "acme: a model that reads files, whatever it is asked"
    assert told["summary"]["formats"] == {"acme": 12}
    assert [told["summary"]["final"][key] for key in ("passed", "total")] == [1, 12]
    assert next((acme.folder / "runs").rglob("run.json")).is_file()


def test_its_category_is_scored_beside_ours(acme: Environment) -> None:
    program = """\
import json, tunaeval
call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
messages = [{"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "a.py"}]
score = tunaeval.score(messages, "Look.", categories=["acme-brevity"]).categories["acme-brevity"]
print(json.dumps([score.value, score.weight, score.reason, list(score.evidence)]))
"""
    assert acme.ask(program) == [1.0, 0.1, "1 calls, and 3 are enough", [1]]


def test_its_report_is_written_by_name(acme: Environment, tmp_path: Path) -> None:
    words = ["--suite", "smoke", "--client", "acme", "--format", "acme", "--quiet"]
    target = tmp_path / "slowest.txt"
    acme.tuna(
        "run", *words, "--out", str(tmp_path), "--report", str(target), "--writer", "acme-slowest"
    )
    assert [line.split()[1] for line in target.read_text("utf-8").splitlines()] == ["s"] * 10


def test_its_classifier_and_its_check_decide_by_name(acme: Environment) -> None:
    program = """\
import json, tunaeval
recorder = tunaeval.Recorder(classifiers=["acme-polite"])
tunaeval.wrap_tool(lambda: "Sorry, no.", recorder)()
call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
again = {**call, "id": "2"}
messages = [{"role": "user", "content": "Look."},
            {"role": "assistant", "content": None, "tool_calls": [call, again]},
            {"role": "tool", "tool_call_id": "1", "content": "a.py"},
            {"role": "tool", "tool_call_id": "2", "content": "a.py"}]
totals = [
    tunaeval.score(messages, "Look.", check=tunaeval.Checks([
        {"python": "acme-no-call-twice", "settings": {"spared": spared}}])).goal_completion
    for spared in ([], ["ls"])
]
print(json.dumps([recorder.executions[0].ok_reason, totals]))
"""
    assert acme.ask(program) == ["sorry", [0.0, 1.0]]


def test_its_own_tests_pass(acme: Environment, tmp_path: Path) -> None:
    tests = shutil.copytree(PACKAGE / "tests", tmp_path / "tests")
    done = acme.run(
        "-m", "pytest", "-q", "-c", os.devnull, "-p", "no:cacheprovider", str(tests), cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout
    assert "12 passed" in done.stdout


def test_a_name_that_two_packages_claim_is_an_error_that_names_both(
    acme: Environment, tmp_path: Path
) -> None:
    info = tmp_path / "rival-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rival\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[tunaeval.parsers]\nacme = acme_format.wire:ACME\n")
    done = acme.run("-m", "tunaeval", "parse", "--format", "acme", path=tmp_path)
    assert done.returncode == 2
    assert "is claimed by" in done.stderr
    assert all(owner in done.stderr for owner in ("acme-format 1.0", "rival 2.0"))
    listed = acme.run("-m", "tunaeval", "plugins", "--group", "parsers", "--json", path=tmp_path)
    assert listed.returncode == 1
    clash = [row for row in json.loads(listed.stdout)["plugins"] if row["status"] == "clash"]
    assert {row["source"] for row in clash} == {"acme-format 1.0", "rival 2.0"}
    assert '"calls"' in acme.run("-m", "tunaeval", "parse", "--json", path=tmp_path).stdout


def test_uninstalled_it_leaves_nothing(make: Make) -> None:
    acme = make()
    done = acme.run(*PIP, "uninstall", "--yes", "acme-format")
    assert done.returncode == 0, done.stderr
    assert rows(acme, "plugins") == []
    done = acme.run("-m", "tunaeval", "parse", "--format", "acme")
    assert done.returncode == 2
    assert "no format or parser is called 'acme'" in done.stderr
