"""A run of a tool is one line on stderr, whatever the tool said."""

from __future__ import annotations

import pytest

import tunaeval


def test_each_run_is_a_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    def read(path: str) -> str:
        return f"Error: no\x1b[31m {path}" if path else "fine"

    recorder = tunaeval.Recorder(listener=tunaeval.print_execution)
    tool = tunaeval.wrap_tool(read, recorder)
    with tunaeval.call_id("c1"):
        tool("a\nb")
    tool("")
    said = capsys.readouterr()
    failed, fine = said.err.splitlines()
    assert said.out == ""
    assert failed.startswith("read c1 failed (error-prefix) ")
    assert failed.endswith(r" ms: Error: no\x1b[31m a")
    assert fine.startswith("read ok (assumed) 0.0")
