"""`tunaeval tools` and `tunaeval run --mcp`."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tunaeval
from tests.interrupts import heed_interrupts
from tests.tools.mcp.processes import is_running, sees_processes
from tunaeval.cli import main

Raw = Callable[..., str]
Here = Callable[..., tuple[int, str, str]]


@pytest.fixture
def here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Here:
    """Runs a command in an empty directory; its exit code, results and notes."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        return code, *capsys.readouterr()

    return run


def test_a_snapshot_equals_its_server_and_differs_from_another(
    here: Here, raw: Raw, address: str
) -> None:
    assert here("tools", "snapshot", "--mcp", raw(), "-o", "old.json")[0] == 0
    assert here("tools", "diff", "old.json", "--mcp", raw())[0] == 0
    code, out, _ = here("tools", "diff", "old.json", "--mcp", address, "--json")
    assert code == 1
    found = json.loads(out)
    assert found["breaks"] == 1
    assert [(one["effect"], one["tool"]) for one in found["changes"]] == [
        ("break", "do"), ("added", "weather"), ("added", "note"),
    ]  # fmt: skip
    # What is only added breaks nothing, and what differs in words only if that is asked for.
    both = ("--mcp", raw("escapes"), "--mcp", address)
    code, out, err = here("tools", "diff", "old.json", *both)
    assert (code, "added" in out, "1 other wording" in err) == (0, True, True)
    code, out, _ = here("tools", "diff", "old.json", *both, "--words")
    assert (code, "words" in out, "\x1b" in out) == (1, True, False)


def test_a_snapshot_is_ascii_and_read_wherever_tools_are(here: Here, raw: Raw) -> None:
    code, out, _ = here("tools", "snapshot", "--mcp", raw("escapes"))
    assert code == 0
    assert out.isascii()
    assert "\x1b" not in out
    Path("tools.json").write_text(out)
    assert here("parse", "--tools", "tools.json", "--text", "no call")[0] in {0, 2}
    assert json.loads(out)["tools"][0]["function"]["description"].startswith("\x1b")


@pytest.mark.parametrize(
    "arguments",
    [
        ("snapshot",), ("snapshot", "a.json", "--mcp", "x"), ("diff",), ("diff", "a.json"),
        ("diff", "a.json", "b.json", "--mcp", "x"), ("diff", "absent.json", "absent.json"),
        ("snapshot", "--mcp", "no-such-program"), ("snapshot", "--tools-from", "no_module:X"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_or_read_exits_with_2(
    here: Here, arguments: tuple[str, ...]
) -> None:
    code, out, err = here("tools", *arguments)
    assert (code, out, err.startswith("tunaeval: ")) == (2, "", True)


def test_the_tools_of_an_agent_have_snapshots_too(here: Here, tmp_path: Path) -> None:
    (tmp_path / "agent_of_mcp.py").write_text("def ls(path: str): 'List files.'\n")
    source = ("--tools-from", "agent_of_mcp:ls")
    assert here("tools", "snapshot", *source, "-o", "old.json")[0] == 0
    assert here("tools", "diff", "old.json", *source)[0] == 0
    sys.modules.pop("agent_of_mcp")


def suite_in(path: Path) -> str:
    rows = [
        {"id": "one", "prompt": "Do it.", "expected_tool": "do", "expected_args": {"how": "well"}},
        {"id": "many", "prompt": "Do it.", "task": {"checks": [{"answer": {"contains": "well"}}]}},
    ]
    (path / "mine.json").write_text(json.dumps({"scenarios": rows}))
    return "mine.json"


def test_a_run_asks_with_a_servers_tools_and_runs_its_calls(
    here: Here, tmp_path: Path, raw: Raw
) -> None:
    call = '<tool_call>{"name": "do", "arguments": {"how": "well"}}</tool_call>'
    with tunaeval.model_endpoint([call, call, "It went well."]) as model:
        code, out, err = here(
            "run", "--suite", suite_in(tmp_path), "--mcp", raw(), "--base-url", model.url,
            "--concurrency", "1", "--json",
        )  # fmt: skip
        offered = [tool["function"]["name"] for tool in model.requests[0].body["tools"]]
    assert code == 0, err
    assert offered == ["do"]
    summary = json.loads(out)
    assert summary["run"]["tools_from"] == [raw()]
    report = tunaeval.load_report(tmp_path / "runs" / summary["run"]["run_id"])
    assert [result.ok for result in report.results] == [True, True]
    assert report.results[1].attempts[0].results[0].content == "did well"


def test_a_name_in_an_agent_and_in_a_server_is_refused(
    here: Here, tmp_path: Path, raw: Raw
) -> None:
    (tmp_path / "other_agent_of_mcp.py").write_text("def do(how: str): 'Do it.'\n")
    source = ("--tools-from", "other_agent_of_mcp:do", "--mcp", raw())
    code, _, err = here("run", "--suite", suite_in(tmp_path), *source)
    sys.modules.pop("other_agent_of_mcp")
    assert code == 2
    assert "the tool 'do' is one of --tools-from and of --mcp" in err


@sees_processes
@pytest.mark.parametrize("when", ["while it lists its tools", "while it runs a call"])
def test_ctrl_c_ends_a_server(tmp_path: Path, raw: Raw, when: str) -> None:
    mark = f"mark-{time.monotonic_ns()}"
    call = '<tool_call>{"name": "do", "arguments": {"how": "hang"}}</tool_call>'
    with tunaeval.model_endpoint(lambda _: call) as model:
        arguments = ["tools", "snapshot", "--mcp", raw("silent", mark)]
        if when == "while it runs a call":
            arguments = [
                "run", "--suite", suite_in(tmp_path), "--id", "many", "--mcp", raw(mark),
                "--base-url", model.url, "--timeout", "60",
            ]  # fmt: skip
        with subprocess.Popen(
            [sys.executable, "-m", "tunaeval", *arguments],
            cwd=tmp_path,
            stderr=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=heed_interrupts,  # noqa: PLW1509 - it only sets a signal's handler
        ) as child:
            while not (model.requests if "call" in when else is_running(mark)):
                assert child.poll() is None
                time.sleep(0.05)
            time.sleep(0.3)
            assert is_running(mark)
            child.send_signal(signal.SIGINT)
            child.communicate(timeout=30)
    assert child.returncode == 130
    assert not is_running(mark)
