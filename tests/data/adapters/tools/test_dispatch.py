"""Wrapping looks at shapes: no framework is loaded for it, and what has no shape is refused."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import tunaeval
from tunaeval.errors import UsageError


def test_wrapping_loads_no_framework_and_nothing_heavy() -> None:
    program = (
        "import sys, tunaeval; tunaeval.wrap_tool(len, tunaeval.Recorder());"
        "heavy = {'langchain_core', 'pydantic_ai', 'tinyagent', 'agents', 'smolagents', 'pydantic',"
        "'httpx2', 'asyncio'};"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("tool", [{}, "read", object(), None, Exception])
def test_what_is_no_tool_is_refused_with_what_would_be_one(tool: Any) -> None:
    with pytest.raises(UsageError, match="the tools of LangChain, pydantic-ai, OpenAI"):
        tunaeval.wrap_tool(tool, tunaeval.Recorder())
