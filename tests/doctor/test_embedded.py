"""llama.cpp's own server with the embedded weights: a real server with a real parser, examined.

With a template of ours the weights repeat the calls that they are asked for (`echo.jinja`), so the
verdicts are about the server. What is expected was seen on this server by hand before.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.servers import llama_server
from tunaeval.clients.llamacpp import LlamaCppClient
from tunaeval.doctor.examination import Examination, examine
from tunaeval.doctor.runner import DoctorSettings

MISSING = LlamaCppClient.available()
TEMPLATE = Path(__file__).with_name("echo.jinja").read_text("utf-8")
ON_ONE_LINE = TEMPLATE.replace("'<tool_call>\\n{", "'<tool_call>{").replace(
    "+ '}\\n</tool_call>'", "+ '}</tool_call>'"
)
CONTEXT = 8192

pytestmark = [
    pytest.mark.local,
    pytest.mark.skipif(MISSING is not None, reason=MISSING or "it is here"),
]


def examined(template: str | None, only: str | None = None) -> Examination:
    with llama_server(CONTEXT, template) as url:
        settings = DoctorSettings(quick=True, deadline_seconds=1500.0, timeout_seconds=600.0)
        return asyncio.run(examine(url, settings, only=only, environment={}))


def verdicts(found: Examination) -> dict[str, str]:
    return {finding.check: finding.verdict for finding in found.findings}


@pytest.mark.slow
def test_what_is_wrong_with_it_is_found_and_nothing_else() -> None:
    found = examined(TEMPLATE)
    assert found.server["name"] == "llama.cpp"
    assert found.server["format"] == "hermes"
    assert not str(found.server["raw_text"]).startswith("0 of")
    assert verdicts(found) == {
        "one-at-a-time": "server",  # parallel_tool_calls: false is ignored
        "choice-none": "server",  # none leaves the markup in the content
        "choice-required": "server",  # prose until max_tokens
        "choice-named": "server",  # a named choice is ignored
        "schema-boolean": "server",  # 400 for the whole request
        "history-empty-arguments": "server",  # 500
        "responses/stream-fragments": "server",  # no output_index in the events of a stream
    }
    assert found.exit == 1


@pytest.mark.slow
def test_a_call_on_one_line_stays_in_the_content() -> None:
    assert ON_ONE_LINE != TEMPLATE
    found = examined(ON_ONE_LINE, only="calls")
    finding = next(f for f in found.findings if f.check == "calls-as-written")
    assert finding.verdict == "server"
    assert "in the content" in finding.evidence["summary"]
    assert "--chat-template-file" in finding.remedy


@pytest.mark.slow
def test_with_the_weights_own_template_tools_never_reach_the_prompt_and_no_more_is_tested() -> None:
    found = examined(None)
    told = verdicts(found)
    assert told.pop("tools-in-prompt") == "server"
    assert set(told.values()) == {"not tested"}
    assert {"calls-as-written", "two-calls", "choice-required"} <= told.keys()
    assert "never reach the prompt" in found.findings[-1].evidence["summary"]


def test_a_template_without_tools_is_named_with_its_remedy() -> None:
    found = examined(None, only="prompt")
    assert verdicts(found) == {"tools-in-prompt": "server"}
    assert "--jinja --chat-template-file" in found.findings[0].remedy
    assert found.exit == 1
