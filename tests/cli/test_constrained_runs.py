"""`run --constrain`: what the server gets, and replies of a server that ignores it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import tunaeval
from tests.faults import FaultServer, chat, completion
from tunaeval.cli import main
from tunaeval.clients.llamacpp import LlamaCppClient
from tunaeval.errors import RecordError, UsageError
from tunaeval.reports.wording import remarks
from tunaeval.types.exchange import Request
from tunaeval.types.runs import Report

LS = '<tool_call>\n{"name": "ls", "arguments": {"depth": 2}}\n</tool_call>'
MISSING = LlamaCppClient.available()


@pytest.fixture
def suite(tmp_path: Path) -> str:
    tool = {"name": "ls", "parameters": {"properties": {"depth": {"type": "integer"}}}}
    row = {"id": "a", "prompt": "List it.", "expect": {"tools": ["ls"]}}
    path = tmp_path / "one.jsonl"
    path.write_text(f"{json.dumps({'name': 'one', 'tools': [tool]})}\n{json.dumps(row)}\n")
    return str(path)


def asked(suite: str, server: FaultServer, **more: Any) -> Report:
    more = {"constrain": True, "out": None, "attempts": 1, **more}
    return tunaeval.run(suite, client="openai", base_url=server.base_url, model="m", **more)


def test_each_server_finds_the_grammar_in_its_own_field(suite: str) -> None:
    with FaultServer(then=chat(LS)) as server:
        report = asked(suite, server)
    (body,) = [json.loads(seen.body) for seen in server.seen]
    gbnf = tunaeval.constrain(tunaeval.load_suite(suite).tools, format="hermes", kind="gbnf").text
    tag = json.loads(body["structured_outputs"]["structural_tag"])
    assert body["grammar"] == body["ebnf"] == tag["format"]["grammar"] == gbnf
    assert "tools" not in body
    assert report.run.heading == "constrained decoding (hermes)"
    assert report.results[0].attempts[0].breach is None
    assert (report.summary.broken_constraints, report.passed) == (0, 1)


def test_another_server_gets_it_in_the_field_that_is_named(suite: str) -> None:
    with FaultServer(then=chat('[TOOL_CALLS]ls[ARGS]{"depth": 2}')) as server:
        report = asked(suite, server, constrain="gbnf", format="mistral-v11")
    body = json.loads(server.seen[0].body)
    assert "[TOOL_CALLS]" in body["gbnf"]
    assert not {"grammar", "structured_outputs", "ebnf"} & body.keys()
    assert report.passed == 1


@pytest.mark.parametrize("name", ["glm45", "gemma4", "deepseek-v3", "functionary-v2"])
def test_a_format_is_constrained_whatever_is_read_besides(suite: str, name: str) -> None:
    call = tunaeval.render([tunaeval.ToolCall("ls", {"depth": 2})], name)
    with FaultServer(then=chat(call)) as server:
        report = asked(suite, server, format=name)
    assert report.run.heading == f"constrained decoding ({name})"
    assert (report.passed, report.results[0].attempts[0].breach) == (1, None)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("I cannot.", None),
        ("Let me look.\n" + LS, None),
        ('{"name": "ls", "arguments": {}}', None),
        (LS + "\nDone.", "text after the first call"),
        (LS.replace("</tool_call>", ""), "unclosed"),
        (LS.replace("ls", "rm"), "unknown-tool"),
        (LS.replace("2", '"2"'), "wrong-type"),
        (LS.replace("depth", "deep"), "undeclared-argument"),
        (LS.replace("2}", "2,}"), "begins no call"),
        ("I write <tool_call> here.", "begins no call"),
    ],
)
def test_a_run_notices_that_a_reply_breaks_its_grammar(
    suite: str, said: str, why: str | None
) -> None:
    with FaultServer(then=chat(said)) as server:
        report = asked(suite, server)
    breach = report.results[0].attempts[0].breach
    noted = any("breaks the grammar that it was asked with" in one for one in remarks(report))
    assert (breach is not None, noted) == (why is not None, why is not None)
    assert why is None or why in str(breach)


def test_a_call_of_another_format_is_prose_to_the_grammar_and_no_call(suite: str) -> None:
    with FaultServer(then=chat('[TOOL_CALLS]ls[ARGS]{"depth": 2}')) as server:
        report = asked(suite, server)
    assert (report.passed, report.run.format) == (0, "hermes")


def test_a_reply_that_was_cut_off_breaks_nothing(suite: str) -> None:
    with FaultServer(then=completion({"content": LS[:30]}, "length")) as server:
        assert asked(suite, server).summary.broken_constraints == 0


def test_a_run_is_not_resumed_with_another_grammar(suite: str, tmp_path: Path) -> None:
    with FaultServer(then=chat(LS)) as server:
        kept = asked(suite, server, out=tmp_path).directory
        with pytest.raises(RecordError, match="constrain was True, is 'gbnf'"):
            asked(suite, server, constrain="gbnf", resume=kept)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("--constrain --free-text", "leave one of them out"),
        ("--constrain --tools api", "the server gets the tools"),
        ("--constrain-field messages", "no other part of the request"),
        ("--constrain --recording smollm2-135m-constrained", "a client that asks a server"),
        ("--constrain --format qwen3 --base-url http://127.0.0.1:1/v1", "reads several formats"),
        ("--constrain --format loose-json --base-url http://127.0.0.1:1/v1", "only with repairs"),
    ],
)
def test_wrong_uses_are_refused_with_a_sentence(
    options: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--suite", "smoke", *options.split()]) == 2
    assert why in capsys.readouterr().err


def test_a_grammar_needs_calls_in_the_text() -> None:
    with pytest.raises(UsageError, match="ask='prompt'"):
        tunaeval.RunOptions(constrain=True)


@pytest.mark.local
@pytest.mark.skipif(MISSING is not None, reason=MISSING or "it is here")
def test_the_embedded_model_cannot_but_call() -> None:
    days = {"enum": ["today", "tomorrow"]}
    tool = {"name": "f", "parameters": {"properties": {"day": days}, "required": ["day"]}}
    question = [{"role": "user", "content": "Who painted the Mona Lisa?"}]

    async def answers() -> dict[str, str]:
        client = LlamaCppClient(context=256)
        try:
            found = {}
            for name in ("hermes", "glm45", "pythonic"):
                made = tunaeval.constrain(
                    [tool], format=name, kind="gbnf", text="none", reasoning=False
                )
                request = Request(question, fields={"grammar": made.text}, max_tokens=70)
                found[name] = str((await client.complete(request)).message["content"])
            return found
        finally:
            await client.close()

    for name, text in asyncio.run(answers()).items():
        result = tunaeval.parse(text, name, [tool], "strict")
        assert [call.name for call in result.calls][:1] == ["f"], text
