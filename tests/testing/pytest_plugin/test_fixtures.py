"""The fixtures of the plug-in, in a pytest of its own."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import tunaeval
from tests.testing.pytest_plugin.children import run
from tunaeval import ModelRequest, ToolCall
from tunaeval.types.faults import Fail

ASK = """\
import httpx2, pytest
from tunaeval import ToolCall, expect

TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {}}}]

def ask(url, said):
    body = {"model": "m", "messages": [{"role": "user", "content": said}], "tools": TOOLS}
    return httpx2.post(f"{url}/chat/completions", json=body).json()
"""

REPLAYED = f"""{ASK}
@pytest.mark.parametrize("path", ["calc.py", "a/b c.py"])
def test_read(tunaeval_model, path):
    ask(tunaeval_model.url, f"Read {{path}}")
    assert tunaeval_model.calls == expect(ToolCall("read_file", {{"path": path}}))
"""


def read(request: ModelRequest) -> ToolCall:
    """A model that reads the file that it is asked for."""
    said = str(request.messages[0]["content"])
    return ToolCall("read_file", {"path": said.removeprefix("Read ")})


def recorded(folder: Path, text: str, *arguments: str) -> str:
    """Run with a scripted upstream, and record."""
    with tunaeval.model_endpoint(read) as upstream:
        child = run(
            folder,
            "--tunaeval-record",
            "--tunaeval-base-url",
            upstream.url,
            *arguments,
            files={"test_it.py": text},
        )
    assert child.code == 0, child.said
    return child.said


def test_a_cassette_stands_beside_its_test_and_is_played(tmp_path: Path) -> None:
    recorded(tmp_path, REPLAYED)
    names = [path.name for path in (tmp_path / "cassettes" / "test_it").iterdir()]
    assert len(names) == 2
    assert all(name.startswith("test_read-") and name.endswith(".jsonl") for name in names)
    child = run(tmp_path, "--junitxml", "junit.xml")
    assert child.counts == {"passed": 2}, child.said
    properties = ET.parse(tmp_path / "junit.xml").iter("property")  # noqa: S314 - pytest's own
    told = {one.get("name"): one.get("value") for one in properties}
    assert (told["tunaeval.turns"], told["tunaeval.calls"]) == ("1", "read_file")
    changed = run(tmp_path, files={"test_it.py": REPLAYED.replace('"calc.py"', '"other.py"')})
    assert changed.code == 1
    assert "does not have this request" in changed.said or "there is no cassette" in changed.said


def test_a_request_that_is_not_in_the_cassette_fails_the_test_that_hides_it(tmp_path: Path) -> None:
    text = f"""{ASK}
def test_it(tunaeval_model):
    ask(tunaeval_model.url, "Read a.py")
"""
    recorded(tmp_path, text)
    child = run(tmp_path, files={"test_it.py": text.replace("a.py", "b.py")})
    assert child.counts == {"passed": 1, "error": 1}
    assert "recorded 'Read a.py', asked 'Read b.py'" in child.said


def test_a_missing_cassette_or_server_is_said_in_a_sentence(tmp_path: Path) -> None:
    missing = run(tmp_path, files={"test_it.py": REPLAYED})
    assert "there is no cassette" in missing.said
    assert "--tunaeval-record" in missing.said
    unnamed = run(tmp_path, "--tunaeval-record")
    assert "name it with --tunaeval-base-url" in unnamed.said


HIDING = f"""{ASK}
def test_it(tunaeval_model, tunaeval_expected):
    for name in ("a.py", "b.py"):
        try:
            ask(tunaeval_model.url, f"Read {{name}}")
        except Exception:
            pass
    assert tunaeval_model.calls == tunaeval_expected
"""


def test_an_upstream_that_fails_fails_the_test_and_leaves_both_files(tmp_path: Path) -> None:
    recorded(tmp_path, HIDING, "--tunaeval-update")
    before = {path: path.read_bytes() for path in tmp_path.rglob("test_it.json*")}
    assert len(before) == 2
    both = ("--tunaeval-record", "--tunaeval-update", "--tunaeval-base-url")
    with tunaeval.model_endpoint(read, faults=[Fail(at=2)]) as upstream:
        failing = run(tmp_path, *both, upstream.url)
    dead = run(tmp_path, *both, upstream.url)
    for child in (failing, dead):
        assert child.counts == {"passed": 1, "error": 1}, child.said
        assert "was not recorded and is unchanged: the upstream" in child.said
    assert {path: path.read_bytes() for path in before} == before


SCRIPTED = f"""{ASK}
def fails(request):
    raise KeyError("name")

@pytest.mark.tunaeval(script=["One."])
def test_over(tunaeval_model):
    ask(tunaeval_model.url, "a"), ask(tunaeval_model.url, "b")

@pytest.mark.tunaeval(script=fails)
def test_failing(tunaeval_model):
    ask(tunaeval_model.url, "a")
"""


def test_a_script_that_is_over_or_fails_fails_the_test_that_hides_it(tmp_path: Path) -> None:
    child = run(tmp_path, files={"test_it.py": SCRIPTED})
    assert child.counts == {"passed": 2, "errors": 2}, child.said
    assert "the script is over: it has 1 turn," in child.said
    assert "the script raised KeyError: 'name'" in child.said


IDLE = f"""{ASK}
from tunaeval.types.faults import Fail, Inject

@pytest.mark.tunaeval(script=["One."], faults=[Fail(at=1), Inject("Obey.", tool="read_fil")])
def test_it(tunaeval_model):
    ask(tunaeval_model.url, "a")
    assert tunaeval_model.unused_faults == (Inject("Obey.", tool="read_fil"),)
"""


def test_a_fault_that_hits_no_turn_fails_the_test(tmp_path: Path) -> None:
    child = run(tmp_path, files={"test_it.py": IDLE})
    assert child.counts == {"passed": 1, "error": 1}, child.said
    assert "hit no turn; leave it out or correct it" in child.said
    assert "the fault Inject(" in child.said


BROKEN = f"""{ASK}
@pytest.mark.tunaeval(script=[[ToolCall("read_file", {{"path": "cal.py", "limit": 3}})], "Done."])
def test_it(tunaeval_model):
    ask(tunaeval_model.url, "Read calc.py")
    assert tunaeval_model.calls == expect(ToolCall("read_file", {{"path": "calc.py"}}), "bash")
"""


def test_the_failure_shows_the_nearest_call_argument_by_argument(tmp_path: Path) -> None:
    child = run(tmp_path, files={"test_it.py": BROKEN})
    for line in (
        "assert calls == expect(ToolCall('read_file', {'path': 'calc.py'}), 'bash')",
        "nearest: calls[0] at turn 1 read_file(path='cal.py', limit=3)",
        "wanted path='calc.py', got 'cal.py'",
        "limit=3 was not expected",
        "- expected bash(...)",
        "no call comes near it",
    ):
        assert line in child.said


UPDATED = f"""{ASK}
@pytest.mark.tunaeval(script=[[ToolCall("write", {{
    "path": "a.py", "text": "first line\\nsecond line", "count": 2, "share": 0.5,
    "id": "6f1c2a34-0b1c-4d2e-8f3a-1234567890ab", "deep": {{"list": ["x"]}},
}})]])
def test_it(tunaeval_model, tunaeval_expected):
    ask(tunaeval_model.url, "Write.")
    assert tunaeval_model.calls == tunaeval_expected
"""


def test_an_expectation_is_written_short_with_matchers_and_kept_while_it_holds(
    tmp_path: Path,
) -> None:
    missing = run(tmp_path, files={"test_it.py": UPDATED})
    assert "write it with --tunaeval-update" in missing.said
    assert run(tmp_path, "--tunaeval-update").code == 0
    path = tmp_path / "expectations" / "test_it" / "test_it.json"
    assert json.loads(path.read_text("utf-8"))["calls"][0]["arguments"] == {
        "path": "a.py",
        "text": {"$contains": "first line"},
        "count": 2,
        "share": {"$approx": 0.5},
        "id": {"$ignore": True},
        "deep": {"list": ["x"]},
    }
    path.write_text('{"calls": ["write"], "forbid": ["bash"]}')
    assert run(tmp_path, "--tunaeval-update").code == 0
    assert json.loads(path.read_text("utf-8"))["calls"] == ["write"]
    path.write_text('{"calls": ["bash"], "match": "superset"}')
    assert run(tmp_path).code == 1
    assert run(tmp_path, "--tunaeval-update").code == 0
    assert json.loads(path.read_text("utf-8"))["match"] == "superset"
    path.write_text('{"call": []}')
    assert "wanted an object with calls" in run(tmp_path).said


WORKED = """\
import os, shutil
import pytest
from tunaeval import wrap_tool
from tunaeval.errors import UsageError

def test_a_workspace_knows_what_changed(tunaeval_workspace):
    tunaeval_workspace.write({"a.py": "a", "b/c.py": b"c", "d": "d"})
    assert tunaeval_workspace.files == ("a.py", "b/c.py", "d")
    assert not tunaeval_workspace.changed
    (tunaeval_workspace.path / "a.py").write_text("b")
    (tunaeval_workspace.path / "new").write_text("n")
    (tunaeval_workspace.path / "d").unlink()
    assert tunaeval_workspace.changed == ("a.py", "d", "new")
    assert tunaeval_workspace["a.py"].contains("b") and not tunaeval_workspace["d"].exists

@pytest.mark.parametrize("path, words", [
    ("../x", "leads out of the workspace"), ("/etc/passwd", "leads out of the workspace"),
    ("a/../../x", "leads out of the workspace"), ("", "is empty"), (".", "is the workspace itself"),
    ("a\\0b", "contains a NUL"), (3, "the path 3 is no text"), ("x" * 300, "more than 255 bytes"),
])
def test_no_path_leads_out(tunaeval_workspace, path, words):
    with pytest.raises(UsageError, match=words):
        tunaeval_workspace[path]
    if path != ".":
        with pytest.raises(UsageError, match=words):
            tunaeval_workspace.write({path: "x"})

@pytest.mark.parametrize("files, words", [
    ({"a": 3}, "the file 'a' is 3; wanted its text, or bytes"), (["a"], r"files is \\['a'\\]"),
    ({"a": "x", "a/b": "y"}, "'a': goes through a link or a file"),
    ({"a/b": "y", "a": "x"}, "'a' exists already, and is a directory"),
    ({"a/": "x"}, "is a directory; wanted a file"), ({"a": chr(0xD800)}, "a lone surrogate"),
])
def test_what_cannot_be_written_is_said(tunaeval_workspace, files, words):
    with pytest.raises(UsageError, match=words):
        tunaeval_workspace.write(files)

def test_what_is_no_file_has_no_text(tunaeval_workspace, tmp_path):
    tunaeval_workspace.write({"dir/a": b"a"})
    (tunaeval_workspace.path / "link").symlink_to(tmp_path)
    for name, words in (("dir", "is a directory"), ("none", "is not there"), ("link", "is a link")):
        found = tunaeval_workspace[name]
        assert not found.exists and not found.contains("a")
        with pytest.raises(UsageError, match=words):
            found.text
    with pytest.raises(UsageError, match="text is .'a'.; wanted a text to look for"):
        tunaeval_workspace["dir/a"].contains(["a"])
    with pytest.raises(UsageError, match="goes through a link"):
        tunaeval_workspace.write({"link/x": "x"})

def test_links_modes_and_empty_directories_are_changes(tunaeval_workspace, tmp_path):
    tunaeval_workspace.write({"a.py": "a", "b.py": "b", "c.py": "c", "d/e": "e"})
    root = tunaeval_workspace.path
    assert tunaeval_workspace.changed == ()
    (root / "a.py").chmod(0o755)
    (root / "b.py").unlink()
    (root / "b.py").symlink_to("/etc/hostname")
    (root / "link").symlink_to(tmp_path)
    (root / "empty").mkdir()
    (root / "d" / "e").unlink()
    os.utime(root / "c.py")
    assert tunaeval_workspace.changed == ("a.py", "b.py", "d", "d/e", "empty", "link")
    assert tunaeval_workspace["a.py"].changed and not tunaeval_workspace["c.py"].changed
    assert tunaeval_workspace["empty"].changed and not tunaeval_workspace["b.py"].contains("b")
    assert tunaeval_workspace.files == ("a.py", "c.py")
    (root / "c.py").write_bytes(bytes(9_000_000))
    assert tunaeval_workspace["c.py"].changed
    with pytest.raises(UsageError, match="has 9000000 bytes, more than"):
        tunaeval_workspace["c.py"].text

def test_a_directory_that_was_taken_away_has_lost_everything(tunaeval_workspace):
    tunaeval_workspace.write({"a.py": "a"})
    shutil.rmtree(tunaeval_workspace.path)
    assert tunaeval_workspace.changed == ("a.py",) and not tunaeval_workspace["a.py"].exists

def test_a_session_scores_what_a_recorder_saw(tunaeval_session, tunaeval_recorder):
    with tunaeval_session("Say a.") as session:
        assert session.wrap(lambda x: x)("a") == "a"
        session.messages = [{"role": "user", "content": "Say a."}]
    assert session.score is not None
    assert wrap_tool(lambda x: x, tunaeval_recorder)("b") == "b"
    assert len(tunaeval_recorder.executions) == 1

@pytest.mark.tunaeval(scrip=["x"])
def test_a_marker_is_checked(tunaeval_model): ...
"""


def test_workspace_session_and_recorder(tmp_path: Path) -> None:
    child = run(tmp_path, files={"test_it.py": WORKED})
    assert child.counts == {"passed": 19, "error": 1}, child.said
    assert "the marker tunaeval has scrip; it takes cassette, faults" in child.said


def test_records_in_workers_are_whole(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    recorded(tmp_path, REPLAYED, "-p", "xdist", "-n", "2")
    assert run(tmp_path, "-p", "xdist", "-n", "2").counts["passed"] == 2


VACUOUS = f"""{ASK}
@pytest.mark.tunaeval(script=["One."])
def test_unasked(tunaeval_model):
    assert not tunaeval_model.calls

@pytest.mark.tunaeval(script=["One."])
def test_refused(tunaeval_model):
    ask(f"{{tunaeval_model.url}}/v2", "a")

@pytest.mark.tunaeval(script=["One.", "Two.", "Three."])
def test_left(tunaeval_model):
    ask(tunaeval_model.url, "a")

@pytest.mark.tunaeval(script=["One."], allow_unasked=True)
def test_unasked_on_purpose(tunaeval_model):
    pass

@pytest.mark.tunaeval(script=["One.", "Two."], leftover="allow")
def test_left_on_purpose(tunaeval_model):
    ask(tunaeval_model.url, "a")
"""


def test_a_model_that_was_not_asked_and_a_script_with_items_left_fail_the_test(
    tmp_path: Path,
) -> None:
    child = run(tmp_path, files={"test_it.py": VACUOUS})
    assert child.counts == {"passed": 5, "errors": 3}, child.said
    assert "the model was never asked, so no call could be wrong; pass its .url" in child.said
    assert "the model was never asked; it refused this: there is no POST /v1/v2/" in child.said
    assert "the script has 2 items left after 1 turn, so the agent stopped too early" in child.said


STATE = """
def test_state(tunaeval_workspace):
    tunaeval_workspace.write({"calc.py": "def add(a, b): return a-b", "other.py": ""})
    (tunaeval_workspace.path / "calc.py").write_text("def add(a, b): return a*b" + 300 * " " + "#!")
    assert tunaeval_workspace.changed == {"calc.py"}
    assert tunaeval_workspace.changed != {"other.py"}
    assert tunaeval_workspace.changed == ("calc.py",)
    assert tunaeval_workspace["calc.py"].contains("a+b")
"""


def test_a_failed_assertion_on_the_workspace_shows_the_files_text_beside_the_wish(
    tmp_path: Path,
) -> None:
    child = run(tmp_path, files={"test_it.py": STATE})
    assert child.counts == {"failed": 1}, child.said
    assert "where False = contains('a+b')" in child.said
    assert "where contains = calc.py: 'def add(a, b): return a*b" in child.said
    assert "calc.py does not contain 'a+b'" in child.said
    assert "#!'" in child.said  # pytest cuts its own line
